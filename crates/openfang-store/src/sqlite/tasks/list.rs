//! Lists tasks by latest change, page by page. Each page walks along an index from where the last one ended.
//!
//! Without a filter, or by state, the walk follows `a2a_tasks_by_state`. For an agent or a context it depends on the
//! number of rows: few rows are found by their own index and sorted, many rows are found quickly on the walk.

use std::collections::BTreeMap;

use openfang_types::ids::Owner;
use openfang_types::limits::COUNTED_ROWS;
use openfang_types::task::TaskState;
use rusqlite::{Connection, Params, params};

use super::columns::{count, get, nanos, signed, text};
use super::heads;
use super::read::each;
use crate::sqlite::damaged;
use crate::{Fit, Position, StoreError, TaskPage, TaskQuery, TaskRecord};

/// The maximum number of rows that are sorted.
const SORTED_ROWS: usize = 1_000;

/// Sorts before the first row: later than every time and greater than every id.
const BEFORE_ALL: (i64, [u8; 16]) = (i64::MAX, [0xff; 16]);

/// The filters of a query besides owner and state.
const FILTER: &str = "(?2 IS NULL OR agent = ?2) AND (?3 IS NULL OR context_id = ?3)";

/// Older than every row: the value for a query without a time.
const SINCE_EVER: i64 = i64::MIN;

/// A page of an owner's tasks.
pub(super) fn page(connection: &Connection, query: &TaskQuery) -> Result<TaskPage, StoreError> {
    match page_within(connection, query, usize::MAX)? {
        Fit::Whole(page) => Ok(page),
        Fit::TooLarge(_) => Err(damaged("a task that cannot be read")),
    }
}

/// The same, unless its tasks are larger than this together.
pub(super) fn page_within(
    connection: &Connection,
    query: &TaskQuery,
    max_bytes: usize,
) -> Result<Fit<TaskPage>, StoreError> {
    let few = match IndexedFilter::of(query) {
        Some(narrow) => narrow.if_few(connection, &query.owner)?,
        None => None,
    };
    let sql = page_sql(query.state, few);
    let (agent, context) = filters(query);
    let (at, id) = query.after.map_or(BEFORE_ALL, |after| (nanos(after.at), after.id.as_uuid().into_bytes()));
    let limit = signed(query.limit.saturating_add(1));
    let values = params![query.owner.as_str(), agent, context, at, id, limit, since(query), query.scope];
    let numbers: Vec<i64> = each(connection, &sql, values, |row| get(row, 0))?;
    let (rows, bytes) = rows_that_fit(connection, query, &numbers)?;
    if bytes > max_bytes {
        return Ok(Fit::TooLarge(bytes));
    }
    let mut tasks = Vec::new();
    for n in &numbers[..rows] {
        tasks.extend(heads::read(connection, *n, query.parts)?);
    }
    let next = tasks.last().filter(|_| rows < numbers.len()).map(position);
    Ok(Fit::Whole(TaskPage { tasks, next, total: total(connection, query)? }))
}

/// How many of these rows fit on the page, and their size.
fn rows_that_fit(connection: &Connection, query: &TaskQuery, numbers: &[i64]) -> Result<(usize, usize), StoreError> {
    let mut bytes = 0_usize;
    for (rows, n) in numbers.iter().take(query.limit).enumerate() {
        let more = bytes.saturating_add(heads::stored_bytes(connection, *n, query.parts)?);
        if more > query.max_bytes && rows > 0 {
            return Ok((rows, bytes));
        }
        bytes = more;
    }
    Ok((numbers.len().min(query.limit), bytes))
}

/// How many tasks an owner has in each state.
pub(super) fn counts(connection: &Connection, owner: &Owner) -> Result<BTreeMap<TaskState, u64>, StoreError> {
    // The table also counts what is no task: memory, files, results.
    let sql = "SELECT state, n FROM task_counts WHERE owner = ?1 AND n > 0";
    let counts = each(connection, sql, [owner.as_str()], |row| {
        Ok(TaskState::from_word(text(row, 0)?).map(|state| (state, count(row, 1))))
    })?;
    counts.into_iter().flatten().map(|(state, count)| Ok((state, count?))).collect()
}

fn filters(query: &TaskQuery) -> (Option<&str>, Option<&str>) {
    (query.agent.as_ref().map(|agent| agent.as_str()), query.context_id.as_ref().map(|context| context.as_str()))
}

fn since(query: &TaskQuery) -> i64 {
    query.changed_since.map_or(SINCE_EVER, nanos)
}

fn position(record: &TaskRecord) -> Position {
    Position { at: record.task.status.timestamp, id: record.task.id }
}

/// A filter with its own index.
#[derive(Clone, Copy)]
struct IndexedFilter<'q> {
    index: &'static str,
    column: &'static str,
    value: &'q str,
}

impl<'q> IndexedFilter<'q> {
    /// The filter of a query beyond the state.
    fn of(query: &'q TaskQuery) -> Option<Self> {
        let (agent, context) = filters(query);
        let by_agent = agent.map(|value| Self { index: "a2a_tasks_by_message", column: "agent", value });
        let by_context = context.map(|value| Self { index: "a2a_tasks_by_context", column: "context_id", value });
        by_context.or(by_agent)
    }

    /// The filter, if its rows are few enough to be sorted.
    fn if_few(self, connection: &Connection, owner: &Owner) -> Result<Option<Self>, StoreError> {
        let Self { index, column, value } = self;
        let limit = SORTED_ROWS + 1;
        let sql = format!(
            "SELECT count(*) FROM (SELECT 1 FROM a2a_tasks INDEXED BY {index}
                                   WHERE owner = ?1 AND {column} = ?2 LIMIT {limit})"
        );
        let rows = one_count(connection, &sql, [owner.as_str(), value])?;
        Ok(Some(self).filter(|_| rows <= SORTED_ROWS))
    }

    fn rows(self) -> String {
        let Self { index, column, .. } = self;
        // Repeated here in addition to `FILTER`, so that the index can be used.
        let place = if column == "agent" { "?2" } else { "?3" };
        format!("FROM a2a_tasks INDEXED BY {index} WHERE owner = ?1 AND {column} = {place} AND {FILTER}")
    }
}

/// Finds the row numbers of a page. Only these are then sorted or merged.
fn page_sql(state: Option<TaskState>, few: Option<IndexedFilter<'_>>) -> String {
    let after = "(status_at, id) < (?4, ?5) AND status_at >= ?7 AND (?8 IS NULL OR coalesce(scope, '') = ?8)";
    let rows = match few {
        Some(narrow) => format!("SELECT n, status_at, id {}{} AND {after}", narrow.rows(), in_state(state)),
        None => {
            let states = TaskState::ALL.into_iter().filter(|one| state.is_none_or(|wanted| wanted == *one));
            let ranges = states.map(|state| {
                let state = in_state(Some(state));
                format!(
                    "SELECT n, status_at, id FROM a2a_tasks INDEXED BY a2a_tasks_by_state
                     WHERE owner = ?1{state} AND {FILTER} AND {after}"
                )
            });
            ranges.collect::<Vec<_>>().join(" UNION ALL ")
        }
    };
    format!("{rows} ORDER BY status_at DESC, id DESC LIMIT ?6")
}

fn in_state(state: Option<TaskState>) -> String {
    state.map(|state| format!(" AND state = '{state}'")).unwrap_or_default()
}

/// The number of rows on all pages: exact if only owner and state are given, otherwise up to a limit.
fn total(connection: &Connection, query: &TaskQuery) -> Result<usize, StoreError> {
    if let Some(scope) = &query.scope {
        let state = in_state(query.state);
        let sql = format!(
            "SELECT count(*) FROM (SELECT 1 FROM a2a_tasks WHERE owner = ?1 AND {FILTER}{state} AND status_at >= ?4
                                   AND coalesce(scope, '') = ?5 LIMIT {COUNTED_ROWS})"
        );
        let (agent, context) = filters(query);
        return one_count(connection, &sql, params![query.owner.as_str(), agent, context, since(query), scope]);
    }
    if let Some(narrow) = IndexedFilter::of(query) {
        let (rows, state) = (narrow.rows(), in_state(query.state));
        let sql = format!("SELECT count(*) FROM (SELECT 1 {rows}{state} AND status_at >= ?4 LIMIT {COUNTED_ROWS})");
        let (agent, context) = filters(query);
        return one_count(connection, &sql, params![query.owner.as_str(), agent, context, since(query)]);
    }
    if query.changed_since.is_some() {
        let ranges = TaskState::ALL.into_iter().filter(|one| query.state.is_none_or(|wanted| wanted == *one));
        let ranges = ranges.map(|state| {
            let state = in_state(Some(state));
            format!(
                "SELECT 1 FROM a2a_tasks INDEXED BY a2a_tasks_by_state
                 WHERE owner = ?1{state} AND status_at >= ?2"
            )
        });
        let rows = ranges.collect::<Vec<_>>().join(" UNION ALL ");
        let sql = format!("SELECT count(*) FROM ({rows} LIMIT {COUNTED_ROWS})");
        return one_count(connection, &sql, params![query.owner.as_str(), since(query)]);
    }
    let counts = counts(connection, &query.owner)?;
    let wanted = counts.into_iter().filter(|(state, _)| query.state.is_none_or(|wanted| wanted == *state));
    usize::try_from(wanted.map(|(_, n)| n).sum::<u64>()).map_err(|_| damaged("too many tasks"))
}

fn one_count(connection: &Connection, sql: &str, values: impl Params) -> Result<usize, StoreError> {
    let counted: Vec<i64> = each(connection, sql, values, |row| count(row, 0))?;
    usize::try_from(counted.into_iter().sum::<i64>()).map_err(|_| damaged("too many tasks"))
}

#[cfg(test)]
#[path = "list_tests.rs"]
mod tests;

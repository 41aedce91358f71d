//! Checks the consistency of the database: the file itself, the counters against their rows, the events of every task,
//! the transcripts of every conversation, the audit chain. All of it uses one snapshot, so that others can write meanwhile.

use openfang_types::ids::TaskId;
use rusqlite::{Connection, ErrorCode};
use serde::Serialize;
use uuid::Uuid;

use crate::audit::AuditVerification;
use crate::sqlite::audit;

mod finding;
mod transcripts;

pub use finding::Finding;

/// The maximum number of findings per kind. A database with more is not repaired one by one.
const TOLD: usize = 20;

/// The result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    pub tasks: u64,
    /// The number of events of unfolded tasks.
    pub events: u64,
    pub audit: AuditVerification,
    /// The first findings of each kind.
    pub findings: Vec<Finding>,
}

pub(super) fn check(connection: &Connection) -> rusqlite::Result<Report> {
    let snapshot = connection.unchecked_transaction()?;
    let mut report = Report::default();
    let parts: [fn(&Connection, &mut Report) -> rusqlite::Result<()>; 7] =
        [integrity, counters, bytes, events, lost_events, transcripts::check, audit_log];
    for part in parts {
        match part(&snapshot, &mut report) {
            Ok(()) => {}
            // The other parts may have findings too.
            Err(error) if is_damage(&error) => report.findings.push(Finding::Damaged(error.to_string())),
            Err(error) => return Err(error),
        }
    }
    Ok(report)
}

/// SQLite reports damage, or a value is not one we would have written.
fn is_damage(error: &rusqlite::Error) -> bool {
    let is_strange = matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
    );
    is_strange || matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// The first damage in the file, searched table by table.
pub(super) fn damage(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let mut statement = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    let tables = statement.query_map([], |row| row.get::<_, String>(0));
    let tables = match tables.and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>) {
        Err(error) if is_damage(&error) => return Ok(Some(error.to_string())),
        tables => tables?,
    };
    for table in tables {
        let sql = format!("PRAGMA integrity_check('{}')", table.replace('\'', "''"));
        let line = connection.query_row(&sql, [], |row| row.get::<_, String>(0));
        match line {
            Ok(line) if line == "ok" => {}
            Ok(line) => return Ok(Some(line)),
            Err(error) if is_damage(&error) => return Ok(Some(error.to_string())),
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

fn integrity(connection: &Connection, report: &mut Report) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({TOLD})"))?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
    for line in lines {
        let line = line?;
        if line != "ok" {
            report.findings.push(Finding::Damaged(line));
        }
    }
    Ok(())
}

fn counters(connection: &Connection, report: &mut Report) -> rusqlite::Result<()> {
    let tasks: i64 = connection.query_row("SELECT count(*) FROM a2a_tasks", [], |row| row.get(0))?;
    report.tasks = tasks.cast_unsigned();
    let sql = format!(
        "SELECT owner, state, sum(kept), sum(counted) FROM (
                   SELECT owner, state, n AS kept, 0 AS counted FROM task_counts
                   WHERE state NOT IN ({OTHERS})
                   UNION ALL
                   SELECT owner, state, 0, count(*) FROM a2a_tasks GROUP BY owner, state
               ) GROUP BY owner, state HAVING sum(kept) <> sum(counted) LIMIT ?1"
    );
    let mut statement = connection.prepare(&sql)?;
    let wrong = statement.query_map([TOLD as i64], |row| {
        Ok(Finding::Count { owner: row.get(0)?, state: row.get(1)?, kept: row.get(2)?, counted: row.get(3)? })
    })?;
    report.findings.extend(wrong.collect::<rusqlite::Result<Vec<_>>>()?);
    Ok(())
}

/// What is counted beside tasks.
const OTHERS: &str = "'memory', 'files', 'results', 'transcripts', 'queue'";

/// The bytes of kept results, which earlier versions of the schema do not have.
const RESULT_BYTES: &str =
    "UNION ALL SELECT owner, 'results', 0, octet_length(content) + octet_length(labels) FROM kept_results";

/// The bytes of the work queue, which earlier versions of the schema do not have.
const QUEUE_BYTES: &str = "UNION ALL SELECT owner, 'queue', 0, octet_length(title) + octet_length(description)
    + octet_length(labels) + coalesce(octet_length(result), 0) + octet_length(result_labels) FROM queue";

/// The size per owner, as counted and as stored. Earlier versions of the schema do not count it.
fn bytes(connection: &Connection, report: &mut Report) -> rusqlite::Result<()> {
    if !has_column(connection, "task_counts", "bytes")? {
        return Ok(());
    }
    let results = if has_column(connection, "kept_results", "content")? { RESULT_BYTES } else { "" };
    let queue = if has_column(connection, "queue", "title")? { QUEUE_BYTES } else { "" };
    let transcripts = transcripts::bytes(connection)?;
    let sql = format!(
        "SELECT owner, what, sum(kept), sum(counted) FROM (
                   SELECT owner, iif(state IN ({OTHERS}), state, 'tasks') AS what, bytes AS kept,
                       0 AS counted
                   FROM task_counts
                   UNION ALL
                   SELECT owner, 'tasks', 0, coalesce(octet_length(first), 0) + coalesce(octet_length(folded), 0)
                       + coalesce((SELECT sum(octet_length(bodies)) FROM a2a_task_events WHERE task = id), 0)
                   FROM a2a_tasks
                   UNION ALL
                   SELECT owner, 'memory', 0, octet_length(key) + octet_length(value) + octet_length(labels) FROM memory
                   UNION ALL
                   SELECT owner, 'files', 0, octet_length(path) + bytes + coalesce(octet_length(labels), 0) FROM files
                   {results} {queue} {transcripts}
               ) GROUP BY owner, what HAVING sum(kept) <> sum(counted) LIMIT ?1"
    );
    let mut statement = connection.prepare(&sql)?;
    let wrong = statement.query_map([TOLD as i64], |row| {
        Ok(Finding::Bytes { owner: row.get(0)?, what: row.get(1)?, kept: row.get(2)?, counted: row.get(3)? })
    })?;
    report.findings.extend(wrong.collect::<rusqlite::Result<Vec<_>>>()?);
    Ok(())
}

fn has_column(connection: &Connection, table: &str, column: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2";
    connection.query_row(sql, [table, column], |row| Ok(row.get::<_, i64>(0)? > 0))
}

/// The writes of unfolded tasks: task, its last event, the first event of the write, their number. A task without
/// events has one row too.
const WRITES: &str =
    "SELECT t.id, t.seq, e.seq, CASE WHEN json_valid(e.bodies) THEN json_array_length(e.bodies) ELSE 0 END
    FROM a2a_tasks t LEFT JOIN a2a_task_events e ON e.task = t.id WHERE t.folded IS NULL";
/// The same for events in the rows of the tasks themselves, which earlier versions of the schema do not have.
const FIRST_WRITES: &str = "SELECT id, seq, 1, CASE WHEN json_valid(first) THEN json_array_length(first) ELSE 0 END
    FROM a2a_tasks WHERE folded IS NULL AND first IS NOT NULL";
const IS_BESIDE: &str = "(e.task IS NOT NULL OR t.first IS NULL)";

/// An unfolded task has all its events, from the first to its last.
fn events(connection: &Connection, report: &mut Report) -> rusqlite::Result<()> {
    let has_first = has_column(connection, "a2a_tasks", "first")?;
    let sql = if has_first { format!("{FIRST_WRITES} UNION ALL {WRITES} AND {IS_BESIDE}") } else { WRITES.to_owned() };
    let mut statement = connection.prepare(&format!("{sql} ORDER BY 1, 3"))?;
    let mut rows = statement.query([])?;
    let mut log = TaskLog::default();
    let mut wrong = Vec::new();
    while let Some(row) = rows.next()? {
        let task: [u8; 16] = row.get(0)?;
        if task != log.task {
            wrong.extend(log.end());
            log = TaskLog { task, end: row.get(1)?, ..TaskLog::default() };
        }
        let written = row.get::<_, Option<i64>>(2)?;
        log.write(written.map(|seq| row.get(3).map(|count: i64| (seq, count))).transpose()?);
        report.events += u64::from(written.is_some()) * row.get::<_, i64>(3)?.cast_unsigned();
    }
    wrong.extend(log.end());
    wrong.truncate(TOLD);
    report.findings.append(&mut wrong);
    Ok(())
}

/// The events of one task, write by write.
#[derive(Default)]
struct TaskLog {
    task: [u8; 16],
    end: i64,
    last: i64,
    is_wrong: bool,
}

impl TaskLog {
    fn write(&mut self, written: Option<(i64, i64)>) {
        let Some((first, count)) = written else { return };
        if self.is_wrong || first != self.last + 1 || count < 1 {
            self.is_wrong = true;
            return;
        }
        self.last += count;
    }

    fn end(&self) -> Option<Finding> {
        let task = TaskId::from_uuid(Uuid::from_bytes(self.task));
        let is_wrong = self.is_wrong || self.last != self.end;
        is_wrong.then(|| Finding::Events { task, seq: self.last.min(self.end).cast_unsigned() + 1 })
    }
}

fn lost_events(connection: &Connection, report: &mut Report) -> rusqlite::Result<()> {
    let sql = "SELECT DISTINCT task FROM a2a_task_events
               WHERE NOT EXISTS (SELECT 1 FROM a2a_tasks WHERE id = task) LIMIT ?1";
    let mut statement = connection.prepare(sql)?;
    let lost = statement.query_map([TOLD as i64], |row| {
        row.get(0).map(|id| Finding::NoTask { task: TaskId::from_uuid(Uuid::from_bytes(id)) })
    })?;
    report.findings.extend(lost.collect::<rusqlite::Result<Vec<_>>>()?);
    Ok(())
}

fn audit_log(connection: &Connection, report: &mut Report) -> rusqlite::Result<()> {
    report.audit = audit::verify(connection)?;
    report.findings.extend(report.audit.first_problem.map(Finding::Audit));
    Ok(())
}

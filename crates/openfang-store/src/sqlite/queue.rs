//! The work queue in SQLite. A claim is one statement in the writer's transaction, so no two workers get the same item.

use jiff::Timestamp;
use openfang_types::ids::{Owner, QueueItemId};
use openfang_types::limits::{QUEUE_ENDED_KEPT, QUEUE_LEASES_GIVEN_UP};
use rusqlite::types::Null;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::batch::{Batch, Counter};
use super::tasks::columns::{count, get, labels, labels_text, name, nanos, signed, text, time, uuid};
use super::{Sqlite, damaged, unavailable};
use crate::queue::{Holding, holder_text};
use crate::{
    Completion, NewQueueItem, QueueClaim, QueueEnd, QueueItem, QueuePage, QueueQuery, QueueState, QueueStore,
    StoreError, StoreFuture,
};

/// The columns of an item, in the order in which [`item`] reads them.
const COLUMNS: &str = "id, title, description, assigned_to, created_by, priority, labels, created_at, state, attempt,
    lease_until, result, result_labels, changed_at";

/// What an item counts for.
const BYTES: &str = "octet_length(title) + octet_length(description) + octet_length(labels)
    + coalesce(octet_length(result), 0) + octet_length(result_labels)";

/// The queue of a database.
pub(super) struct SqliteQueue {
    sqlite: Sqlite,
}

impl SqliteQueue {
    pub(super) const fn new(sqlite: Sqlite) -> Self {
        Self { sqlite }
    }
}

impl QueueStore for SqliteQueue {
    fn post<'a>(&'a self, owner: &'a Owner, item: NewQueueItem, limit: usize) -> StoreFuture<'a, ()> {
        let owner = owner.clone();
        self.sqlite.write_new(move |batch| post(batch, &owner, &item, limit))
    }

    fn claim<'a>(&'a self, owner: &'a Owner, claim: QueueClaim) -> StoreFuture<'a, Option<QueueItem>> {
        let owner = owner.clone();
        self.sqlite.write(move |batch| {
            give_up_leases(batch, &owner, &claim)?;
            forget_the_oldest(batch, &owner)?;
            take(batch.connection, &owner, &claim)
        })
    }

    fn complete<'a>(&'a self, owner: &'a Owner, end: QueueEnd) -> StoreFuture<'a, Completion> {
        let owner = owner.clone();
        self.sqlite.write(move |batch| complete(batch, &owner, &end))
    }

    fn list<'a>(&'a self, owner: &'a Owner, query: QueueQuery) -> StoreFuture<'a, QueuePage> {
        let owner = owner.clone();
        let bytes = query.max_bytes;
        self.sqlite.read_within(bytes, move |connection| list(connection, &owner, &query))
    }
}

fn post(batch: &mut Batch<'_>, owner: &Owner, item: &NewQueueItem, limit: usize) -> Result<(), StoreError> {
    let open =
        "SELECT count(*) FROM (SELECT 1 FROM queue WHERE owner = ?1 AND state IN ('pending', 'in_progress') LIMIT ?2)";
    let open: i64 = batch
        .connection
        .prepare_cached(open)
        .and_then(|mut statement| statement.query_row(params![owner.as_str(), signed(limit)], |row| row.get(0)))
        .map_err(unavailable)?;
    if open >= signed(limit) {
        return Err(StoreError::TooMany { what: "open items of the queue", limit });
    }
    let labels = labels_text(&item.labels)?;
    let no_labels = labels_text(&openfang_types::taint::Labels::none())?;
    let bytes = signed(item.title.len() + item.description.len() + labels.len() + no_labels.len());
    batch.check_room(owner, bytes)?;
    let sql =
        "INSERT INTO queue (id, owner, title, description, assigned_to, created_by, priority, labels, state, attempt,
                   holder, lease_until, result, result_labels, created_at, changed_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'pending', 0, '', ?9, ?9, ?10, ?11, ?11)";
    let name =
        |agent: &Option<openfang_types::ids::AgentName>| agent.as_ref().map_or(String::new(), ToString::to_string);
    let values = params![
        item.id.as_uuid().into_bytes(),
        owner.as_str(),
        item.title,
        item.description,
        name(&item.assigned_to),
        name(&item.created_by),
        item.priority,
        labels,
        Null,
        no_labels,
        nanos(item.at),
    ];
    let statement = batch.connection.prepare_cached(sql);
    statement.and_then(|mut statement| statement.execute(values)).map_err(unavailable)?;
    batch.change(owner, Counter::Queue, 1, bytes);
    Ok(())
}

/// Items whose leases have ended are pending again, or dead.
fn give_up_leases(batch: &Batch<'_>, owner: &Owner, claim: &QueueClaim) -> Result<(), StoreError> {
    let sql = "UPDATE queue SET state = iif(attempt >= ?3, 'dead', 'pending'), holder = '', lease_until = NULL,
                   changed_at = ?2
               WHERE n IN (SELECT n FROM queue WHERE owner = ?1 AND state = 'in_progress' AND lease_until <= ?2 LIMIT ?4)";
    let values = params![owner.as_str(), nanos(claim.at), claim.attempts, signed(QUEUE_LEASES_GIVEN_UP)];
    let statement = batch.connection.prepare_cached(sql);
    statement.and_then(|mut statement| statement.execute(values)).map_err(unavailable)?;
    Ok(())
}

fn take(connection: &Connection, owner: &Owner, claim: &QueueClaim) -> Result<Option<QueueItem>, StoreError> {
    let first = "SELECT n, priority FROM queue WHERE owner = ?1 AND assigned_to = ?2 AND state = 'pending'
                 ORDER BY priority DESC, n LIMIT 1";
    let first_for = |worker: &str| -> Result<Option<(i64, i64)>, StoreError> {
        let mut statement = connection.prepare_cached(first).map_err(unavailable)?;
        let found = statement.query_row([owner.as_str(), worker], |row| Ok((row.get(0)?, row.get(1)?)));
        found.optional().map_err(unavailable)
    };
    let own = match &claim.worker {
        Some(worker) => first_for(worker.as_str())?,
        None => None,
    };
    let candidates = own.into_iter().chain(first_for("")?);
    let Some((n, _)) = candidates.min_by_key(|(n, priority)| (-priority, *n)) else { return Ok(None) };
    let sql = format!(
        "UPDATE queue SET state = 'in_progress', attempt = attempt + 1, holder = ?2, lease_until = ?3, changed_at = ?4
         WHERE n = ?1 RETURNING {COLUMNS}"
    );
    let mut statement = connection.prepare_cached(&sql).map_err(unavailable)?;
    let values =
        params![n, holder_text(claim.worker.as_ref(), claim.holder), nanos(claim.lease_until), nanos(claim.at)];
    statement.query_row(values, |row| Ok(item(row))).map_err(unavailable)?.map(Some)
}

fn complete(batch: &mut Batch<'_>, owner: &Owner, end: &QueueEnd) -> Result<Completion, StoreError> {
    let id = end.id.as_uuid().into_bytes();
    let sql = "SELECT state, holder, attempt, lease_until, octet_length(result_labels) FROM queue WHERE owner = ?1 AND id = ?2";
    let mut statement = batch.connection.prepare_cached(sql).map_err(unavailable)?;
    let found = statement.query_row(params![owner.as_str(), id], |row| {
        Ok(held(row).map(|holding| (holding.judge(end), row.get::<_, i64>(4))))
    });
    let Some(found) = found.optional().map_err(unavailable)? else { return Ok(Completion::Unknown) };
    let (verdict, labels_before) = found?;
    if verdict != Completion::Done {
        return Ok(verdict);
    }
    let labels = labels_text(&end.labels)?;
    let more = signed(end.result.len() + labels.len()) - labels_before.map_err(unavailable)?;
    // The work is done: its result is kept, room or not.
    let state = if end.is_failed { QueueState::Failed } else { QueueState::Completed };
    let sql =
        "UPDATE queue SET state = ?2, holder = '', lease_until = NULL, result = ?3, result_labels = ?4, changed_at = ?5
               WHERE id = ?1";
    let values = params![id, state.as_str(), end.result, labels, nanos(end.at)];
    let statement = batch.connection.prepare_cached(sql);
    statement.and_then(|mut statement| statement.execute(values)).map_err(unavailable)?;
    batch.change(owner, Counter::Queue, 0, more);
    forget_the_oldest(batch, owner)?;
    Ok(Completion::Done)
}

/// Of items that have ended, the latest are kept.
fn forget_the_oldest(batch: &mut Batch<'_>, owner: &Owner) -> Result<(), StoreError> {
    let sql = format!(
        "DELETE FROM queue WHERE n IN (
             SELECT n FROM queue WHERE owner = ?1 AND state IN ('completed', 'failed', 'dead')
             ORDER BY changed_at DESC LIMIT ?3 OFFSET ?2
         ) RETURNING {BYTES}"
    );
    let mut statement = batch.connection.prepare_cached(&sql).map_err(unavailable)?;
    let values = params![owner.as_str(), signed(QUEUE_ENDED_KEPT), signed(QUEUE_LEASES_GIVEN_UP)];
    let gone = statement.query_map(values, |row| row.get::<_, i64>(0));
    let gone: Vec<i64> = gone.and_then(Iterator::collect).map_err(unavailable)?;
    for bytes in gone {
        batch.change(owner, Counter::Queue, -1, -bytes);
    }
    Ok(())
}

fn held<'r>(row: &'r Row<'_>) -> Result<Holding<'r>, StoreError> {
    Ok(Holding {
        state: state(row, 0)?,
        holder: text(row, 1)?,
        attempt: count(row, 2)?,
        lease_until: optional_time(row, 3)?,
    })
}

fn list(connection: &Connection, owner: &Owner, query: &QueueQuery) -> Result<QueuePage, StoreError> {
    // A lease that has ended makes an item pending, although nobody has written that yet.
    let sql = match query.state {
        None => format!(
            "SELECT {COLUMNS} FROM queue WHERE owner = ?1 AND n < ?2 AND ?3 IS NULL AND ?4 IS NOT NULL ORDER BY n DESC LIMIT ?5"
        ),
        Some(QueueState::Pending) => format!(
            "SELECT {COLUMNS} FROM queue WHERE owner = ?1 AND n < ?2
                 AND (state = ?3 OR state = 'in_progress' AND lease_until <= ?4) ORDER BY n DESC LIMIT ?5"
        ),
        Some(QueueState::InProgress) => format!(
            "SELECT {COLUMNS} FROM queue WHERE owner = ?1 AND n < ?2 AND state = ?3 AND lease_until > ?4
                 ORDER BY n DESC LIMIT ?5"
        ),
        Some(QueueState::Completed | QueueState::Failed | QueueState::Dead) => format!(
            "SELECT {COLUMNS} FROM queue WHERE owner = ?1 AND n < ?2 AND state = ?3 AND ?4 IS NOT NULL
                 ORDER BY n DESC LIMIT ?5"
        ),
    };
    let before = match query.before {
        Some(id) => place(connection, owner, id)?,
        None => i64::MAX,
    };
    let mut statement = connection.prepare_cached(&sql).map_err(unavailable)?;
    let state = query.state.map(QueueState::as_str);
    let mut rows = statement
        .query(params![owner.as_str(), before, state, nanos(query.at), signed(query.limit).saturating_add(1)])
        .map_err(unavailable)?;
    let mut page = QueuePage::default();
    while let Some(row) = rows.next().map_err(unavailable)? {
        if !page.take(item(row)?.seen_at(query.at), query) {
            break;
        }
    }
    Ok(page)
}

/// The place of an item; before the first for one that is not there.
fn place(connection: &Connection, owner: &Owner, id: QueueItemId) -> Result<i64, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT n FROM queue WHERE owner = ?1 AND id = ?2")
        .map_err(unavailable)?;
    let found = statement.query_row(params![owner.as_str(), id.as_uuid().into_bytes()], |row| row.get(0));
    Ok(found.optional().map_err(unavailable)?.unwrap_or(0))
}

fn item(row: &Row<'_>) -> Result<QueueItem, StoreError> {
    let agent = |column| match text(row, column)? {
        "" => Ok(None),
        _ => name(row, column).map(Some),
    };
    let posted = NewQueueItem {
        id: QueueItemId::from_uuid(uuid(row, 0)?),
        title: get(row, 1)?,
        description: get(row, 2)?,
        assigned_to: agent(3)?,
        created_by: agent(4)?,
        priority: get(row, 5)?,
        labels: labels(row, 6)?,
        at: time(row, 7)?,
    };
    let result = match get::<Option<String>>(row, 11)? {
        Some(result) => Some((result, labels(row, 12)?)),
        None => None,
    };
    Ok(QueueItem {
        posted,
        state: state(row, 8)?,
        attempt: count(row, 9)?,
        lease_until: optional_time(row, 10)?,
        result,
        changed_at: time(row, 13)?,
    })
}

fn state(row: &Row<'_>, column: usize) -> Result<QueueState, StoreError> {
    QueueState::from_word(text(row, column)?).ok_or_else(|| damaged("a state of the queue that is none"))
}

fn optional_time(row: &Row<'_>, column: usize) -> Result<Option<Timestamp>, StoreError> {
    match get::<Option<i64>>(row, column)? {
        Some(_) => time(row, column).map(Some),
        None => Ok(None),
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;

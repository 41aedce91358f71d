//! Published events in SQLite. The limits are checked in the writer's transaction, so no two processes exceed them.

use openfang_types::ids::{EventType, NodeId, Owner, TraceId};
use openfang_types::limits::{EVENT_RUNS_KEPT, EVENTS_KEPT, EVENTS_KEPT_BYTES};
use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};
use tokio::sync::watch;

use super::batch::Batch;
use super::tasks::columns::{count, json, nanos, nanos_before, signed, text, uuid};
use super::{Sqlite, damaged, unavailable};
use crate::events::{EventQuery, EventRoom, EventStore, NumberedEvent, PublishLimits, Published, PublishedEvent};
use crate::{StoreError, StoreFuture};

/// The published events of a database.
pub(super) struct SqliteEvents {
    sqlite: Sqlite,
}

impl SqliteEvents {
    pub(super) const fn new(sqlite: Sqlite) -> Self {
        Self { sqlite }
    }
}

impl EventStore for SqliteEvents {
    fn publish(&self, event: PublishedEvent, limits: PublishLimits) -> StoreFuture<'_, Published> {
        self.sqlite.write_new(move |batch| publish(batch, &event, limits))
    }

    fn list<'a>(&'a self, owner: &'a Owner, query: EventQuery) -> StoreFuture<'a, Vec<NumberedEvent>> {
        let owner = owner.clone();
        self.sqlite.read_within(query.room.bytes, move |connection| {
            let before = query.before.map_or(i64::MAX, signed);
            let of_type = if query.event_type.is_some() { "event_type = ?3" } else { "?3 IS NULL" };
            let sql = format!(
                "SELECT n, body FROM published_events WHERE owner = ?1 AND n < ?2 AND {of_type} ORDER BY n DESC LIMIT ?4"
            );
            let wanted = query.event_type.as_ref().map(EventType::as_str);
            read(connection, &sql, params![owner.as_str(), before, wanted, signed(query.room.events)], query.room)
        })
    }

    fn after<'a>(&'a self, owner: &'a Owner, number: u64, room: EventRoom) -> StoreFuture<'a, Vec<NumberedEvent>> {
        let owner = owner.clone();
        self.sqlite.read_within(room.bytes, move |connection| {
            let sql = "SELECT n, body FROM published_events WHERE owner = ?1 AND n > ?2 ORDER BY n LIMIT ?3";
            read(connection, sql, params![owner.as_str(), signed(number), signed(room.events)], room)
        })
    }

    fn latest<'a>(&'a self, owner: &'a Owner) -> StoreFuture<'a, u64> {
        let owner = owner.clone();
        self.sqlite.read(move |connection| {
            let sql = "SELECT coalesce(max(n), 0) FROM published_events WHERE owner = ?1";
            let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
            let latest: i64 = statement.query_row([owner.as_str()], |row| row.get(0)).map_err(unavailable)?;
            Ok(u64::try_from(latest).unwrap_or(0))
        })
    }

    fn waiting(&self, limit: usize) -> StoreFuture<'_, Vec<NumberedEvent>> {
        self.sqlite.read(move |connection| {
            let sql =
                "SELECT n, body FROM published_events WHERE is_delivered = 0 AND node IS NULL ORDER BY n LIMIT ?1";
            read(connection, sql, [signed(limit)], EventRoom { events: limit, bytes: usize::MAX })
        })
    }

    fn claimed(&self, limit: usize) -> StoreFuture<'_, Vec<(NumberedEvent, NodeId)>> {
        self.sqlite.read(move |connection| {
            let sql = "SELECT n, body, node FROM published_events
                       WHERE is_delivered = 0 AND node IS NOT NULL ORDER BY n LIMIT ?1";
            let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
            let mut rows = statement.query([signed(limit)]).map_err(unavailable)?;
            let mut found = Vec::new();
            while let Some(row) = rows.next().map_err(unavailable)? {
                found.push((numbered(row)?, NodeId::from_uuid(uuid(row, 2)?)));
            }
            Ok(found)
        })
    }

    fn claim(&self, number: u64, node: NodeId, from: Option<NodeId>) -> StoreFuture<'_, bool> {
        self.sqlite.write(move |batch| {
            let sql = "UPDATE published_events SET node = ?2 WHERE n = ?1 AND is_delivered = 0 AND node IS ?3";
            let from = from.map(|node| node.as_uuid().into_bytes());
            let values = params![signed(number), node.as_uuid().into_bytes(), from];
            let statement = batch.connection.prepare_cached(sql);
            let changed = statement.and_then(|mut statement| statement.execute(values)).map_err(unavailable)?;
            Ok(changed == 1)
        })
    }

    fn delivered(&self, number: u64) -> StoreFuture<'_, ()> {
        self.sqlite.write(move |batch| {
            let sql = "UPDATE published_events SET is_delivered = 1, node = NULL WHERE n = ?1";
            let statement = batch.connection.prepare_cached(sql);
            statement
                .and_then(|mut statement| statement.execute([signed(number)]))
                .map_err(unavailable)?;
            Ok(())
        })
    }

    fn add_run<'a>(&'a self, owner: &'a Owner, trace: TraceId, chain: Vec<EventType>) -> StoreFuture<'a, ()> {
        let owner = owner.clone();
        self.sqlite.write(move |batch| {
            let sql = "INSERT INTO event_runs (owner, trace, chain) VALUES (?1, ?2, ?3)";
            let values = params![owner.as_str(), trace.as_uuid().into_bytes(), json(&chain)?];
            let statement = batch.connection.prepare_cached(sql);
            statement.and_then(|mut statement| statement.execute(values)).map_err(unavailable)?;
            let old = "DELETE FROM event_runs WHERE n IN (
                           SELECT n FROM event_runs WHERE owner = ?1 ORDER BY n DESC LIMIT -1 OFFSET ?2)";
            let values = params![owner.as_str(), signed(EVENT_RUNS_KEPT)];
            let statement = batch.connection.prepare_cached(old);
            statement.and_then(|mut statement| statement.execute(values)).map_err(unavailable)?;
            Ok(())
        })
    }

    fn chain_of(&self, trace: TraceId) -> StoreFuture<'_, Vec<EventType>> {
        self.sqlite.read(move |connection| {
            let sql = "SELECT chain FROM event_runs WHERE trace = ?1";
            let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
            let found = statement.query_row([trace.as_uuid().into_bytes()], |row| row.get::<_, String>(0));
            match found.optional().map_err(unavailable)? {
                Some(chain) => serde_json::from_str(&chain).map_err(|_| damaged("types of events that are none")),
                None => Ok(Vec::new()),
            }
        })
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.sqlite.inner.watchers.background()
    }
}

fn publish(batch: &mut Batch<'_>, event: &PublishedEvent, limits: PublishLimits) -> Result<Published, StoreError> {
    let owner = event.owner.as_str();
    let since = nanos_before(event.at, limits.period);
    let number = |sql: &str, values: &dyn Fn(&mut rusqlite::CachedStatement<'_>) -> rusqlite::Result<i64>| {
        let mut statement = batch.connection.prepare_cached(sql).map_err(unavailable)?;
        values(&mut statement).map_err(unavailable)
    };
    let of_type = "SELECT count(*) FROM published_events WHERE owner = ?1 AND event_type = ?2 AND at > ?3";
    let of_type = number(of_type, &|statement| {
        statement.query_row(params![owner, event.event_type.as_str(), since], |row| row.get(0))
    })?;
    if of_type >= i64::from(limits.of_type) {
        return Ok(Published::TooManyOfType);
    }
    let of_all = "SELECT count(*) FROM published_events WHERE owner = ?1 AND at > ?2";
    let of_all = number(of_all, &|statement| statement.query_row(params![owner, since], |row| row.get(0)))?;
    if of_all >= i64::from(limits.of_all) {
        return Ok(Published::TooMany);
    }
    let open = "SELECT count(*) FROM published_events WHERE owner = ?1 AND is_delivered = 0";
    let open = number(open, &|statement| statement.query_row([owner], |row| row.get(0)))?;
    if open >= signed(limits.waiting) {
        return Ok(Published::TooManyWaiting);
    }
    let sql = "INSERT INTO published_events (owner, event_type, at, bytes, is_delivered, body) VALUES (?1, ?2, ?3, ?4, 0, ?5)";
    let values = params![owner, event.event_type.as_str(), nanos(event.at), signed(event.weight()), json(event)?];
    let statement = batch.connection.prepare_cached(sql);
    statement.and_then(|mut statement| statement.execute(values)).map_err(unavailable)?;
    let number = batch.connection.last_insert_rowid();
    forget_the_oldest(batch.connection, &event.owner)?;
    batch.background_changed();
    Ok(Published::Done(u64::try_from(number).unwrap_or(0)))
}

/// Of events that were delivered, the latest are kept.
fn forget_the_oldest(connection: &Connection, owner: &Owner) -> Result<(), StoreError> {
    let sql = "DELETE FROM published_events WHERE is_delivered = 1 AND n IN (
                   SELECT n FROM (
                       SELECT n, row_number() OVER latest AS place, sum(bytes) OVER latest AS bytes
                       FROM published_events WHERE owner = ?1 WINDOW latest AS (ORDER BY n DESC)
                   ) WHERE place > ?2 OR bytes > ?3)";
    let values = params![owner.as_str(), signed(EVENTS_KEPT), signed(EVENTS_KEPT_BYTES)];
    let statement = connection.prepare_cached(sql);
    statement.and_then(|mut statement| statement.execute(values)).map_err(unavailable)?;
    Ok(())
}

fn read(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    room: EventRoom,
) -> Result<Vec<NumberedEvent>, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
    let mut rows = statement.query(values).map_err(unavailable)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(unavailable)? {
        let next = numbered(row)?;
        if !room.has_room(&found, &next.event) {
            break;
        }
        found.push(next);
    }
    Ok(found)
}

fn numbered(row: &Row<'_>) -> Result<NumberedEvent, StoreError> {
    let event = serde_json::from_str(text(row, 1)?).map_err(|_| damaged("an event that is none"))?;
    Ok(NumberedEvent { number: count::<u64>(row, 0)?, event })
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;

//! Removes old sealed segments, the oldest of each owner and kind first. A row in the same transaction records what was
//! removed. The anchors of the remaining chains stay in `meta`.
//!
//! `audit_cut` counts what was removed and names the last of it; `audit_cut:<node>:<kind>:<owner>` is the closing hash
//! that the oldest remaining segment of a chain links to; `audit_removed:<kind>:<owner>` is what is missing of an
//! owner.

use std::time::Duration;

use jiff::Timestamp;
use openfang_types::ids::{AuditSegmentId, NodeId, Owner};
use openfang_types::limits::AUDIT_SEGMENT_ROWS;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{chain, nanos, text_of};
use crate::StoreError;
use crate::audit::{AuditKind, AuditRemoval, AuditRetention, AuditRow, AuditStream, Rotated};
use crate::sqlite::batch::Batch;
use crate::sqlite::unavailable;

const CUT: &str = "audit_cut";
const REMOVED: &str = "audit_removed";
/// The number of small segments in one transaction.
const SEGMENTS_AT_A_TIME: u64 = 100;

/// Everything that was removed so far.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct RemovedSegments {
    pub(super) segments: u64,
    pub(super) rows: u64,
    /// The last removed segment.
    last: Option<AuditSegmentId>,
    /// The closing hash of that one.
    closing_hash: String,
}

/// The sealed segments of one owner and kind, or of all owners if they are from before owners were separated.
struct SegmentGroup {
    owner: Option<String>,
    kind: Option<String>,
    rows: u64,
}

struct Oldest {
    id: [u8; 16],
    node: [u8; 16],
    closed_at: i64,
    rows: u64,
    closing_hash: Vec<u8>,
}

impl Oldest {
    fn age(&self, now: Timestamp) -> Duration {
        Duration::from_nanos(u64::try_from(nanos(now).saturating_sub(self.closed_at)).unwrap_or(0))
    }
}

impl SegmentGroup {
    fn kind(&self) -> Option<AuditKind> {
        self.kind.as_deref().and_then(AuditKind::from_word)
    }

    /// The end of a key in `meta`.
    fn suffix(&self) -> String {
        match (&self.owner, &self.kind) {
            (Some(owner), Some(kind)) => format!(":{kind}:{owner}"),
            _ => String::new(),
        }
    }
}

/// Removes the oldest sealed segments beyond the retention, as many as fit into a short transaction.
pub(super) fn cut_some(batch: &mut Batch<'_>, rule: AuditRetention, now: Timestamp) -> Result<Rotated, StoreError> {
    let mut rotated = Rotated::default();
    for kept in all_kept(batch.connection).map_err(unavailable)? {
        let given_up = given_up(batch.connection, &kept, rule, (now, &mut rotated)).map_err(unavailable)?;
        if given_up.is_empty() {
            continue;
        }
        let removal = removal(batch.connection, &kept, &given_up).map_err(unavailable)?;
        // Written before anything is deleted: row numbers must never be reused, so the newest row has to stay.
        let text = text_of(&removal.clone().into_row(now))?;
        chain::append(batch, &AuditStream::of_the_log(), now, &text)?;
        for segment in &given_up {
            cut(batch.connection, &kept, segment).map_err(unavailable)?;
        }
        add_up(batch.connection, &kept, &removal).map_err(unavailable)?;
    }
    Ok(rotated)
}

/// The oldest segments beyond the retention.
fn given_up(
    connection: &Connection,
    kept: &SegmentGroup,
    rule: AuditRetention,
    (now, rotated): (Timestamp, &mut Rotated),
) -> rusqlite::Result<Vec<Oldest>> {
    let mut given_up = Vec::new();
    let mut rows = kept.rows;
    for segment in oldest(connection, kept)? {
        let is_full = rotated.rows >= AUDIT_SEGMENT_ROWS || rotated.segments >= SEGMENTS_AT_A_TIME;
        if is_full || (rows <= rule.rows_of(kept.kind()) && segment.age(now) <= rule.age) {
            break;
        }
        rows = rows.saturating_sub(segment.rows);
        rotated.segments += 1;
        rotated.rows += segment.rows;
        given_up.push(segment);
    }
    Ok(given_up)
}

/// The record of the removed segments.
fn removal(connection: &Connection, kept: &SegmentGroup, given_up: &[Oldest]) -> rusqlite::Result<AuditRemoval> {
    let of = kept.owner.as_deref().and_then(|owner| Owner::from_record(owner).ok());
    let mut removal = AuditRemoval { of, kind: kept.kind(), rows: 0, to: None };
    for segment in given_up {
        removal.rows += segment.rows;
        removal.to = removal.to.max(last_row_at(connection, segment)?);
    }
    Ok(removal)
}

fn all_kept(connection: &Connection) -> rusqlite::Result<Vec<SegmentGroup>> {
    let sql = "SELECT owner, kind, sum(rows) FROM audit_segments WHERE closed_at IS NOT NULL GROUP BY owner, kind";
    let mut statement = connection.prepare_cached(sql)?;
    let kept = statement.query_map([], |row| {
        Ok(SegmentGroup { owner: row.get(0)?, kind: row.get(1)?, rows: row.get::<_, i64>(2)?.cast_unsigned() })
    })?;
    kept.collect()
}

fn oldest(connection: &Connection, kept: &SegmentGroup) -> rusqlite::Result<Vec<Oldest>> {
    let sql = "SELECT id, node, closed_at, rows, closing_hash FROM audit_segments
               WHERE closed_at IS NOT NULL AND owner IS ?1 AND kind IS ?2 ORDER BY id LIMIT ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_map(params![kept.owner, kept.kind, SEGMENTS_AT_A_TIME.cast_signed()], |row| {
        Ok(Oldest {
            id: row.get(0)?,
            node: row.get(1)?,
            closed_at: row.get(2)?,
            rows: row.get::<_, i64>(3)?.cast_unsigned(),
            closing_hash: row.get(4)?,
        })
    })?;
    found.collect()
}

fn last_row_at(connection: &Connection, oldest: &Oldest) -> rusqlite::Result<Option<Timestamp>> {
    let sql = "SELECT row FROM audit WHERE segment = ?1 ORDER BY place DESC LIMIT 1";
    let text = connection
        .prepare_cached(sql)?
        .query_row([oldest.id], |row| row.get::<_, Value>(0))
        .optional()?;
    Ok(match text {
        Some(Value::Text(text)) => serde_json::from_str::<AuditRow>(&text).ok().map(|row| row.at),
        _ => None,
    })
}

fn cut(connection: &Connection, kept: &SegmentGroup, oldest: &Oldest) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM audit WHERE segment = ?1", [oldest.id])?;
    connection.execute("DELETE FROM audit_segments WHERE id = ?1", [oldest.id])?;
    let has_more = "SELECT EXISTS (SELECT 1 FROM audit_segments WHERE node = ?1 AND owner IS ?2 AND kind IS ?3)";
    let anchor = format!("{}{}", anchor_key(NodeId::from_uuid(Uuid::from_bytes(oldest.node))), kept.suffix());
    if connection.query_row(has_more, params![oldest.node, kept.owner, kept.kind], |row| row.get(0))? {
        remember(connection, &anchor, oldest.closing_hash.clone().into())?;
    } else {
        connection.execute("DELETE FROM meta WHERE key = ?1", [anchor])?;
    }
    let before = what_was_cut(connection)?;
    let cut = RemovedSegments {
        segments: before.segments + 1,
        rows: before.rows + oldest.rows,
        last: Some(AuditSegmentId::from_uuid(Uuid::from_bytes(oldest.id))),
        closing_hash: oldest.closing_hash.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    remember(connection, CUT, document(&cut)?)
}

/// What was removed so far; empty if it is unreadable.
pub(super) fn what_was_cut(connection: &Connection) -> rusqlite::Result<RemovedSegments> {
    let text: Option<Value> = connection
        .query_row("SELECT value FROM meta WHERE key = ?1", [CUT], |row| row.get(0))
        .optional()?;
    Ok(match text {
        Some(Value::Text(text)) => serde_json::from_str(&text).unwrap_or_default(),
        _ => RemovedSegments::default(),
    })
}

/// Adds to the record of what is missing of an owner and kind.
fn add_up(connection: &Connection, kept: &SegmentGroup, removal: &AuditRemoval) -> rusqlite::Result<()> {
    let key = format!("{REMOVED}{}", kept.suffix());
    let text: Option<Value> = connection
        .query_row("SELECT value FROM meta WHERE key = ?1", [&key], |row| row.get(0))
        .optional()?;
    let before: Option<AuditRemoval> = match text {
        Some(Value::Text(text)) => serde_json::from_str(&text).ok(),
        _ => None,
    };
    let mut all = removal.clone();
    if let Some(before) = before {
        all.rows += before.rows;
        all.to = all.to.max(before.to);
    }
    remember(connection, &key, document(&all)?)
}

/// What is missing, by owner. Rows removed before this was recorded count for all owners.
pub(super) fn what_is_missing(connection: &Connection) -> rusqlite::Result<Vec<AuditRemoval>> {
    let sql = "SELECT value FROM meta WHERE key = ?1 OR (key > ?1 || ':' AND key < ?1 || ';') ORDER BY key";
    let mut statement = connection.prepare(sql)?;
    let texts = statement.query_map([REMOVED], |row| row.get::<_, Value>(0))?;
    let mut missing = Vec::new();
    for text in texts {
        if let Value::Text(text) = text? {
            missing.extend(serde_json::from_str::<AuditRemoval>(&text).ok());
        }
    }
    let known = missing.iter().map(|removal| removal.rows).sum();
    let rows = what_was_cut(connection)?.rows.saturating_sub(known);
    if rows > 0 {
        let sql = "SELECT min(opened_at) FROM audit_segments";
        let oldest: Option<i64> = connection.query_row(sql, [], |row| row.get(0))?;
        let to = oldest.and_then(|nanos| Timestamp::from_nanosecond(nanos.into()).ok());
        missing.push(AuditRemoval { of: None, kind: None, rows, to });
    }
    Ok(missing)
}

/// The key of the closing hash of a process's last removed segment, and the prefix of the keys of its chains.
pub(super) fn anchor_key(node: NodeId) -> String {
    format!("{CUT}:{node}")
}

fn document(value: &impl Serialize) -> rusqlite::Result<Value> {
    let text = serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    Ok(text.into())
}

fn remember(connection: &Connection, key: &str, value: Value) -> rusqlite::Result<()> {
    let sql = "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    connection.execute(sql, params![key, value])?;
    Ok(())
}

#[cfg(test)]
#[path = "upgrade_tests.rs"]
mod tests;

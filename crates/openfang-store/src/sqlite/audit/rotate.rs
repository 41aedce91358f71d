//! Letting old segments go: sealed ones, whole, oldest first. What the rest hangs on stays behind in `meta`.
//!
//! `audit_cut` counts what was cut and names the last of it; `audit_cut:<node>` is the closing hash that the oldest
//! segment kept of a process links to.

use std::time::Duration;

use jiff::Timestamp;
use openfang_types::ids::{AuditSegmentId, NodeId};
use openfang_types::limits::AUDIT_SEGMENT_ROWS;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::nanos;
use crate::StoreError;
use crate::audit::{AuditRetention, Rotated};
use crate::sqlite::batch::Batch;
use crate::sqlite::unavailable;

const CUT: &str = "audit_cut";
/// Small ones that go in one transaction.
const SEGMENTS_AT_A_TIME: u64 = 100;

/// What has been cut, all in all.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Cut {
    pub(super) segments: u64,
    pub(super) rows: u64,
    /// The last segment that went.
    last: Option<AuditSegmentId>,
    /// The closing hash of that one.
    closing_hash: String,
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

/// Cuts the oldest sealed segments that the rule lets go, as many as fit into a transaction that others wait for.
pub(super) fn cut_some(batch: &Batch<'_>, rule: AuditRetention, now: Timestamp) -> Result<Rotated, StoreError> {
    let connection = batch.connection;
    let mut rotated = Rotated::default();
    let mut kept = sealed_rows(connection).map_err(unavailable)?;
    while rotated.rows < AUDIT_SEGMENT_ROWS && rotated.segments < SEGMENTS_AT_A_TIME {
        let Some(oldest) = oldest(connection).map_err(unavailable)? else { break };
        if kept <= rule.rows && oldest.age(now) <= rule.age {
            break;
        }
        cut(connection, &oldest).map_err(unavailable)?;
        kept = kept.saturating_sub(oldest.rows);
        rotated.segments += 1;
        rotated.rows += oldest.rows;
    }
    Ok(rotated)
}

fn sealed_rows(connection: &Connection) -> rusqlite::Result<u64> {
    let sql = "SELECT coalesce(sum(rows), 0) FROM audit_segments";
    connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned)
}

/// The newest row stays, whoever wrote it: the numbers of rows must never be given twice.
fn oldest(connection: &Connection) -> rusqlite::Result<Option<Oldest>> {
    let sql = "SELECT id, node, closed_at, rows, closing_hash FROM audit_segments
               WHERE closed_at IS NOT NULL AND id IS NOT (SELECT segment FROM audit ORDER BY n DESC LIMIT 1)
               ORDER BY id LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([], |row| {
        Ok(Oldest {
            id: row.get(0)?,
            node: row.get(1)?,
            closed_at: row.get(2)?,
            rows: row.get::<_, i64>(3)?.cast_unsigned(),
            closing_hash: row.get(4)?,
        })
    });
    found.optional()
}

fn cut(connection: &Connection, oldest: &Oldest) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM audit WHERE segment = ?1", [oldest.id])?;
    connection.execute("DELETE FROM audit_segments WHERE id = ?1", [oldest.id])?;
    let has_more = "SELECT EXISTS (SELECT 1 FROM audit_segments WHERE node = ?1)";
    let anchor = anchor_key(NodeId::from_uuid(Uuid::from_bytes(oldest.node)));
    if connection.query_row(has_more, [oldest.node], |row| row.get(0))? {
        remember(connection, &anchor, oldest.closing_hash.clone().into())?;
    } else {
        connection.execute("DELETE FROM meta WHERE key = ?1", [anchor])?;
    }
    let before = what_was_cut(connection)?;
    let cut = Cut {
        segments: before.segments + 1,
        rows: before.rows + oldest.rows,
        last: Some(AuditSegmentId::from_uuid(Uuid::from_bytes(oldest.id))),
        closing_hash: oldest.closing_hash.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    let text = serde_json::to_string(&cut).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    remember(connection, CUT, text.into())
}

/// What has been cut so far; nothing if that cannot be read.
pub(super) fn what_was_cut(connection: &Connection) -> rusqlite::Result<Cut> {
    let text: Option<Value> = connection
        .query_row("SELECT value FROM meta WHERE key = ?1", [CUT], |row| row.get(0))
        .optional()?;
    Ok(match text {
        Some(Value::Text(text)) => serde_json::from_str(&text).unwrap_or_default(),
        _ => Cut::default(),
    })
}

/// Where the closing hash of a process's last cut segment is kept.
pub(super) fn anchor_key(node: NodeId) -> String {
    format!("{CUT}:{node}")
}

fn remember(connection: &Connection, key: &str, value: Value) -> rusqlite::Result<()> {
    let sql = "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    connection.execute(sql, params![key, value])?;
    Ok(())
}

//! Reads rows as they are, including rows that were tampered with.

use openfang_types::ids::AuditSegmentId;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Row};
use uuid::Uuid;

use crate::audit::{AuditEntry, AuditHash, AuditLink};

/// The rows after a number, or the latest ones, oldest first.
pub(in crate::sqlite) fn tail(
    connection: &Connection,
    after: Option<u64>,
    limit: usize,
) -> rusqlite::Result<Vec<AuditEntry>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    match after {
        Some(n) => {
            let sql = "SELECT n, segment, place, row, hash FROM audit WHERE n > ?1 ORDER BY n LIMIT ?2";
            connection.prepare_cached(sql)?.query_map([number(n), limit], read)?.collect()
        }
        None => {
            let sql = "SELECT n, segment, place, row, hash FROM audit ORDER BY n DESC LIMIT ?1";
            let latest: rusqlite::Result<Vec<_>> = connection.prepare_cached(sql)?.query_map([limit], read)?.collect();
            latest.map(|mut entries| {
                entries.reverse();
                entries
            })
        }
    }
}

/// The row of a number.
pub(in crate::sqlite) fn entry(connection: &Connection, n: u64) -> rusqlite::Result<Option<AuditEntry>> {
    let sql = "SELECT n, segment, place, row, hash FROM audit WHERE n = ?1";
    connection.prepare_cached(sql)?.query_row([number(n)], read).optional()
}

fn number(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn read(row: &Row<'_>) -> rusqlite::Result<AuditEntry> {
    let segment = Uuid::from_slice(bytes(row.get_ref(1)?)).ok().map(AuditSegmentId::from_uuid);
    let hash = AuditHash::from_slice(bytes(row.get_ref(4)?));
    let place = row.get::<_, i64>(2).ok().and_then(|place| u64::try_from(place).ok());
    let link = match (segment, place, hash) {
        (Some(segment), Some(place), Some(hash)) => Some(AuditLink { segment, place, hash }),
        _ => None,
    };
    let text = String::from_utf8_lossy(bytes(row.get_ref(3)?)).into();
    Ok(AuditEntry { n: row.get::<_, i64>(0)?.cast_unsigned(), text, link })
}

/// The bytes of a value of any type.
pub(super) fn bytes(value: ValueRef<'_>) -> &[u8] {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => &[],
    }
}

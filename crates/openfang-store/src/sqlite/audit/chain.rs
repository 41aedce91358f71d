//! Writes the chains. The writer tracks their heads, which count only with the commit: a failed batch leaves the chains
//! unchanged. There is one chain for each owner and kind, so that each can have its own retention.
//!
//! The hash of a row is SHA-256 of the previous hash and the row's bytes. The first row of a segment follows the
//! closing hash of this process's previous segment, which is SHA-256 of the last hash, the number of rows (8 bytes,
//! little endian) and the segment's id.

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;
use openfang_types::ids::{AuditSegmentId, NodeId};
use openfang_types::limits::{AUDIT_SEGMENT_AGE, AUDIT_SEGMENT_ROWS};
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::nanos;
use crate::StoreError;
use crate::audit::{AuditHash, AuditStream};
use crate::sqlite::batch::Batch;
use crate::sqlite::unavailable;

/// The heads of this process's chains, one for each owner and kind.
#[derive(Debug)]
pub(in crate::sqlite) struct Chain {
    node: NodeId,
    limits: SegmentLimits,
    strands: HashMap<AuditStream, Strand>,
    /// The chains this transaction has touched, in their previous state.
    before: Vec<(AuditStream, Strand)>,
}

/// The limits of a segment.
#[derive(Debug, Clone, Copy)]
pub(in crate::sqlite) struct SegmentLimits {
    pub(in crate::sqlite) rows: u64,
    pub(in crate::sqlite) age: Duration,
}

#[derive(Debug, Clone, Copy)]
struct Strand {
    segment: Option<Segment>,
    /// The closing hash of the previous segment.
    previous: AuditHash,
    /// Whether this transaction has verified that the segment is still open.
    is_touched: bool,
}

#[derive(Debug, Clone, Copy)]
struct Segment {
    id: AuditSegmentId,
    opened_at: Timestamp,
    rows: u64,
    last: AuditHash,
}

impl Default for SegmentLimits {
    fn default() -> Self {
        Self { rows: AUDIT_SEGMENT_ROWS, age: AUDIT_SEGMENT_AGE }
    }
}

impl Segment {
    fn is_over(&self, limits: &SegmentLimits, at: Timestamp) -> bool {
        let age = Duration::try_from(at.duration_since(self.opened_at)).unwrap_or_default();
        self.rows >= limits.rows || age > limits.age
    }

    fn closing(&self) -> AuditHash {
        closing(&self.last.0, self.rows, self.id.as_uuid().as_bytes())
    }
}

impl Strand {
    const NEW: Self = Self { segment: None, previous: AuditHash::NONE, is_touched: false };

    /// Another process may have taken us for dead and sealed our segment. Then a new segment is started.
    fn check(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let Some(segment) = self.segment else { return Ok(()) };
        let sql = "SELECT closed_at IS NULL FROM audit_segments WHERE id = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        let is_open = statement.query_row([segment.id.as_uuid().as_bytes()], |row| row.get(0)).optional()?;
        if is_open != Some(true) {
            self.previous = segment.closing();
            self.segment = None;
        }
        Ok(())
    }

    fn seal(&mut self, connection: &Connection, at: Timestamp) -> rusqlite::Result<()> {
        if let Some(segment) = self.segment {
            let closing = segment.closing();
            write_seal(connection, segment.id.as_uuid().as_bytes(), segment.rows, closing, at)?;
            self.previous = closing;
            self.segment = None;
        }
        Ok(())
    }
}

impl Chain {
    pub(in crate::sqlite) fn new(node: NodeId, limits: SegmentLimits) -> Self {
        Self { node, limits, strands: HashMap::new(), before: Vec::new() }
    }

    /// Commits the chains' new state, or restores the old one if the transaction failed.
    pub(in crate::sqlite) fn end_transaction(&mut self, is_committed: bool) {
        for (stream, before) in std::mem::take(&mut self.before) {
            let Some(strand) = self.strands.get_mut(&stream) else { continue };
            if !is_committed {
                *strand = before;
            }
            strand.is_touched = false;
        }
    }

    /// A chain that this transaction may extend.
    fn touch(&mut self, connection: &Connection, stream: &AuditStream) -> rusqlite::Result<&mut Strand> {
        let strand = self.strands.entry(stream.clone()).or_insert(Strand::NEW);
        if !strand.is_touched {
            self.before.push((stream.clone(), *strand));
            strand.is_touched = true;
            strand.check(connection)?;
        }
        Ok(strand)
    }

    /// The segment for the next row.
    fn room(&mut self, connection: &Connection, stream: &AuditStream, at: Timestamp) -> rusqlite::Result<&mut Segment> {
        let (node, limits) = (self.node, self.limits);
        let strand = self.touch(connection, stream)?;
        if strand.segment.is_some_and(|segment| segment.is_over(&limits, at)) {
            strand.seal(connection, at)?;
        }
        let segment = match strand.segment {
            Some(segment) => segment,
            None => open(connection, node, strand.previous, stream, at)?,
        };
        Ok(strand.segment.insert(segment))
    }

    /// Seals segments: all of them, or those above the age limit.
    fn seal_where(&mut self, connection: &Connection, at: Timestamp, is_all: bool) -> rusqlite::Result<()> {
        let limits = self.limits;
        let is_wanted = |strand: &Strand| strand.segment.is_some_and(|segment| is_all || segment.is_over(&limits, at));
        let wanted = self.strands.iter().filter(|(_, strand)| is_wanted(strand));
        let wanted: Vec<AuditStream> = wanted.map(|(stream, _)| stream.clone()).collect();
        for stream in wanted {
            self.touch(connection, &stream)?.seal(connection, at)?;
        }
        Ok(())
    }
}

/// Adds a row to a chain of this process.
pub(in crate::sqlite) fn append(
    batch: &mut Batch<'_>,
    stream: &AuditStream,
    at: Timestamp,
    text: &str,
) -> Result<(), StoreError> {
    match try_append(batch, stream, at, text) {
        // A foreign row is in the position of ours. The seal will show that it is not ours, and the chain continues
        // after it.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            tracing::error!(
                "the audit log contains a row that this process did not write; run `openfang audit verify`"
            );
            let connection = batch.connection;
            let sealed = batch.chain.touch(connection, stream).and_then(|strand| strand.seal(connection, at));
            sealed.and_then(|()| try_append(batch, stream, at, text)).map_err(unavailable)
        }
        done => done.map_err(unavailable),
    }
}

fn try_append(batch: &mut Batch<'_>, stream: &AuditStream, at: Timestamp, text: &str) -> rusqlite::Result<()> {
    let segment = batch.chain.room(batch.connection, stream, at)?;
    let (place, hash) = (segment.rows + 1, link(&segment.last.0, text.as_bytes()));
    // A batch is mostly rows, so the statement is looked up once for all of them.
    let statement = match &mut batch.audit_insert {
        Some(statement) => statement,
        none @ None => {
            let sql = "INSERT INTO audit (segment, place, row, hash) VALUES (?1, ?2, ?3, ?4)";
            none.insert(batch.connection.prepare_cached(sql)?)
        }
    };
    statement.execute(params![segment.id.as_uuid().as_bytes(), place.cast_signed(), text, hash.0])?;
    segment.rows = place;
    segment.last = hash;
    Ok(())
}

/// Seals everything this process has written so far.
pub(super) fn seal(batch: &mut Batch<'_>, at: Timestamp) -> Result<(), StoreError> {
    batch.chain.seal_where(batch.connection, at, true).map_err(unavailable)
}

/// Seals the segments this process has kept open for too long.
pub(super) fn seal_old(batch: &mut Batch<'_>, at: Timestamp) -> Result<(), StoreError> {
    batch.chain.seal_where(batch.connection, at, false).map_err(unavailable)
}

/// The processes with an open segment.
pub(super) fn open_nodes(connection: &Connection) -> rusqlite::Result<Vec<NodeId>> {
    let mut statement = connection.prepare_cached("SELECT node FROM audit_segments WHERE closed_at IS NULL")?;
    let nodes = statement.query_map([], |row| row.get(0).map(|id| NodeId::from_uuid(Uuid::from_bytes(id))))?;
    nodes.collect()
}

/// Seals the open segments of dead processes with the rows that exist. Returns the number of segments.
pub(super) fn seal_of(batch: &Batch<'_>, dead: &[NodeId], at: Timestamp) -> Result<usize, StoreError> {
    let (connection, own) = (batch.connection, batch.chain.node);
    let mut sealed = 0;
    for node in dead.iter().filter(|node| **node != own) {
        sealed += seal_open_segments(connection, *node, at).map_err(unavailable)?;
    }
    Ok(sealed)
}

fn seal_open_segments(connection: &Connection, node: NodeId, at: Timestamp) -> rusqlite::Result<usize> {
    let sql = "SELECT id, previous FROM audit_segments WHERE node = ?1 AND closed_at IS NULL";
    let mut statement = connection.prepare_cached(sql)?;
    let open = statement.query_map([node.as_uuid().as_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let open = open.collect::<rusqlite::Result<Vec<([u8; 16], Vec<u8>)>>>()?;
    for (id, previous) in &open {
        let sql = "SELECT place, hash FROM audit WHERE segment = ?1 ORDER BY place DESC LIMIT 1";
        let mut statement = connection.prepare_cached(sql)?;
        let last = statement.query_row([id], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?))).optional()?;
        let (rows, last) = last.unwrap_or_else(|| (0, previous.clone()));
        let rows = rows.cast_unsigned();
        write_seal(connection, id, rows, closing(&last, rows, id), at)?;
    }
    Ok(open.len())
}

/// Opens a segment. If retention removed the previous one, there is nothing to link to.
fn open(
    connection: &Connection,
    node: NodeId,
    previous: AuditHash,
    stream: &AuditStream,
    at: Timestamp,
) -> rusqlite::Result<Segment> {
    let node = node.as_uuid();
    let (owner, kind) = (stream.owner.as_str(), stream.kind.as_str());
    let sql = "SELECT EXISTS (SELECT 1 FROM audit_segments WHERE node = ?1 AND closing_hash = ?2)";
    let is_there = previous.0 != AuditHash::NONE.0
        && connection
            .prepare_cached(sql)?
            .query_row(params![node.as_bytes(), previous.0], |row| row.get(0))?;
    let previous = if is_there { previous } else { AuditHash::NONE };
    let id = AuditSegmentId::from_uuid(Uuid::now_v7());
    let sql = "INSERT INTO audit_segments (id, node, previous, opened_at, owner, kind) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut statement = connection.prepare_cached(sql)?;
    statement.execute(params![id.as_uuid().as_bytes(), node.as_bytes(), previous.0, nanos(at), owner, kind])?;
    // Counted separately, so that a segment that disappeared without any other trace is noticed.
    let sql = "INSERT INTO meta (key, value) VALUES ('audit_segments', 1)
               ON CONFLICT (key) DO UPDATE SET value = value + 1";
    connection.prepare_cached(sql)?.execute([])?;
    Ok(Segment { id, opened_at: at, rows: 0, last: previous })
}

fn write_seal(
    connection: &Connection,
    id: &[u8; 16],
    rows: u64,
    closing: AuditHash,
    at: Timestamp,
) -> rusqlite::Result<()> {
    let sql = "UPDATE audit_segments SET closed_at = ?2, rows = ?3, closing_hash = ?4 WHERE id = ?1";
    connection
        .prepare_cached(sql)?
        .execute(params![id, nanos(at), rows.cast_signed(), closing.0])?;
    Ok(())
}

/// The hash of a row.
pub(super) fn link(previous: &[u8], text: &[u8]) -> AuditHash {
    AuditHash(Sha256::new().chain_update(previous).chain_update(text).finalize().into())
}

/// The hash that seals a segment.
pub(super) fn closing(last: &[u8], rows: u64, id: &[u8; 16]) -> AuditHash {
    AuditHash(
        Sha256::new()
            .chain_update(last)
            .chain_update(rows.to_le_bytes())
            .chain_update(id)
            .finalize()
            .into(),
    )
}

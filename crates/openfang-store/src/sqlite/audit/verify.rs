//! Finds tampering: checks every row against the previous hash, every seal against its rows, every segment against its
//! predecessor. The caller provides one snapshot, so that others can write meanwhile.

use std::collections::HashSet;

use openfang_types::ids::{AuditSegmentId, NodeId};
use rusqlite::{Connection, OptionalExtension as _, Row, Statement};
use uuid::Uuid;

use super::chain::{closing, link};
use super::read::bytes;
use super::rotate::{anchor_key, what_is_missing, what_was_cut};
use crate::audit::{
    AuditFault, AuditGap, AuditHash, AuditOutcome, AuditProblem, AuditRow, AuditStream, AuditVerification,
};

/// A segment as stored, possibly tampered with.
struct Segment {
    id: AuditSegmentId,
    node: NodeId,
    previous: Vec<u8>,
    seal: Option<Seal>,
    /// Whether OpenFang wrote it about the log itself.
    is_about_the_log: bool,
}

struct Seal {
    rows: u64,
    closing_hash: Vec<u8>,
}

/// Verifies the whole log up to the first problem.
pub(in crate::sqlite) fn verify(connection: &Connection) -> rusqlite::Result<AuditVerification> {
    let segments = segments(connection)?;
    let ends = ends(connection, &segments)?;
    let mut verified = AuditVerification { removed: what_is_missing(connection)?, ..AuditVerification::default() };
    for segment in &segments {
        verified.segments += 1;
        verified.open += u64::from(segment.seal.is_none());
        let is_first = segment.previous == AuditHash::NONE.0;
        if !is_first && !ends.contains(&(segment.node, segment.previous.clone())) {
            verified.first_problem = Some(segment.problem(AuditFault::SegmentMissing));
            return Ok(verified.complete());
        }
        let mut walk = SegmentWalk {
            connection,
            segment,
            last: segment.previous.clone(),
            place: 0,
            n: 0,
            gaps: &mut verified.gaps,
        };
        verified.first_problem = walk.rest()?;
        verified.rows += walk.place;
        if verified.first_problem.is_some() {
            return Ok(verified.complete());
        }
    }
    verified.first_problem = missing_segment(connection, &verified)?;
    Ok(verified.complete())
}

/// The verification of one segment, row by row.
struct SegmentWalk<'a> {
    connection: &'a Connection,
    segment: &'a Segment,
    /// The hash, the position and the number of the last valid row.
    last: Vec<u8>,
    place: u64,
    n: u64,
    gaps: &'a mut Vec<AuditGap>,
}

impl SegmentWalk<'_> {
    fn rest(&mut self) -> rusqlite::Result<Option<AuditProblem>> {
        let mut statement = rows_after(self.connection)?;
        let mut rows = statement.query((self.segment.id.as_uuid().as_bytes(), i64::MIN))?;
        while let Some(row) = rows.next()? {
            if let Some(problem) = self.step(row)? {
                return Ok(Some(problem));
            }
        }
        Ok(self.seal())
    }

    fn step(&mut self, row: &Row<'_>) -> rusqlite::Result<Option<AuditProblem>> {
        let n = row.get::<_, i64>(0)?.cast_unsigned();
        let place = row.get::<_, i64>(1).unwrap_or(0).cast_unsigned();
        let (text, stored) = (bytes(row.get_ref(2)?), bytes(row.get_ref(3)?));
        let here = self.place + 1;
        if self.segment.seal.as_ref().is_some_and(|seal| self.place == seal.rows) {
            return Ok(Some(self.segment.problem_at(AuditFault::Added, Some(n), place)));
        }
        if place != here {
            return Ok(Some(self.removed()));
        }
        if n <= self.n {
            return Ok(Some(self.segment.problem_at(AuditFault::Reordered, Some(n), here)));
        }
        let hash = link(&self.last, text);
        if hash.0 != stored {
            return self.mismatch(n, stored).map(Some);
        }
        self.last.clear();
        self.last.extend_from_slice(&hash.0);
        (self.place, self.n) = (here, n);
        if self.segment.is_about_the_log {
            let row = serde_json::from_slice::<AuditRow>(text).ok();
            if let Some(AuditOutcome::Gap(gap)) = row.map(|row| row.outcome) {
                self.gaps.push(gap);
            }
        }
        Ok(None)
    }

    /// A row that does not follow its predecessor. If another row does, they were swapped. If the segment has fewer
    /// rows than its seal says, one was removed and the others moved up.
    fn mismatch(&self, n: u64, stored: &[u8]) -> rusqlite::Result<AuditProblem> {
        let here = self.place + 1;
        let mut statement = rows_after(self.connection)?;
        let mut others = statement.query((self.segment.id.as_uuid().as_bytes(), here.cast_signed()))?;
        let mut present = here;
        while let Some(row) = others.next()? {
            let hash = link(&self.last, bytes(row.get_ref(2)?));
            if hash.0 == stored || hash.0 == bytes(row.get_ref(3)?) {
                return Ok(self.segment.problem_at(AuditFault::Reordered, Some(n), here));
            }
            present += 1;
        }
        let is_short = self.segment.seal.as_ref().is_some_and(|seal| present < seal.rows);
        Ok(if is_short { self.removed() } else { self.segment.problem_at(AuditFault::Changed, Some(n), here) })
    }

    fn seal(&self) -> Option<AuditProblem> {
        let seal = self.segment.seal.as_ref()?;
        if self.place < seal.rows {
            return Some(self.removed());
        }
        let closing = closing(&self.last, self.place, self.segment.id.as_uuid().as_bytes());
        (closing.0 != *seal.closing_hash).then(|| self.segment.problem(AuditFault::SealBroken))
    }

    fn removed(&self) -> AuditProblem {
        let before = (self.place > 0).then_some(self.n);
        self.segment.problem_at(AuditFault::Removed, before, self.place + 1)
    }
}

impl Segment {
    const fn problem(&self, what: AuditFault) -> AuditProblem {
        AuditProblem { what, n: None, segment: Some(self.id), place: None }
    }

    const fn problem_at(&self, what: AuditFault, n: Option<u64>, place: u64) -> AuditProblem {
        AuditProblem { n, place: Some(place), ..self.problem(what) }
    }
}

fn rows_after(connection: &Connection) -> rusqlite::Result<Statement<'_>> {
    connection.prepare("SELECT n, place, row, hash FROM audit WHERE segment = ?1 AND place > ?2 ORDER BY place")
}

fn segments(connection: &Connection) -> rusqlite::Result<Vec<Segment>> {
    let log = AuditStream::of_the_log();
    // A database of an earlier version is verified before its schema is updated.
    let sql = "SELECT EXISTS (SELECT 1 FROM pragma_table_info('audit_segments') WHERE name = 'owner')";
    let streams = if connection.query_row(sql, [], |row| row.get(0))? { "owner, kind" } else { "NULL, NULL" };
    let sql = format!("SELECT id, node, previous, rows, closing_hash, {streams} FROM audit_segments ORDER BY id");
    let mut statement = connection.prepare(&sql)?;
    let segments = statement.query_map([], |row| {
        let id = |bytes: &[u8]| Uuid::from_slice(bytes).unwrap_or_default();
        let rows: Option<i64> = row.get(3).unwrap_or(None);
        let closing_hash = bytes(row.get_ref(4)?).to_vec();
        let is_about_the_log = bytes(row.get_ref(5)?) == log.owner.as_str().as_bytes()
            && bytes(row.get_ref(6)?) == log.kind.as_str().as_bytes();
        Ok(Segment {
            is_about_the_log,
            id: AuditSegmentId::from_uuid(id(bytes(row.get_ref(0)?))),
            node: NodeId::from_uuid(id(bytes(row.get_ref(1)?))),
            previous: bytes(row.get_ref(2)?).to_vec(),
            seal: rows.map(|rows| Seal { rows: rows.cast_unsigned(), closing_hash }),
        })
    })?;
    segments.collect()
}

/// The hashes a segment may link to: the seals of its process, and the anchor of removed segments.
fn ends(connection: &Connection, segments: &[Segment]) -> rusqlite::Result<HashSet<(NodeId, Vec<u8>)>> {
    let seals = segments
        .iter()
        .filter_map(|segment| Some((segment.node, segment.seal.as_ref()?.closing_hash.clone())));
    let mut ends: HashSet<_> = seals.collect();
    let sql = "SELECT value FROM meta WHERE key = ?1 OR (key > ?1 || ':' AND key < ?1 || ';')";
    let mut statement = connection.prepare(sql)?;
    let nodes: HashSet<NodeId> = segments.iter().map(|segment| segment.node).collect();
    for node in nodes {
        let anchors = statement.query_map([anchor_key(node)], |row| Ok(bytes(row.get_ref(0)?).to_vec()))?;
        for hash in anchors {
            ends.insert((node, hash?));
        }
    }
    Ok(ends)
}

/// Segments that are missing and that no other segment links to.
fn missing_segment(connection: &Connection, verified: &AuditVerification) -> rusqlite::Result<Option<AuditProblem>> {
    let missing = |n, segment| AuditProblem { what: AuditFault::SegmentMissing, n, segment, place: None };
    let rows: i64 = connection.query_row("SELECT count(*) FROM audit", [], |row| row.get(0))?;
    if rows.cast_unsigned() != verified.rows {
        let sql =
            "SELECT n, segment FROM audit WHERE segment NOT IN (SELECT id FROM audit_segments) ORDER BY n LIMIT 1";
        let lost = connection.query_row(sql, [], |row| {
            let segment = Uuid::from_slice(bytes(row.get_ref(1)?)).ok().map(AuditSegmentId::from_uuid);
            Ok(missing(Some(row.get::<_, i64>(0)?.cast_unsigned()), segment))
        });
        return lost.optional();
    }
    let sql = "SELECT value FROM meta WHERE key = 'audit_segments'";
    let opened: Option<i64> = connection.query_row(sql, [], |row| row.get(0)).optional()?;
    let known = verified.segments + what_was_cut(connection)?.segments;
    Ok((opened.unwrap_or(0).cast_unsigned() > known).then(|| missing(None, None)))
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;

//! What a look at the whole chain found.

use std::fmt;

use jiff::Timestamp;
use openfang_types::ids::AuditSegmentId;
use serde::Serialize;

use super::{AuditGap, AuditRemoval};

/// What a look at the whole chain found. It ends at the first problem.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// Rows that are as they were written.
    pub rows: u64,
    /// Segments that were looked at.
    pub segments: u64,
    /// How many of them are not sealed: at their end, rows may be missing without a trace.
    pub open: u64,
    /// From when on no row is missing; none if none ever was.
    pub complete_from: Option<Timestamp>,
    /// What retention removed, of each owner and kind.
    pub removed: Vec<AuditRemoval>,
    /// Rows that could not be written.
    pub gaps: Vec<AuditGap>,
    /// The first thing that is wrong.
    #[serde(rename = "problem")]
    pub first_problem: Option<AuditProblem>,
}

/// Something that is not as it was written, and where. What does not apply is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AuditProblem {
    /// What is wrong.
    pub what: AuditFault,
    /// The number of the row; of a row that was removed, the number of the row before it.
    pub n: Option<u64>,
    /// The segment.
    pub segment: Option<AuditSegmentId>,
    /// The place in the segment.
    pub place: Option<u64>,
}

/// What can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuditFault {
    /// A row, or its hash, is another.
    Changed,
    /// A row is not there any more.
    Removed,
    /// A row came after its segment was sealed.
    Added,
    /// A row is not in the place it was written to.
    Reordered,
    /// A whole segment is not there any more.
    SegmentMissing,
    /// A seal is not the one of its rows.
    SealBroken,
}

impl Verified {
    /// Says from when on no row is missing, once all that is missing is known.
    pub(crate) fn complete(mut self) -> Self {
        let removed = self.removed.iter().filter_map(|removal| removal.to);
        self.complete_from = removed.chain(self.gaps.iter().map(|gap| gap.to)).max();
        self
    }
}

impl fmt::Display for AuditProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.what, self.n, self.segment) {
            (AuditFault::Changed, Some(n), _) => write!(f, "row {n} was changed")?,
            (AuditFault::Changed, None, _) => f.write_str("a row was changed")?,
            (AuditFault::Removed, Some(n), _) => write!(f, "a row was removed after row {n}")?,
            (AuditFault::Removed, None, _) => f.write_str("the first row of a segment was removed")?,
            (AuditFault::Added, Some(n), _) => write!(f, "row {n} was added after its segment was sealed")?,
            (AuditFault::Added, None, _) => f.write_str("a row was added after its segment was sealed")?,
            (AuditFault::Reordered, Some(n), _) => write!(f, "row {n} is not in the place it was written to")?,
            (AuditFault::Reordered, None, _) => f.write_str("a row is not in the place it was written to")?,
            (AuditFault::SegmentMissing, Some(n), _) => write!(f, "the segment of row {n} is missing")?,
            (AuditFault::SegmentMissing, None, Some(_)) => f.write_str("the segment before this one is missing")?,
            (AuditFault::SegmentMissing, None, None) => f.write_str("a whole segment is missing")?,
            (AuditFault::SealBroken, _, _) => f.write_str("a seal does not fit the rows of its segment")?,
        }
        match (self.segment, self.place) {
            (Some(segment), Some(place)) => write!(f, " (segment {segment}, place {place})"),
            (Some(segment), None) => write!(f, " (segment {segment})"),
            (None, _) => Ok(()),
        }
    }
}

//! The result of verifying the whole chain.

use std::fmt;

use jiff::Timestamp;
use openfang_types::ids::AuditSegmentId;
use serde::Serialize;

use super::{AuditGap, AuditRemoval};

/// The result of verifying the whole chain. Verification stops at the first problem.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditVerification {
    /// The number of valid rows.
    pub rows: u64,
    /// The number of verified segments.
    pub segments: u64,
    /// The number of unsealed segments. Rows missing at their end cannot be detected.
    pub open: u64,
    /// The time since which no row is missing; none if no row was ever removed.
    pub complete_from: Option<Timestamp>,
    /// What retention removed, by owner and kind.
    pub removed: Vec<AuditRemoval>,
    /// Rows that could not be written.
    pub gaps: Vec<AuditGap>,
    /// The first problem that was found.
    #[serde(rename = "problem")]
    pub first_problem: Option<AuditProblem>,
}

/// A problem and its location. Members that do not apply are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AuditProblem {
    pub what: AuditFault,
    /// The number of the row. For a removed row, the number of the row before it.
    pub n: Option<u64>,
    pub segment: Option<AuditSegmentId>,
    /// The position in the segment.
    pub place: Option<u64>,
}

/// The kinds of problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuditFault {
    /// A row or its hash was changed.
    Changed,
    /// A row is missing.
    Removed,
    /// A row was added after its segment was sealed.
    Added,
    /// A row is not in its original position.
    Reordered,
    /// A whole segment is missing.
    SegmentMissing,
    /// A seal does not match its rows.
    SealBroken,
}

impl AuditVerification {
    /// Determines since when no row is missing, after all removals are known.
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

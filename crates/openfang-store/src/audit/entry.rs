//! A row as stored in the log: its number, its exact bytes, its link in the chain.

use std::fmt;

use openfang_types::ids::AuditSegmentId;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::AuditRow;

/// A row of the log. Its JSON contains the row's bytes exactly as they were hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Its number: the order of writing, across all processes.
    pub n: u64,
    /// The row as JSON, exactly as it was written.
    pub text: Box<str>,
    /// Its link in the chain; none if there is no chain or it is unreadable.
    pub link: Option<AuditLink>,
}

/// The position of a row in the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditLink {
    pub segment: AuditSegmentId,
    /// The position in the segment, from 1.
    pub place: u64,
    /// The hash of the previous hash and this row.
    pub hash: AuditHash,
}

/// SHA-256, written in hexadecimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AuditHash(pub(crate) [u8; 32]);

impl AuditEntry {
    /// The decoded row; an error if it was not written by OpenFang.
    pub fn row(&self) -> Result<AuditRow, serde_json::Error> {
        serde_json::from_str(&self.text)
    }
}

impl AuditHash {
    /// The predecessor of a process's first segment.
    pub(crate) const NONE: Self = Self([0; 32]);

    pub(crate) fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl fmt::Display for AuditHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for AuditHash {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl Serialize for AuditEntry {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut entry = to.serialize_struct("AuditEntry", 5)?;
        entry.serialize_field("n", &self.n)?;
        if let Some(link) = &self.link {
            entry.serialize_field("segment", &link.segment)?;
            entry.serialize_field("place", &link.place)?;
            entry.serialize_field("hash", &link.hash)?;
        }
        match serde_json::from_str::<&RawValue>(&self.text) {
            Ok(row) => entry.serialize_field("row", row)?,
            // Not JSON of ours; as a string it keeps the line readable.
            Err(_) => entry.serialize_field("row", &self.text)?,
        }
        entry.end()
    }
}

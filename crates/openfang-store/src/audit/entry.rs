//! A row as it lies in the log: its number, its very bytes, its link in the chain.

use std::fmt;

use openfang_types::ids::AuditSegmentId;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::AuditRow;

/// A row of the log. As JSON it has the bytes of the row as they were hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Its number: the order of writing, over all processes.
    pub n: u64,
    /// The row as JSON, as it was written.
    pub text: Box<str>,
    /// Its link in the chain; none where there is no chain, or where it cannot be read any more.
    pub link: Option<AuditLink>,
}

/// The place of a row in the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditLink {
    /// The segment.
    pub segment: AuditSegmentId,
    /// The place in the segment, from 1.
    pub place: u64,
    /// The hash of the hash before and this row.
    pub hash: AuditHash,
}

/// SHA-256, written in hexadecimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AuditHash(pub(crate) [u8; 32]);

impl AuditEntry {
    /// What the row says; an error if somebody else wrote it.
    pub fn row(&self) -> Result<AuditRow, serde_json::Error> {
        serde_json::from_str(&self.text)
    }
}

impl AuditHash {
    /// What the first segment of a process links to.
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
            // Not ours; a text keeps the line readable.
            Err(_) => entry.serialize_field("row", &self.text)?,
        }
        entry.end()
    }
}

//! The contract of the audit log: one row when a call that changes something begins, one when any call ends.
//!
//! In a durable home the rows of a process form a chain, each with the hash of the one before, cut into segments that
//! are sealed. [`AuditStore::verify`] finds what was changed, removed or moved since. It proves nothing against somebody
//! who can write the database and makes the whole chain anew; an export kept elsewhere does.

use std::time::Duration;

use jiff::Timestamp;
use openfang_types::ids::{AgentName, NodeId, Owner, RunId, ToolName, TraceId};
use openfang_types::limits::{AUDIT_KEPT_FOR, AUDIT_KEPT_ROWS};
use openfang_types::principal::Door;
use serde::{Deserialize, Serialize};

use crate::StoreFuture;

pub use entry::{AuditEntry, AuditHash, AuditLink};
pub use verified::{AuditFault, AuditProblem, Verified};

mod entry;
mod verified;

/// Who did what. Whoever reads sees all rows that this process has handed over before.
pub trait AuditStore: Send + Sync {
    /// Writes a row and returns when it is safe; for calls that must not happen unrecorded.
    fn commit(&self, row: AuditRow) -> StoreFuture<'_, ()>;
    /// Takes a row without making the caller wait. A crash may lose the last of these.
    fn record(&self, row: AuditRow);
    /// Rows with their numbers, oldest first: the next ones after a number, or the latest ones.
    fn tail(&self, after: Option<u64>, limit: usize) -> StoreFuture<'_, Vec<AuditEntry>>;
    /// One row by its number.
    fn row(&self, n: u64) -> StoreFuture<'_, AuditEntry>;
    /// Looks for the first row that is not as it was written.
    fn verify(&self) -> StoreFuture<'_, Verified>;
    /// Closes this process's chain for now; the next row opens another segment. For an orderly end.
    fn seal(&self, at: Timestamp) -> StoreFuture<'_, ()>;
    /// Closes the chains that dead processes left open. Says how many.
    fn seal_abandoned<'a>(&'a self, living: &'a [NodeId], at: Timestamp) -> StoreFuture<'a, usize>;
    /// Lets old segments go, whole and oldest first.
    fn rotate(&self, rule: AuditRetention, now: Timestamp) -> StoreFuture<'_, Rotated>;

    /// The latest rows, newest last. What cannot be understood is left out.
    fn recent(&self, limit: usize) -> StoreFuture<'_, Vec<AuditRow>> {
        Box::pin(async move {
            let entries = self.tail(None, limit).await?;
            Ok(entries.iter().filter_map(|entry| entry.row().ok()).collect())
        })
    }
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRow {
    /// The request.
    pub trace: TraceId,
    /// When the call began.
    pub at: Timestamp,
    /// Who.
    pub owner: Owner,
    /// Through which door.
    pub door: Door,
    /// Through which agent, if any.
    pub agent: Option<AgentName>,
    /// In which run, if any.
    pub run: Option<RunId>,
    /// What.
    pub tool: ToolName,
    /// How it went.
    pub outcome: AuditOutcome,
    /// How long it took so far.
    pub micros: u64,
}

/// How a call went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuditOutcome {
    /// It passed all checks and is about to happen.
    Started,
    /// The tool answered.
    Succeeded,
    /// The tool answered that it failed.
    ToolFailed,
    /// It was refused or broke, and why.
    Refused(String),
    /// Its caller went away or canceled it.
    Cancelled,
}

/// How much of the log is kept. Only sealed segments are let go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditRetention {
    /// Rows in sealed segments.
    pub rows: u64,
    /// How long after its sealing a segment is kept.
    pub age: Duration,
}

impl Default for AuditRetention {
    fn default() -> Self {
        Self { rows: AUDIT_KEPT_ROWS, age: AUDIT_KEPT_FOR }
    }
}

/// What rotation let go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rotated {
    /// Segments.
    pub segments: u64,
    /// Rows in them.
    pub rows: u64,
}

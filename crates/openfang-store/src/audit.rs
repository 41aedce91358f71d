//! The contract of the audit log: one row when a call that changes something begins, one when any call ends.

use jiff::Timestamp;
use openfang_types::ids::{AgentName, Owner, RunId, ToolName, TraceId};
use openfang_types::principal::Door;
use serde::Serialize;

use crate::StoreFuture;

/// Who did what.
pub trait AuditStore: Send + Sync {
    /// Writes a row and returns when it is safe; for calls that must not happen unrecorded.
    fn commit(&self, row: AuditRow) -> StoreFuture<'_, ()>;
    /// Takes a row without making the caller wait.
    fn record(&self, row: AuditRow);
    /// The latest rows, newest last.
    fn recent(&self, limit: usize) -> StoreFuture<'_, Vec<AuditRow>>;
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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

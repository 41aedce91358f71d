//! The contract of the audit log. A call that changes something has a row when it begins; every call has a row when it
//! ends. There are also rows about changes, logins, changed definitions and reloads (`subject.rs`).
//!
//! The rows of each owner and kind are stored separately, so that nobody can displace the rows of others or hide a
//! change among refusals. Refusals beyond an owner's limit are counted instead (`refusals.rs`). Rows that could not be
//! written, and rows that retention removed, are recorded too (`notes.rs`).
//!
//! In a durable store the rows of a process form chains: each row contains the hash of its predecessor, and chains are
//! split into sealed segments. [`AuditStore::verify`] finds rows that were changed, removed or moved. It cannot detect
//! somebody with write access to the database who rebuilds the whole chain; an export stored elsewhere can.

use std::time::Duration;

use jiff::Timestamp;
use openfang_types::config::AuditConfig;
use openfang_types::ids::{AgentName, NodeId, Owner, RunId, TraceId};
use openfang_types::principal::Door;
use serde::{Deserialize, Deserializer, Serialize};

use crate::StoreFuture;

pub use change::{ChangeAction, ChangeTarget, HomePart};
pub use entry::{AuditEntry, AuditHash, AuditLink};
pub use notes::{AuditGap, AuditRemoval, RefusalSummary};
pub use refusals::RefusalLimits;
pub(crate) use refusals::Refusals;
pub use subject::{ApprovalStep, AuditArguments, AuditSubject, SubjectKind};
pub use verification::{AuditFault, AuditProblem, AuditVerification};

mod change;
mod entry;
mod notes;
mod refusals;
mod stored;
mod subject;
mod verification;

/// Who did what. A read sees all rows that this process has submitted before.
pub trait AuditStore: Send + Sync {
    /// Writes the row of a change and returns when it is durable. For actions that must not happen unrecorded.
    fn commit(&self, row: AuditRow) -> StoreFuture<'_, ()>;
    /// The same for new work, which is refused while the last disk space is reserved for work in progress.
    fn begin(&self, row: AuditRow) -> StoreFuture<'_, ()>;
    /// Accepts a row without making the caller wait. A crash may lose the last of these rows. The row of a change is
    /// retried until it is written. Other rows that cannot be written are counted, and the count is written.
    fn record(&self, kind: AuditKind, row: AuditRow);
    /// Whether rows are written as fast as they arrive. If not, a change whose row nobody waits for must use
    /// [`AuditStore::begin`].
    fn keeps_up(&self) -> bool;
    /// Writes the counts of refusals that are due.
    fn write_counts(&self, now: Timestamp);
    /// Rows with their numbers, oldest first: those after a number, or the latest ones.
    fn tail(&self, after: Option<u64>, limit: usize) -> StoreFuture<'_, Vec<AuditEntry>>;
    /// One row by its number.
    fn row(&self, n: u64) -> StoreFuture<'_, AuditEntry>;
    /// Finds the first row that is not as it was written.
    fn verify(&self) -> StoreFuture<'_, AuditVerification>;
    /// Writes all counts and seals this process's chains; the next row starts a new segment. For an orderly shutdown.
    fn seal(&self, at: Timestamp) -> StoreFuture<'_, ()>;
    /// Seals the chains of dead processes. Returns how many.
    fn seal_abandoned<'a>(&'a self, living: &'a [NodeId], at: Timestamp) -> StoreFuture<'a, usize>;
    /// Removes old segments, whole and oldest first, and records what was removed.
    fn rotate(&self, rule: AuditRetention, now: Timestamp) -> StoreFuture<'_, Rotated>;

    /// The latest rows, newest last. Unreadable rows are skipped.
    fn recent(&self, limit: usize) -> StoreFuture<'_, Vec<AuditRow>> {
        Box::pin(async move {
            let entries = self.tail(None, limit).await?;
            Ok(entries.iter().filter_map(|entry| entry.row().ok()).collect())
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "stored::StoredRow")]
pub struct AuditRow {
    pub trace: TraceId,
    pub at: Timestamp,
    pub owner: Owner,
    pub door: Door,
    /// The agent through which it happened, if any.
    pub agent: Option<AgentName>,
    /// The run in which it happened, if any.
    pub run: Option<RunId>,
    /// What it is about.
    pub subject: AuditSubject,
    pub outcome: AuditOutcome,
    /// The duration so far in microseconds.
    pub micros: u64,
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuditOutcome {
    /// The call passed all checks and is about to run.
    Started,
    Succeeded,
    /// The tool returned an error.
    ToolFailed,
    /// The call was refused or failed, with the reason.
    Refused(String),
    /// The caller disconnected or canceled the call.
    Cancelled,
    /// A changed definition: the tool is quarantined until the operator accepts it.
    Quarantined,
    /// A changed definition: the tool stays available with the new definition.
    StillOffered,
    /// Not a call: refusals of this owner that have no rows of their own.
    Refusals(RefusalSummary),
    /// Not a call: rows that could not be written.
    Gap(AuditGap),
    /// Not a call: rows that retention removed.
    Removed(AuditRemoval),
}

/// How a row is stored: for how long, and whether it can be counted instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuditKind {
    /// A change, from its start to its end, with any outcome.
    Deed,
    /// A read without side effects.
    Read,
    /// A call that was refused before it began.
    Refusal,
    /// A failed login. Anybody can cause these in the name of any user, so they do not count as the user's refusals.
    Login,
}

/// The rows of one kind and owner, which have their own chain and retention.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct AuditStream {
    pub(crate) owner: Owner,
    pub(crate) kind: AuditKind,
}

/// How much of the log is retained. Only sealed segments are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditRetention {
    /// Rows of one owner about changes, and the same number about reads.
    pub rows: u64,
    /// Rows of one owner about refusals, and the same number about failed logins.
    pub refusals: u64,
    /// How long a segment is retained after it was sealed.
    pub age: Duration,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rotated {
    pub segments: u64,
    pub rows: u64,
}

impl AuditOutcome {
    /// The name in rows and commands.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Succeeded => "succeeded",
            Self::ToolFailed => "tool-failed",
            Self::Refused(_) => "refused",
            Self::Cancelled => "cancelled",
            Self::Quarantined => "quarantined",
            Self::StillOffered => "still-offered",
            Self::Refusals(_) => "refusals",
            Self::Gap(_) => "gap",
            Self::Removed(_) => "removed",
        }
    }

    /// The reason of a refusal.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Refused(why) => Some(why),
            Self::Started
            | Self::Succeeded
            | Self::ToolFailed
            | Self::Cancelled
            | Self::Quarantined
            | Self::StillOffered
            | Self::Refusals(_)
            | Self::Gap(_)
            | Self::Removed(_) => None,
        }
    }
}

impl AuditKind {
    pub const ALL: [Self; 4] = [Self::Deed, Self::Read, Self::Refusal, Self::Login];

    /// The name in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deed => "deed",
            Self::Read => "read",
            Self::Refusal => "refusal",
            Self::Login => "login",
        }
    }

    /// The kind with this name.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// The plural in messages.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Deed => "deeds",
            Self::Read => "reads",
            Self::Refusal => "refusals",
            Self::Login => "failed logins",
        }
    }
}

impl AuditStream {
    /// The stream of rows about the log itself, which only OpenFang writes.
    pub(crate) fn of_the_log() -> Self {
        Self { owner: Owner::house(), kind: AuditKind::Deed }
    }
}

impl AuditRetention {
    /// How many rows of a kind are retained. Rows from before kinds existed count as changes.
    pub(crate) fn rows_of(&self, kind: Option<AuditKind>) -> u64 {
        match kind {
            None | Some(AuditKind::Deed | AuditKind::Read) => self.rows,
            Some(AuditKind::Refusal | AuditKind::Login) => self.refusals,
        }
    }
}

impl From<&AuditConfig> for AuditRetention {
    fn from(config: &AuditConfig) -> Self {
        let age = Duration::from_secs(u64::from(config.days) * 86_400);
        Self { rows: config.rows_per_owner, refusals: config.refusals_per_owner, age }
    }
}

impl Default for AuditRetention {
    fn default() -> Self {
        Self::from(&AuditConfig::default())
    }
}

/// Rows about the log belong to OpenFang itself, which is not a user.
fn recorded_owner<'de, D: Deserializer<'de>>(from: D) -> Result<Owner, D::Error> {
    let text = std::borrow::Cow::<str>::deserialize(from)?;
    Owner::from_record(&text).map_err(serde::de::Error::custom)
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;

//! The contract of the audit log: one row when a call that changes something begins, one when any call ends, and rows
//! about changes, logins, changed definitions and reloads (`subject.rs`).
//!
//! Each kind of row of each owner is kept by itself, so that nobody can push out what is known of others, nor hide a
//! deed among refusals. Refusals beyond what an owner may leave are counted (`refusals.rs`); what could not be written,
//! and what retention removed, has a row too (`notes.rs`).
//!
//! In a durable home the rows of a process form chains, each row with the hash of the one before, cut into segments that
//! are sealed. [`AuditStore::verify`] finds what was changed, removed or moved since. It proves nothing against somebody
//! who can write the database and makes the whole chain anew; an export kept elsewhere does.

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
pub use subject::{AuditSubject, SubjectKind};
pub use verified::{AuditFault, AuditProblem, Verified};

mod change;
mod entry;
mod notes;
mod refusals;
mod stored;
mod subject;
mod verified;

/// Who did what. Whoever reads sees all rows that this process has handed over before.
pub trait AuditStore: Send + Sync {
    /// Writes the row of a deed and returns when it is safe; for what must not happen unrecorded.
    fn commit(&self, row: AuditRow) -> StoreFuture<'_, ()>;
    /// The same for new work, which is refused while the last room on the disk is kept for what is under way.
    fn begin(&self, row: AuditRow) -> StoreFuture<'_, ()>;
    /// Takes a row without making the caller wait. A crash may lose the last of these. A row of a deed is kept until it
    /// can be written; other rows are counted when they cannot be, and the count is written.
    fn record(&self, kind: AuditKind, row: AuditRow);
    /// Whether rows are written as fast as they come. While they are not, a deed whose row nobody waits for must not begin
    /// without [`AuditStore::begin`].
    fn keeps_up(&self) -> bool;
    /// Writes the counts of refusals that have waited long enough.
    fn write_counts(&self, now: Timestamp);
    /// Rows with their numbers, oldest first: the next ones after a number, or the latest ones.
    fn tail(&self, after: Option<u64>, limit: usize) -> StoreFuture<'_, Vec<AuditEntry>>;
    /// One row by its number.
    fn row(&self, n: u64) -> StoreFuture<'_, AuditEntry>;
    /// Looks for the first row that is not as it was written.
    fn verify(&self) -> StoreFuture<'_, Verified>;
    /// Writes all counts and closes this process's chains for now; the next row opens another segment. For an orderly
    /// end.
    fn seal(&self, at: Timestamp) -> StoreFuture<'_, ()>;
    /// Closes the chains that dead processes left open. Says how many.
    fn seal_abandoned<'a>(&'a self, living: &'a [NodeId], at: Timestamp) -> StoreFuture<'a, usize>;
    /// Removes old segments, whole and oldest first, and writes down what was removed.
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
#[serde(try_from = "stored::StoredRow")]
pub struct AuditRow {
    /// The request.
    pub trace: TraceId,
    /// When it began.
    pub at: Timestamp,
    /// Who.
    pub owner: Owner,
    /// Through which door.
    pub door: Door,
    /// Through which agent, if any.
    pub agent: Option<AgentName>,
    /// In which run, if any.
    pub run: Option<RunId>,
    /// What it is about.
    pub subject: AuditSubject,
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
    /// Of a changed definition: the tool is taken away until the operator accepts it.
    Quarantined,
    /// Of a changed definition: the tool is offered as it is now.
    StillOffered,
    /// Not a call: refusals of this owner that have no rows of their own.
    Refusals(RefusalSummary),
    /// Not a call: rows that could not be written.
    Gap(AuditGap),
    /// Not a call: rows that retention removed.
    Removed(AuditRemoval),
}

/// How a row is kept: for how long, and whether it can be counted instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuditKind {
    /// Something that was changed, from its start to its end, however it ended.
    Deed,
    /// Something that was only read.
    Read,
    /// Something that was refused before it began.
    Refusal,
    /// A login that failed. Anybody can cause these in the name of any user, so they are not among the user's refusals.
    Login,
}

/// The rows of one kind of one owner: they have a chain and a retention of their own.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct AuditStream {
    pub(crate) owner: Owner,
    pub(crate) kind: AuditKind,
}

/// How much of the log is kept. Only sealed segments are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditRetention {
    /// Rows of one owner about deeds, and as many about reads.
    pub rows: u64,
    /// Rows of one owner about refusals, and as many about failed logins.
    pub refusals: u64,
    /// How long after its sealing a segment is kept.
    pub age: Duration,
}

/// What rotation removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rotated {
    /// Segments.
    pub segments: u64,
    /// Rows in them.
    pub rows: u64,
}

impl AuditOutcome {
    /// The word that rows and commands use.
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

    /// Why it was refused, if it was.
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
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Deed, Self::Read, Self::Refusal, Self::Login];

    /// The word for records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deed => "deed",
            Self::Read => "read",
            Self::Refusal => "refusal",
            Self::Login => "login",
        }
    }

    /// The kind of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// What people call rows of this kind.
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
    /// What the house writes about the log itself. Nobody else can fill it.
    pub(crate) fn of_the_log() -> Self {
        Self { owner: Owner::house(), kind: AuditKind::Deed }
    }
}

impl AuditRetention {
    /// How many rows are kept of a kind; rows from before there were kinds count as deeds.
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

/// Our own rows are about the house too, which is no user.
fn recorded_owner<'de, D: Deserializer<'de>>(from: D) -> Result<Owner, D::Error> {
    let text = std::borrow::Cow::<str>::deserialize(from)?;
    Owner::from_record(&text).map_err(serde::de::Error::custom)
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;

//! The contract of approvals: calls of tools that wait for a person, and what was decided.
//!
//! An approval is about one call: its tool, its arguments and the definition of the tool, as digests. It is used once,
//! by compare-and-set, before the call has an effect:
//!
//! ```text
//! pending ── approve ──> approved ── the call is made ──> used
//!    └────── deny ─────> denied
//! pending and approved ── APPROVAL_LASTS ──> expired
//! ```

use std::fmt;

use jiff::Timestamp;
use openfang_types::ids::{AgentName, ApprovalId, Owner, TaskId, ToolName, TraceId};
use openfang_types::limits::{APPROVALS_FOR_PERSONS, APPROVALS_PER_ASKER, APPROVALS_PER_OWNER, APPROVALS_PER_TASK};
use openfang_types::principal::Door;
use openfang_types::taint::Labels;
use serde::{Deserialize, Serialize};

use crate::{StoreError, StoreFuture};

/// Approvals of owners. One that has expired can be looked at for a while, and not decided or used.
pub trait ApprovalStore: Send + Sync {
    /// Asks for a decision. A call that waits already is not asked for twice: the approval that waits is returned.
    fn request(&self, asked: Approval) -> StoreFuture<'_, Approval>;
    /// The approval, if it is this owner's; of any owner if none is given.
    fn get<'a>(&'a self, owner: Option<&'a Owner>, id: ApprovalId, now: Timestamp)
    -> StoreFuture<'a, Option<Approval>>;
    /// The approvals of an owner, or of all, newest first.
    fn list<'a>(&'a self, owner: Option<&'a Owner>, now: Timestamp) -> StoreFuture<'a, Vec<Approval>>;
    /// Decides on a call that waits. The digest is that of the call that was shown. A [`StoreError::Conflict`] means that
    /// it does not wait any more, or that it is another call.
    fn decide<'a>(&'a self, id: ApprovalId, digest: &'a str, decision: Decision) -> StoreFuture<'a, Approval>;
    /// Uses up an approval for exactly this call. A [`StoreError::Conflict`] means that it is not approved, has expired, was
    /// used, or is for another call.
    fn use_up<'a>(
        &'a self,
        owner: &'a Owner,
        id: ApprovalId,
        call: &'a CallDigests,
        now: Timestamp,
    ) -> StoreFuture<'a, Approval>;
    /// An approval of exactly this call by a caller who is narrowed so, outside of tasks of agents with a model, that can be
    /// used.
    fn find_approved<'a>(
        &'a self,
        whose: (&'a Owner, &'a str),
        call: &'a CallDigests,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<ApprovalId>>;
    /// Deletes what has expired long ago. Says how many there were.
    fn delete_expired(&self, now: Timestamp) -> StoreFuture<'_, usize>;
}

/// What identifies a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallDigests {
    /// SHA-256 of the tool's name and the canonical arguments, in hex.
    pub call: String,
    /// SHA-256 of where the tool comes from and of its definition, in hex.
    pub definition: String,
}

/// Who made a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asker {
    /// What narrows the caller: profiles, and the label of its key; empty for a whole one.
    pub scope: String,
    /// Which caller of the owner it is: how it was recognized.
    pub shown: String,
    /// Whether a person spoke, with all that is the owner's.
    pub is_person: bool,
}

/// A call that waits for a decision, or waited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    pub id: ApprovalId,
    /// Whose call it is.
    pub owner: Owner,
    /// Who made it; none if that is not known.
    pub asker: Option<Asker>,
    /// The task of an agent with a model that goes on after the decision; none for a call that is made again.
    pub task: Option<TaskId>,
    pub agent: Option<AgentName>,
    /// The request that led to the call.
    pub trace: TraceId,
    /// Through which door that request came.
    pub door: Door,
    pub tool: ToolName,
    /// The arguments, as canonical JSON.
    pub arguments: String,
    pub digests: CallDigests,
    /// What led to the question, with its sources.
    pub labels: Labels,
    /// Why a person has to decide, in words.
    pub reason: String,
    /// Whether only somebody at this machine can approve it.
    pub at_machine: bool,
    pub made: Timestamp,
    pub expires: Timestamp,
    pub state: ApprovalState,
    /// Who decided, once somebody has.
    pub decided: Option<Decision>,
}

/// Who decided, and what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub word: DecisionWord,
    pub by: Owner,
    pub door: Door,
    pub at: Timestamp,
}

/// What a person has decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecisionWord {
    Approve,
    Deny,
}

/// How an approval stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalState {
    Pending,
    Approved,
    Denied,
    /// Nobody decided in time, or the call was not made in time.
    Expired,
    Used,
}

impl ApprovalState {
    const ALL: [Self; 5] = [Self::Pending, Self::Approved, Self::Denied, Self::Expired, Self::Used];

    /// The word in JSON and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Used => "used",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

impl fmt::Display for ApprovalState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Approval {
    /// The same, as it stands at this time.
    #[must_use]
    pub(crate) fn at(mut self, now: Timestamp) -> Self {
        if matches!(self.state, ApprovalState::Pending | ApprovalState::Approved) && self.expires <= now {
            self.state = ApprovalState::Expired;
        }
        self
    }

    /// Whether it is decided on or used later.
    pub(crate) fn is_open(&self, now: Timestamp) -> bool {
        matches!(self.state, ApprovalState::Pending | ApprovalState::Approved) && self.expires > now
    }

    pub(crate) fn waits(&self, now: Timestamp) -> bool {
        self.state == ApprovalState::Pending && self.expires > now
    }

    /// Whether this is the same call of the same task, by a caller who is narrowed alike.
    pub(crate) fn is_same_call(&self, other: &Self) -> bool {
        self.digests == other.digests
            && self.task == other.task
            && self.owner == other.owner
            && self.scope() == other.scope()
    }

    /// What narrowed whoever made the call; none if that is not known.
    pub fn scope(&self) -> Option<&str> {
        self.asker.as_ref().map(|asker| asker.scope.as_str())
    }

    /// Whether somebody who is narrowed so may know of it: a whole caller of all that is its owner's, a narrowed one of what
    /// was asked so.
    pub fn is_known_to(&self, narrowing: &str) -> bool {
        narrowing.is_empty() || self.scope() == Some(narrowing)
    }

    /// Whether only a person takes such a place.
    fn is_of_person(&self) -> bool {
        self.asker.as_ref().is_some_and(|asker| asker.is_person)
    }

    /// Whether the other call was made by the same caller, through the same agent.
    fn has_asker_of(&self, other: &Self) -> bool {
        let shown = |approval: &Self| approval.asker.as_ref().map(|asker| asker.shown.clone());
        self.agent == other.agent && self.door == other.door && shown(self) == shown(other)
    }

    /// Refuses this call if there is no room for it among those of its owner that wait.
    pub(crate) fn check_room(&self, waiting: &[&Self]) -> Result<(), StoreError> {
        let too_many = |what, limit| Err(StoreError::TooMany { what, limit });
        if waiting.len() >= APPROVALS_PER_OWNER {
            return too_many("calls that wait for an approval", APPROVALS_PER_OWNER);
        }
        let of_others = waiting.iter().filter(|known| !known.is_of_person()).count();
        if !self.is_of_person() && of_others >= APPROVALS_PER_OWNER - APPROVALS_FOR_PERSONS {
            let limit = APPROVALS_PER_OWNER - APPROVALS_FOR_PERSONS;
            return too_many("calls that no person made and that wait for an approval", limit);
        }
        let of_task = waiting.iter().filter(|known| known.task == self.task).count();
        if self.task.is_some() && of_task >= APPROVALS_PER_TASK {
            return too_many("calls of a task that wait for an approval", APPROVALS_PER_TASK);
        }
        let of_asker = waiting.iter().filter(|known| known.task.is_none() && known.has_asker_of(self)).count();
        if self.task.is_none() && of_asker >= APPROVALS_PER_ASKER {
            return too_many("calls of a caller that wait for an approval", APPROVALS_PER_ASKER);
        }
        Ok(())
    }

    /// The approval after a decision.
    pub(crate) fn decide(
        &mut self,
        digest: &str,
        decision: Decision,
        lasts_until: Timestamp,
    ) -> Result<(), StoreError> {
        if !self.waits(decision.at) || self.digests.call != digest {
            return Err(StoreError::Conflict);
        }
        self.state = match decision.word {
            DecisionWord::Approve => ApprovalState::Approved,
            DecisionWord::Deny => ApprovalState::Denied,
        };
        self.expires = lasts_until;
        self.decided = Some(decision);
        Ok(())
    }

    /// The approval after its call was begun.
    pub(crate) fn use_up(&mut self, call: &CallDigests, now: Timestamp) -> Result<(), StoreError> {
        if !self.is_approved_for(call, now) {
            return Err(StoreError::Conflict);
        }
        self.state = ApprovalState::Used;
        Ok(())
    }

    pub(crate) fn is_approved_for(&self, call: &CallDigests, now: Timestamp) -> bool {
        self.state == ApprovalState::Approved && self.expires > now && self.digests == *call
    }
}

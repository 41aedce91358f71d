//! What an agent with a model remembers of a conversation, and what of it is sent to the model.
//!
//! A transcript is a list of [`TranscriptBody`]s that only grows. It has gaps: a process may die between a call and its
//! result, a person may write while calls run, a call may be denied. Providers accept none of that. [`view()`] turns any
//! list, however it was cut, into a conversation that every provider accepts: the user begins, every call has exactly one
//! result right behind its answer, and no result is without its call. The same list always becomes the same view.
//!
//! What takes too much room is compacted: `plan.rs` decides what stays, and a [`Compaction`] says so from then on.
//!
//! `stored.rs` makes items of the store of them, and reads them back.

use openfang_model::{Block, Cost, NativeItems, Part, Stop, Usage};
use openfang_types::ids::TaskId;
use openfang_types::taint::Labels;
use serde::{Deserialize, Serialize};

mod compaction;
mod plan;
mod room;
mod shorten;
mod size;
mod stored;
mod view;

pub use compaction::{Compaction, CoveredTask, InterruptedCall, RunSpending, Stub};
pub(crate) use plan::CompactionPlan;
pub(crate) use room::Room;
pub(crate) use size::{of_entry, of_items, of_text};
pub use stored::TranscriptError;
pub use view::{TranscriptView, view};
pub(crate) use view::{calls_in, newest_compaction, view_as, with_unique_ids};

/// One entry of a transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptEntry {
    /// The place in the transcript, from 1.
    pub seq: u64,
    /// The task that it was written for.
    pub task: TaskId,
    /// The turn of that task.
    pub turn: u32,
    /// The number of tokens that it takes in a request, if known.
    pub tokens: Option<u64>,
    /// The labels of what the entry brought into the context.
    pub labels: Labels,
    pub body: TranscriptBody,
}

/// One thing that happened in a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TranscriptBody {
    /// A message of the user, also one that arrived while the agent worked.
    User {
        parts: Vec<Part>,
    },
    /// A whole answer of a model.
    Answer {
        blocks: Vec<Block>,
        native: Option<NativeItems>,
        stop: Stop,
        usage: Usage,
        /// What it cost, if the price of the model is known.
        cost: Option<Cost>,
        /// The last entry that the model had read. What the user wrote after it is still to be answered.
        seen: u64,
        /// The labels of the context when the model spoke: its calls are judged with them.
        decided_with: Labels,
    },
    /// A call is about to take effect.
    CallBegun {
        call: String,
        tool: String,
        /// The digest of the tool's definition.
        definition: String,
        /// The digest of the arguments.
        arguments: String,
        /// The approval that allows the call, if one was needed.
        approval: Option<String>,
    },
    CallDone {
        call: String,
        outcome: CallOutcome,
        /// How long the call took.
        millis: u64,
    },
    /// A person is asked to approve calls.
    Asked {
        calls: Vec<AskedCall>,
    },
    Decided {
        approval: String,
        is_approved: bool,
    },
    /// A summary stands for all entries up to a place. The newest one counts.
    Compacted(Box<Compaction>),
    /// Another model goes on.
    Switched {
        model: String,
        reason: String,
    },
}

/// A call that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedCall {
    pub call: String,
    pub approval: String,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    Returned {
        parts: Vec<Part>,
        is_error: bool,
    },
    /// The process died while the call ran.
    Unknown,
    Canceled,
    Denied {
        reason: String,
    },
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;

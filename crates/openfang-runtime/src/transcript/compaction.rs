//! What stands in the place of a part of a transcript.
//!
//! A compaction is complete in itself: of the entries that it covers nothing is read again. So it also carries what a run
//! must know of them after a restart: which messages they were, what the run has spent, and which calls may have happened.

use openfang_model::{Cost, Part};
use openfang_types::ids::TaskId;
use serde::{Deserialize, Serialize};

/// A summary of all entries up to a place, and sentences in the place of results behind it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Compaction {
    pub summary: String,
    /// The place of the last entry that it stands for.
    pub covers: u64,
    /// Covered messages of the user that stay as they are: the first one, then the newest ones, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Vec<Part>>,
    /// Results that were left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stubs: Vec<Stub>,
    /// The tasks that covered entries are of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<CoveredTask>,
    /// Whether there are more of them than are listed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_more_tasks: bool,
    /// Calls of which nobody knows whether they happened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interrupted: Vec<InterruptedCall>,
    /// What the run had spent, this compaction included.
    #[serde(default)]
    pub spent: RunSpending,
    /// About how many tokens the conversation took before and after.
    #[serde(default)]
    pub before: u64,
    #[serde(default)]
    pub after: u64,
}

/// A result that was left out. What stands for it never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stub {
    /// The place of the result.
    pub seq: u64,
    /// What stands for it.
    pub text: String,
    /// The call, in a few words.
    pub of: String,
    /// The id with which `result_read` reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
}

/// A task of which entries are covered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoveredTask {
    pub task: TaskId,
    /// The number of its newest message by then.
    pub turn: u32,
}

/// A call of which nobody knows whether it happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterruptedCall {
    pub task: TaskId,
    /// The digest of its tool and arguments.
    pub arguments: String,
}

/// What a run has spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSpending {
    /// The number of requests to models.
    pub steps: u32,
    pub tokens: u64,
    pub cost: Cost,
}

impl Compaction {
    /// What stands for the covered entries, as the user's words. Empty if it covers nothing.
    pub(crate) fn head(&self) -> Vec<Part> {
        let said = |text: String| Part::Text { text };
        let mut head = Vec::new();
        for (number, message) in self.messages.iter().enumerate() {
            if number == 1 {
                head.push(said("[openfang] Later messages of the user, oldest first:".to_owned()));
            }
            head.extend(message.iter().cloned());
        }
        let handles = self.stubs.iter().filter(|stub| stub.seq <= self.covers).filter_map(|stub| {
            let handle = stub.handle.as_ref()?;
            Some(format!("\n- {}: {handle}", stub.of))
        });
        let handles: String = handles.collect();
        if !handles.is_empty() {
            head.push(said(format!("[openfang] Results that result_read can read, by id:{handles}")));
        }
        if !self.summary.trim().is_empty() {
            head.push(said(format!("Summary of the conversation so far:\n{}", self.summary)));
        }
        head
    }
}

//! How much room a conversation has, and how much of it something takes.

use openfang_types::limits::{COMPACT_AT_PERCENT, COMPACT_SUMMARY_TOKENS, COMPACT_TO_PERCENT};

use super::{TranscriptView, of_items};

/// The part of the room, in percent, that a summary can have.
const SUMMARY_PERCENT: u64 = 12;

/// The room for a conversation, in tokens of the model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// The window without the answer.
    pub(crate) budget: u64,
    /// What the instructions and the tools take.
    pub(crate) fixed: u64,
    /// The tokens of the model for a hundred estimated ones.
    pub(crate) percent: u64,
}

impl Room {
    /// The size from which on a conversation is compacted.
    pub(crate) const fn limit(&self) -> u64 {
        self.budget * COMPACT_AT_PERCENT / 100
    }

    /// The size that it has at most after that.
    pub(crate) const fn target(&self) -> u64 {
        self.budget * COMPACT_TO_PERCENT / 100
    }

    /// The longest summary, in tokens.
    pub(crate) fn summary(&self) -> u64 {
        u64::from(COMPACT_SUMMARY_TOKENS).min(self.budget * SUMMARY_PERCENT / 100).max(16)
    }

    pub(crate) const fn scaled(&self, estimated: u64) -> u64 {
        estimated.saturating_mul(self.percent) / 100
    }

    pub(super) const fn estimated(&self, scaled: u64) -> u64 {
        scaled.saturating_mul(100) / if self.percent == 0 { 100 } else { self.percent }
    }

    /// What a request with this conversation takes.
    pub(crate) fn of_view(&self, view: &TranscriptView) -> u64 {
        self.fixed + self.scaled(of_items(view.items.iter().map(AsRef::as_ref)))
    }
}

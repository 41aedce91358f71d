//! How much of the model's window the next request takes.
//!
//! What a provider has counted is known: the usage of the newest answer. What came since is estimated, and so is everything
//! after a compaction or a switch of models.

use openfang_types::limits::{ANSWER_WINDOW_PERCENT, COMPACT_AT_PERCENT};

use super::work::Work;
use crate::transcript::{Room, TranscriptBody, TranscriptEntry, TranscriptView, of_entry, of_items, of_text};

/// What models make of a hundred estimated tokens, until one has counted.
const USUAL_PERCENT: u64 = 110;

/// What is known of the window beside the model's own facts.
pub(super) struct Window {
    /// The room of a conversation that a provider found too long.
    refused: Option<u64>,
    /// The tokens of the model for a hundred estimated ones.
    percent: u64,
}

impl Default for Window {
    fn default() -> Self {
        Self { refused: None, percent: USUAL_PERCENT }
    }
}

/// The size of the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RequestSize {
    pub(super) tokens: u64,
    /// What of it the instructions and the tools take.
    fixed: u64,
    percent: u64,
}

impl Work<'_> {
    /// Measures the next request.
    pub(super) fn measure(&mut self, view: &TranscriptView) -> RequestSize {
        let fixed = of_text(&self.answerer.agent.system_prompt) + self.tools.tools().estimated_tokens();
        let all = fixed + of_items(view.items.iter().map(AsRef::as_ref));
        let measured = match counted(self.conversation.entries()) {
            Some((input, new)) => {
                let then = all.saturating_sub(new).max(1);
                // A count that is far below is of something else: a server that cut the prompt, or leaves the cache out.
                if input >= then / 2 {
                    self.window.percent = (input.saturating_mul(100) / then).clamp(60, 300);
                    Some(input + new * self.window.percent / 100)
                } else {
                    None
                }
            }
            None => None,
        };
        let percent = self.window.percent;
        let tokens = measured.unwrap_or(all.saturating_mul(percent) / 100);
        RequestSize { tokens, fixed: fixed.saturating_mul(percent) / 100, percent }
    }

    /// Whether the next request would take too much of the window.
    pub(super) fn is_full(&mut self, view: &TranscriptView) -> bool {
        let size = self.measure(view);
        self.room(size).is_some_and(|room| size.tokens > room.limit())
    }

    /// The room for the conversation. None if nobody knows the window.
    pub(super) fn room(&self, size: RequestSize) -> Option<Room> {
        let window = self.chain.target().facts.map(|facts| facts.window).filter(|window| *window > 0);
        let of_model =
            window.map(|window| window - u64::from(self.max_tokens()).min(window * ANSWER_WINDOW_PERCENT / 100));
        let budget = match (of_model, self.window.refused) {
            (Some(one), Some(other)) => one.min(other),
            (one, other) => one.or(other)?,
        };
        Some(Room { budget, fixed: size.fixed, percent: size.percent })
    }

    /// The same, or the room in which the conversation would be just too long.
    pub(super) fn room_or_own(&self, size: RequestSize) -> Room {
        let budget = size.tokens.saturating_mul(100) / COMPACT_AT_PERCENT;
        self.room(size).unwrap_or(Room { budget, fixed: size.fixed, percent: size.percent })
    }

    /// The provider found the request too long: there is less room than was thought.
    pub(super) fn learn_refusal(&mut self, size: RequestSize) {
        self.window.refused = Some(self.window.refused.map_or(size.tokens, |known| known.min(size.tokens)));
    }
}

/// What the provider counted for the newest answer, and the estimate of that answer and everything behind it.
fn counted(entries: &[TranscriptEntry]) -> Option<(u64, u64)> {
    let at = entries.iter().rposition(|entry| {
        matches!(
            entry.body,
            TranscriptBody::Answer { .. } | TranscriptBody::Compacted(_) | TranscriptBody::Switched { .. }
        )
    })?;
    let TranscriptBody::Answer { usage, .. } = &entries[at].body else { return None };
    let new = entries[at..].iter().map(|entry| of_entry(&entry.body)).sum();
    Some((usage.input?, new))
}

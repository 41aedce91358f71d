//! About how many tokens something takes. Providers count exactly, and afterwards; this is for what they have not seen.

use openfang_model::{Block, Item, Part};
use openfang_types::limits::{AUDIO_BYTES_PER_TOKEN, IMAGE_TOKENS, TENTH_CHARS_PER_TOKEN};

use super::{CallOutcome, TranscriptBody};

/// What each message and each call takes beside its text.
const FRAME_TOKENS: u64 = 4;

pub(crate) fn of_text(text: &str) -> u64 {
    let chars = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
    chars.saturating_mul(10).div_ceil(TENTH_CHARS_PER_TOKEN)
}

pub(crate) fn of_parts(parts: &[Part]) -> u64 {
    let sizes = parts.iter().map(|part| match part {
        Part::Text { text } => of_text(text),
        Part::Image(_) => IMAGE_TOKENS,
        Part::Audio(media) => u64::try_from(media.data.len()).unwrap_or(u64::MAX) / AUDIO_BYTES_PER_TOKEN,
    });
    FRAME_TOKENS + sizes.sum::<u64>()
}

pub(crate) fn of_blocks(blocks: &[Block]) -> u64 {
    let sizes = blocks.iter().map(|block| match block {
        Block::Text { text } => of_text(text),
        Block::Thinking { .. } => 0,
        Block::Call(call) => FRAME_TOKENS + of_text(&call.name) + of_text(call.arguments.as_json()),
    });
    FRAME_TOKENS + sizes.sum::<u64>()
}

/// What items take in a request.
pub(crate) fn of_items<'a>(items: impl IntoIterator<Item = &'a Item>) -> u64 {
    let sizes = items.into_iter().map(|item| match item {
        Item::User { parts } => of_parts(parts),
        Item::Answer { blocks, .. } => of_blocks(blocks),
        Item::Results { results } => results.iter().map(|result| of_parts(&result.parts)).sum(),
    });
    sizes.sum()
}

/// What an entry adds to a request.
pub(crate) fn of_entry(body: &TranscriptBody) -> u64 {
    match body {
        TranscriptBody::User { parts } if parts.is_empty() => 0,
        TranscriptBody::User { parts } => of_parts(parts),
        TranscriptBody::Answer { blocks, .. } => of_blocks(blocks),
        TranscriptBody::CallDone { outcome: CallOutcome::Returned { parts, .. }, .. } => of_parts(parts),
        TranscriptBody::CallDone { outcome: CallOutcome::Denied { reason }, .. } => FRAME_TOKENS + of_text(reason),
        TranscriptBody::CallDone { outcome: CallOutcome::Unknown | CallOutcome::Canceled, .. } => 5 * FRAME_TOKENS,
        TranscriptBody::Compacted(compaction) => of_parts(&compaction.head()),
        TranscriptBody::CallBegun { .. }
        | TranscriptBody::Asked { .. }
        | TranscriptBody::Decided { .. }
        | TranscriptBody::Switched { .. } => 0,
    }
}

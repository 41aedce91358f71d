//! Texts and entries in a shorter form.

use openfang_model::{Block, Call, CallArguments, Part};
use serde_json::json;

use super::{CallOutcome, TranscriptBody, TranscriptEntry, size};

/// A call as a person would name it.
pub(super) fn in_few_words(call: &Call) -> String {
    let arguments = shortened(call.arguments.as_json(), 120);
    format!("{} {arguments}", call.name)
}

/// The text of parts; of media only what they are.
pub(super) fn joined(parts: &[Part]) -> String {
    let texts: Vec<String> = parts
        .iter()
        .map(|part| match part {
            Part::Text { text } => text.clone(),
            Part::Image(media) | Part::Audio(media) => format!("[{}, which was left out]", media.media_type),
        })
        .collect();
    texts.join("\n")
}

/// A text of at most about so many characters, with its beginning and its end.
pub(super) fn shortened(text: &str, chars: usize) -> String {
    let all = text.chars().count();
    if all <= chars {
        return text.to_owned();
    }
    let (begin, end) = (chars - chars / 3, chars / 3);
    let first: String = text.chars().take(begin).collect();
    let last: String = text.chars().skip(all - end).collect();
    format!("{first} [... {} characters left out ...] {last}", all - begin - end)
}

/// The first message and the newest ones, in about so many tokens.
pub(super) fn trimmed(messages: &[Vec<Part>], tokens: u64) -> Vec<Vec<Part>> {
    let Some((first, later)) = messages.split_first() else { return Vec::new() };
    let first = cut_message(first, if later.is_empty() { tokens } else { tokens / 2 });
    let mut left = tokens.saturating_sub(size::of_parts(&first));
    let mut kept = Vec::new();
    for message in later.iter().rev() {
        let is_newest = kept.is_empty();
        let size = size::of_parts(message);
        if size > left && !is_newest {
            break;
        }
        kept.push(cut_message(message, left));
        left = left.saturating_sub(size);
    }
    kept.push(first);
    kept.reverse();
    kept
}

fn cut_message(parts: &[Part], tokens: u64) -> Vec<Part> {
    if size::of_parts(parts) <= tokens {
        return parts.to_vec();
    }
    let chars = usize::try_from(tokens.saturating_mul(7) / 2).unwrap_or(usize::MAX).max(60);
    vec![Part::Text { text: shortened(&joined(parts), chars) }]
}

/// An entry whose results and other texts have at most so many characters.
pub(super) fn capped(entry: &TranscriptEntry, results: usize, texts: usize) -> TranscriptEntry {
    let cut = |parts: &[Part], chars: usize| match chars {
        usize::MAX => parts.to_vec(),
        chars => vec![Part::Text { text: shortened(&joined(parts), chars) }],
    };
    let body = match &entry.body {
        TranscriptBody::CallDone { call, outcome: CallOutcome::Returned { parts, is_error }, millis } => {
            let outcome = CallOutcome::Returned { parts: cut(parts, results), is_error: *is_error };
            TranscriptBody::CallDone { call: call.clone(), outcome, millis: *millis }
        }
        TranscriptBody::User { parts } => TranscriptBody::User { parts: cut(parts, texts) },
        TranscriptBody::Answer { blocks, stop, usage, cost, seen, decided_with, .. } if texts != usize::MAX => {
            TranscriptBody::Answer {
                blocks: blocks.iter().map(|block| capped_block(block, texts)).collect(),
                native: None,
                stop: stop.clone(),
                usage: *usage,
                cost: *cost,
                seen: *seen,
                decided_with: decided_with.clone(),
            }
        }
        other => other.clone(),
    };
    TranscriptEntry { body, ..entry.clone() }
}

fn capped_block(block: &Block, chars: usize) -> Block {
    match block {
        Block::Text { text } => Block::Text { text: shortened(text, chars) },
        Block::Call(call) if call.arguments.as_json().len() > chars => {
            let begins = json!({ "begins": shortened(call.arguments.as_json(), chars) });
            Block::Call(Call { arguments: CallArguments::parse(&begins.to_string()), ..call.clone() })
        }
        Block::Thinking { .. } | Block::Call(_) => block.clone(),
    }
}

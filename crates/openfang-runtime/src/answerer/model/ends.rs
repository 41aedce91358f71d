//! How turns end otherwise than with an answer, in sentences that say what to do.

use openfang_model::{Block, Item};
use openfang_types::task::TaskState;

use crate::answerer::Ending;
use crate::transcript::TranscriptView;

/// The provider declines. No other model is asked.
pub(super) fn rejected(why: &str) -> Ending {
    let why = if why.trim().is_empty() { "no reason given" } else { why.trim() };
    Ending::saying(TaskState::Rejected, format!("the model declined to answer: {why}"))
}

pub(super) fn cut_text(limit: u32) -> Ending {
    let why = format!(
        "the answer was cut at the output limit of {limit} tokens; reply `continue` for the rest, or raise max_tokens under \
         [model] in agent.toml"
    );
    Ending::saying(TaskState::InputRequired, why)
}

pub(super) fn cut_calls(limit: u32) -> Ending {
    let why = format!(
        "the model's tool calls were cut at the output limit of {limit} tokens twice in a row; raise max_tokens under [model] \
         in agent.toml, or ask for less at a time"
    );
    Ending::saying(TaskState::Failed, why)
}

/// The conversation does not fit.
pub(super) fn too_long(model: &str) -> Ending {
    let why = format!(
        "the task needs a larger window: what cannot be left out does not fit into the context window of {model}. Give the \
         agent a model with a larger window, or begin a new conversation"
    );
    Ending::saying(TaskState::InputRequired, why)
}

/// The text of the last answer.
pub(super) fn text_of_last(view: &TranscriptView) -> String {
    let blocks = view.items.last().map(|item| match &**item {
        Item::Answer { blocks, .. } => blocks.as_slice(),
        Item::User { .. } | Item::Results { .. } => &[],
    });
    let texts = blocks.unwrap_or_default().iter().filter_map(|block| match block {
        Block::Text { text } => Some(text.as_str()),
        Block::Thinking { .. } | Block::Call(_) => None,
    });
    texts.collect()
}

/// The reasoning that the provider shows.
pub(super) fn thoughts_of(blocks: &[Block]) -> String {
    let thoughts = blocks.iter().filter_map(|block| match block {
        Block::Thinking { text } => Some(text.as_str()),
        Block::Text { .. } | Block::Call(_) => None,
    });
    thoughts.collect()
}

//! Messages that are commands to OpenFang, and nothing for the model.

use openfang_types::taint::{Label, Labels};
use openfang_types::task::Message;

/// The command that compacts the conversation.
const COMPACT: &str = "/compact";

/// Whether a person asks to compact the conversation: the message is this word and nothing else.
pub(super) fn is_compact(message: &Message, labels: &Labels) -> bool {
    let is_person = labels.contains(Label::User) || labels.contains(Label::Operator);
    let is_foreign = labels.iter().any(Label::is_foreign);
    let [part] = message.parts.as_slice() else { return false };
    is_person && !is_foreign && part.as_text() == Some(COMPACT)
}

/// The words after a compaction by hand.
pub(super) fn said(before: u64, after: u64) -> String {
    format!("Compacted the conversation: about {before} tokens before, {after} after.")
}

/// The words if there is nothing to gain.
pub(super) fn nothing_to_gain(size: u64) -> String {
    format!("There is nothing to compact: the conversation takes about {size} tokens.")
}

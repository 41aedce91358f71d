//! Results to size: text is cut, everything else is whole or left out, and a marker says so. A result of which something
//! was left out is an error: a client must not take it for what the tool promised.
//!
//! What a result loses is given back as a list of [`Loss`]es; whoever cuts decides what becomes of them, and marks them.

use std::io;

use openfang_store::ResultForm;
use openfang_types::content::{Block, BlockKind, ToolOutput};
use openfang_types::ids::{ResultId, TaskId};
use openfang_types::limits::{Limits, MCP_ANSWER_BYTES, RESULT_MARKER_CHARS};
use serde::Serialize;
use serde_json::{Map, Value};

/// Something that a result loses.
pub struct Loss {
    /// The block that is marked.
    place: usize,
    what: Lost,
    /// What the content is.
    pub(super) form: ResultForm,
    /// What was there before, also what is still shown of it.
    pub(super) content: String,
}

/// The part of a result that is lost.
enum Lost {
    /// The end of a text, and all texts after it.
    Rest { shown: usize, more: usize },
    /// Something that is too large.
    All { what: &'static str, size: usize, cap: usize },
}

/// What becomes of something that a result loses.
pub(super) enum Fate {
    /// It is kept under an id.
    Kept(ResultId),
    /// A task has all of it.
    OfTask(TaskId),
    /// It is gone, for a reason.
    Gone(&'static str),
}

/// Cuts a result to the limits. The losses are not marked yet.
pub(super) fn to_limits(output: &mut ToolOutput, limits: &Limits) -> Vec<Loss> {
    let mut losses = Vec::new();
    losses.extend(cut_texts(&mut output.content, limits.tool_result_chars));
    for (place, block) in output.content.iter_mut().enumerate() {
        if block.kind() != BlockKind::Text {
            losses.extend(take_if_large(block, place, limits.tool_result_block_bytes));
        }
    }
    limit_structured(output, limits.tool_result_block_bytes, &mut losses);
    output.is_error |= losses.iter().any(Loss::is_of_all);
    losses
}

/// Leaves out what is too large, and cuts nothing. The losses are not marked yet.
pub(super) fn to_byte_limit(output: &mut ToolOutput, cap: usize) -> Vec<Loss> {
    let mut losses = Vec::new();
    for (place, block) in output.content.iter_mut().enumerate() {
        losses.extend(take_if_large(block, place, cap));
    }
    limit_structured(output, cap, &mut losses);
    output.is_error |= !losses.is_empty();
    losses
}

/// Cuts an agent's answer to the limits of a result, and all of it together to what every client takes in one event. The
/// task that it is of has all of it.
pub fn answer_to_limits(output: &mut ToolOutput, limits: &Limits, task: Option<TaskId>) {
    let fate = task.map_or(Fate::Gone("an answer without a task is not stored"), Fate::OfTask);
    for loss in to_limits(output, limits) {
        if let Some(block) = output.content.get_mut(loss.place) {
            loss.mark(block, &fate);
        }
    }
    let (mut whole, mut left) = (0, MCP_ANSWER_BYTES);
    while let Some(rest) = output.content.get(whole).and_then(|block| left.checked_sub(written_size(block))) {
        (whole, left) = (whole + 1, rest);
    }
    let more = output.content.len() - whole;
    if more > 0 {
        output.content.truncate(whole);
        let whole = task.map(|id| format!("; all of it is at openfang://tasks/{id}")).unwrap_or_default();
        output.content.push(Block::text(format!(
            "[{more} more blocks left out: an answer has at most {MCP_ANSWER_BYTES} bytes{whole}]"
        )));
        output.is_error = true;
    }
}

/// How many characters of a text that is too long are shown: with its marker, it stays within the limit.
pub(crate) const fn shown_chars(limit: usize) -> usize {
    let marker = if limit / 2 < RESULT_MARKER_CHARS { limit / 2 } else { RESULT_MARKER_CHARS };
    limit - marker
}

/// Cuts the texts, all together, to so many characters. Texts of which nothing is shown are removed.
fn cut_texts(blocks: &mut Vec<Block>, limit: usize) -> Option<Loss> {
    let is_text = |block: &Block| block.kind() == BlockKind::Text;
    // A text has at most as many characters as it has bytes, so most texts are never counted.
    if blocks.iter().filter(|block| is_text(block)).map(Block::size).sum::<usize>() <= limit {
        return None;
    }
    let length = |block: &Block| block.as_text().map_or(0, |text| text.chars().count());
    let lengths: Vec<usize> = blocks.iter().map(length).collect();
    let all: usize = lengths.iter().sum();
    if all <= limit {
        return None;
    }
    let mut left = shown_chars(limit);
    let place = lengths.iter().position(|length| {
        let is_cut = *length > left;
        left = left.saturating_sub(*length);
        is_cut
    })?;
    let before: usize = lengths[..place].iter().sum();
    let shown = shown_chars(limit) - before;
    let first = blocks.get(place)?;
    let text = first.as_text()?;
    let cut = text.chars().take(shown).collect();
    let mut content = text.clone().into_owned();
    let cut = with_text(first, cut);
    for text in blocks[place + 1..].iter().filter_map(Block::as_text) {
        content.push('\n');
        content.push_str(&text);
    }
    blocks[place] = cut;
    let mut number = 0..;
    blocks.retain(|block| number.next().is_some_and(|number| number <= place) || block.as_text().is_none());
    let what = Lost::Rest { shown, more: all - before - shown };
    Some(Loss { place, what, form: ResultForm::Text, content })
}

/// The block with another text; what else its source wrote stays.
fn with_text(block: &Block, text: String) -> Block {
    let members = block
        .written()
        .and_then(|json| serde_json::from_str::<Map<String, Value>>(json.get()).ok());
    let Some(mut members) = members else { return Block::text(text) };
    members.insert("text".to_owned(), Value::String(text.clone()));
    Block::of(&members).unwrap_or_else(|_| Block::text(text))
}

fn limit_structured(output: &mut ToolOutput, cap: usize, losses: &mut Vec<Loss>) {
    let Some(structured) = output.structured.take_if(|raw| raw.get().len() > cap) else { return };
    let content = String::from(Box::<str>::from(structured));
    let what = Lost::All { what: "structured content", size: content.len(), cap };
    losses.push(Loss { place: output.content.len(), what, form: ResultForm::Json, content });
    output.content.push(Block::text(""));
}

/// Takes the block out if it is too large.
pub(super) fn take_if_large(block: &mut Block, place: usize, cap: usize) -> Option<Loss> {
    let size = block.size();
    if size <= cap {
        return None;
    }
    let what = match block.kind() {
        BlockKind::Text => "text",
        BlockKind::Image => "image",
        BlockKind::Audio => "audio",
        BlockKind::ResourceLink => "link",
        BlockKind::Resource => "resource",
        BlockKind::Other => "block",
    };
    let taken = std::mem::replace(block, Block::text(""));
    let (form, content) = match taken.as_text() {
        Some(text) => (ResultForm::Text, text.into_owned()),
        None => (ResultForm::Json, taken.written().map(|json| json.get().to_owned()).unwrap_or_default()),
    };
    Some(Loss { place, what: Lost::All { what, size, cap }, form, content })
}

impl Loss {
    /// The block that is to be marked.
    pub(super) const fn place(&self) -> usize {
        self.place
    }

    const fn is_of_all(&self) -> bool {
        matches!(self.what, Lost::All { .. })
    }

    /// Says in the block what was lost, and where it is.
    pub(super) fn mark(&self, block: &mut Block, fate: &Fate) {
        *block = match self.what {
            Lost::Rest { shown, more } => {
                let whole = match fate {
                    Fate::Kept(id) => format!(
                        "; read on with result_read, id {id}, offset {shown}, or read all of it at openfang://results/{id}"
                    ),
                    Fate::OfTask(id) => format!("; all of it is at openfang://tasks/{id}"),
                    Fate::Gone(why) => format!(", which are not kept: {why}"),
                };
                let text = block.as_text().unwrap_or_default();
                with_text(block, format!("{text}\n[truncated: {more} more characters{whole}]"))
            }
            Lost::All { what, size, cap } => {
                let whole = match fate {
                    Fate::Kept(id) => format!("; read it with result_read, id {id}, or at openfang://results/{id}"),
                    Fate::OfTask(id) => format!("; it is at openfang://tasks/{id}"),
                    Fate::Gone(why) => format!(", and it is not kept: {why}"),
                };
                Block::text(format!("[{what} of {size} bytes left out: the limit is {cap}{whole}]"))
            }
        };
    }
}

/// How many bytes a value is, written; nothing is kept of it.
fn written_size(value: &impl Serialize) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting cannot fail.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

#[cfg(test)]
#[path = "truncate_tests.rs"]
mod tests;

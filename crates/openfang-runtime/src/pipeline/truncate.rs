//! Results to size: text is cut with a marker, everything else is whole or replaced by a marker. A result of which something
//! was replaced is an error: a client must not take it for what the tool promised.

use std::io;

use openfang_types::content::{Block, BlockKind, ToolOutput};
use openfang_types::limits::{Limits, MCP_ANSWER_BYTES};
use serde::Serialize;
use serde_json::{Map, Value};

/// Cuts a result to the limits.
pub(crate) fn to_limits(output: &mut ToolOutput, limits: &Limits) {
    cut_texts(&mut output.content, limits.tool_result_chars);
    for block in &mut output.content {
        let is_left_out = block.kind() != BlockKind::Text && replace_if_large(block, limits.tool_result_block_bytes);
        output.is_error |= is_left_out;
    }
    limit_structured(output, limits.tool_result_block_bytes);
}

/// Leaves out what is too large, and cuts nothing.
pub(super) fn to_byte_limit(output: &mut ToolOutput, cap: usize) {
    for block in &mut output.content {
        output.is_error |= replace_if_large(block, cap);
    }
    limit_structured(output, cap);
}

/// Cuts an agent's answer to the limits of a result, and all of it together to what every client takes in one event.
pub fn answer_to_limits(output: &mut ToolOutput, limits: &Limits) {
    to_limits(output, limits);
    let (mut whole, mut left) = (0, MCP_ANSWER_BYTES);
    while let Some(rest) = output.content.get(whole).and_then(|block| left.checked_sub(written_size(block))) {
        (whole, left) = (whole + 1, rest);
    }
    let more = output.content.len() - whole;
    if more > 0 {
        output.content.truncate(whole);
        output.content.push(Block::text(format!(
            "[{more} more blocks left out: an answer has at most {MCP_ANSWER_BYTES} bytes]"
        )));
        output.is_error = true;
    }
}

/// Cuts the texts, all together, to so many characters.
fn cut_texts(blocks: &mut [Block], limit: usize) {
    let texts = || blocks.iter().filter(|block| block.kind() == BlockKind::Text);
    // A text has at most as many characters as it has bytes, so most texts are never counted.
    if texts().map(Block::size).sum::<usize>() <= limit {
        return;
    }
    let mut left = limit;
    for block in blocks.iter_mut().filter(|block| block.kind() == BlockKind::Text) {
        let Some(text) = block.as_text() else { continue };
        match text.char_indices().nth(left) {
            Some((end, _)) => {
                let more = text[end..].chars().count();
                let cut = format!("{}\n[truncated: {more} more characters]", &text[..end]);
                left = 0;
                *block = with_text(block, cut);
            }
            None => left -= text.chars().count(),
        }
    }
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

fn limit_structured(output: &mut ToolOutput, cap: usize) {
    if let Some(size) = output.structured.as_ref().map(|raw| raw.get().len()).filter(|size| *size > cap) {
        output.structured = None;
        output.is_error = true;
        output.content.push(marker("structured content", size, cap));
    }
}

/// Whether the block was too large, and is a marker now.
pub(super) fn replace_if_large(block: &mut Block, cap: usize) -> bool {
    let size = block.size();
    if size > cap {
        let what = match block.kind() {
            BlockKind::Text => "text",
            BlockKind::Image => "image",
            BlockKind::Audio => "audio",
            BlockKind::ResourceLink => "link",
            BlockKind::Resource => "resource",
            BlockKind::Other => "block",
        };
        *block = marker(what, size, cap);
    }
    size > cap
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

fn marker(what: &str, size: usize, cap: usize) -> Block {
    Block::text(format!("[{what} of {size} bytes left out: the limit is {cap}]"))
}

#[cfg(test)]
#[path = "truncate_tests.rs"]
mod tests;

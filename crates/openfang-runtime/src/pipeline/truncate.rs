//! Results to size: text is cut with a marker, everything else is whole or replaced by a marker. A result of which something
//! was replaced is an error: a client must not take it for what the tool promised.

use std::io;

use openfang_types::content::{ContentBlock, ToolOutput};
use openfang_types::limits::{Limits, MCP_ANSWER_BYTES};
use serde::Serialize;

/// Cuts a result to the limits.
pub(crate) fn to_limits(mut output: ToolOutput, limits: &Limits) -> ToolOutput {
    let mut left = limits.tool_result_chars;
    for block in &mut output.content {
        match block {
            ContentBlock::Text { text } => left = cut(text, left),
            ContentBlock::Image { .. }
            | ContentBlock::Audio { .. }
            | ContentBlock::ResourceLink { .. }
            | ContentBlock::Resource { .. } => {
                output.is_error |= replace_if_large(block, limits.tool_result_block_bytes);
            }
        }
    }
    let size = output.structured_content.as_ref().map_or(0, written_size);
    if size > limits.tool_result_block_bytes {
        output.structured_content = None;
        output.is_error = true;
        output.content.push(marker("structured content", size, limits.tool_result_block_bytes));
    }
    output
}

/// Cuts an agent's answer to the limits of a result, and all of it together to what every client takes in one event.
pub(crate) fn answer_to_limits(output: ToolOutput, limits: &Limits) -> ToolOutput {
    let mut output = to_limits(output, limits);
    let (mut whole, mut left) = (0, MCP_ANSWER_BYTES);
    while let Some(rest) = output.content.get(whole).and_then(|block| left.checked_sub(written_size(block))) {
        (whole, left) = (whole + 1, rest);
    }
    let more = output.content.len() - whole;
    if more > 0 {
        output.content.truncate(whole);
        output.content.push(ContentBlock::text(format!(
            "[{more} more blocks left out: an answer has at most {MCP_ANSWER_BYTES} bytes]"
        )));
        output.is_error = true;
    }
    output
}

/// Cuts a text to `left` characters and returns what is left for the next one.
fn cut(text: &mut String, left: usize) -> usize {
    // A text has at most as many characters as bytes, so most texts are never counted.
    if text.len() <= left {
        return left - text.len();
    }
    match text.char_indices().nth(left) {
        Some((end, _)) => {
            let more = text[end..].chars().count();
            text.truncate(end);
            text.push_str(&format!("\n[truncated: {more} more characters]"));
            0
        }
        None => left.saturating_sub(text.chars().count()),
    }
}

/// Whether the block was too large.
fn replace_if_large(block: &mut ContentBlock, cap: usize) -> bool {
    let (what, size) = match &*block {
        ContentBlock::Text { .. } => return false,
        ContentBlock::Image { data, .. } => ("image", data.len()),
        ContentBlock::Audio { data, .. } => ("audio", data.len()),
        ContentBlock::ResourceLink { uri, name } => ("link", uri.len() + name.len()),
        ContentBlock::Resource { resource } => ("resource", written_size(resource)),
    };
    if size > cap {
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

fn marker(what: &str, size: usize, cap: usize) -> ContentBlock {
    ContentBlock::text(format!("[{what} of {size} bytes left out: the limit is {cap}]"))
}

#[cfg(test)]
#[path = "truncate_tests.rs"]
mod tests;

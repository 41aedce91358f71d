//! Escapes characters that a terminal obeys instead of showing: control characters and bidirectional overrides. An agent
//! or a tool must not be able to move the cursor, change the title or hide text. Output into a pipe is escaped too, because
//! it often ends up on a terminal.

use std::fmt::Write as _;

use openfang_types::unseen::{is_obeyed, is_unseen};

/// Escapes a text and keeps line breaks and tabs.
pub(super) fn text(text: &str) -> String {
    let lines: Vec<String> = text.split("\r\n").map(|line| replaced(line, &['\n', '\t'], is_obeyed, by_code)).collect();
    lines.join("\r\n")
}

/// Escapes a text to a single line, invisible characters included.
pub(super) fn line(text: &str) -> String {
    replaced(text, &[], is_unseen, |out, c| match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c => by_code(out, c),
    })
}

/// Escapes a text for a table cell, on a single line.
pub(super) fn cell(line: &str) -> String {
    text(&line.trim_end().replace("\r\n", " ").replace(['\n', '\t'], " "))
}

/// Escapes a JSON document, invisible characters included, with JSON escapes. These characters occur only within strings, so
/// the value of the document does not change.
pub(super) fn json(document: &str) -> String {
    replaced(document, &['\n'], is_unseen, |out, c| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    })
}

fn by_code(out: &mut String, c: char) {
    let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
}

fn replaced(text: &str, kept: &[char], is_bad: impl Fn(char) -> bool, write: impl Fn(&mut String, char)) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_bad(c) && !kept.contains(&c) { write(&mut out, c) } else { out.push(c) }
    }
    out
}

#[cfg(test)]
#[path = "escape_tests.rs"]
mod tests;

//! Characters that a terminal would obey instead of showing: control characters, and those that turn the reading
//! direction around. An agent or a tool must not be able to move the cursor, change the title or hide what it did. What
//! goes into a pipe is often shown on a terminal later, so it is escaped too.

use std::fmt::Write as _;

use openfang_types::unseen::{is_obeyed, is_unseen};

/// For people; line breaks and tabs stay.
pub(super) fn text(text: &str) -> String {
    let lines: Vec<String> = text.split("\r\n").map(|line| replaced(line, &['\n', '\t'], is_obeyed, by_code)).collect();
    lines.join("\r\n")
}

/// For a part of a line that must stay one line, where nothing may be invisible: what is shown is what will be used.
pub(super) fn line(text: &str) -> String {
    replaced(text, &[], is_unseen, |out, c| match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c => by_code(out, c),
    })
}

/// For one cell of a table: all on one line.
pub(super) fn cell(line: &str) -> String {
    text(&line.trim_end().replace("\r\n", " ").replace(['\n', '\t'], " "))
}

/// For a JSON document: the same characters and the invisible ones, escaped as JSON does it. They stand within strings
/// only, so the document means what it meant.
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

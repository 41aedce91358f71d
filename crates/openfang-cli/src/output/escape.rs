//! Characters that a terminal would obey instead of showing: control characters, and those that turn the reading
//! direction around. An agent or a tool must not be able to move the cursor, change the title or hide what it did.

use std::fmt::Write as _;

/// For a terminal; line breaks and tabs stay.
pub(super) fn text(text: &str) -> String {
    replaced(text, &['\n', '\t'], |out, c| {
        let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
    })
}

/// For one cell of a table: all on one line.
pub(super) fn cell(line: &str) -> String {
    text(&line.trim_end().replace("\r\n", " ").replace(['\n', '\t'], " "))
}

/// For a JSON document: the same characters, escaped as JSON does it. They stand within strings only.
pub(super) fn json(document: &str) -> String {
    replaced(document, &['\n'], |out, c| {
        let _ = write!(out, "\\u{:04x}", u32::from(c));
    })
}

fn replaced(text: &str, kept: &[char], write: impl Fn(&mut String, char)) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_obeyed(c) && !kept.contains(&c) { write(&mut out, c) } else { out.push(c) }
    }
    out
}

fn is_obeyed(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
#[path = "escape_tests.rs"]
mod tests;

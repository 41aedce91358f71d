//! Names and paths as people and models see them: nothing that moves a cursor, hides text or fills a screen.

use std::fmt::Write as _;

use openfang_types::unseen::is_unseen;

/// Longest path in a message, in characters; the middle of a longer one is left out.
const PATH_MAX_CHARS: usize = 120;
const PATH_HEAD_CHARS: usize = 70;
const PATH_TAIL_CHARS: usize = 40;

/// A path for a message.
pub(super) fn path(path: &str) -> String {
    // Escaping at most doubles what is kept, so a huge input is cut before it is escaped.
    if path.chars().nth(PATH_MAX_CHARS).is_none() {
        return name(path.as_bytes());
    }
    let head: String = path.chars().take(PATH_HEAD_CHARS).collect();
    let tail_start = path.char_indices().rev().nth(PATH_TAIL_CHARS - 1).map_or(0, |(at, _)| at);
    let tail = path.get(tail_start..).unwrap_or_default();
    format!("{}...{}", name(head.as_bytes()), name(tail.as_bytes()))
}

/// A file name, which on Linux may be any bytes. Backslashes are doubled, so that no two names look the same.
pub(super) fn name(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character == '\\' || is_unseen(character) {
                shown.extend(character.escape_default());
            } else {
                shown.push(character);
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}

/// A file name as a key: as it is, unless that is not text or has a backslash.
pub(super) fn unique(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\\') => text.to_owned(),
        Ok(_) | Err(_) => name(bytes),
    }
}

#[cfg(test)]
#[path = "shown_tests.rs"]
mod tests;

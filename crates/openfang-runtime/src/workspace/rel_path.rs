//! The lexical stage: which texts are paths at all. Nothing is looked up and nothing is repaired.
//!
//! Accepted: names separated by `/`, relative to the root; `.` and doubled slashes mean nothing. Refused with a precise
//! [`PathFault`]: everything that another program might read as a way out (`..`, `/x`, `~`, `$HOME`, `..\`, `%2e%2e`).

use std::fmt;

/// As long as the kernel would take it.
const PATH_MAX_BYTES: usize = 4096;
/// As long as common file systems take a name.
const NAME_MAX_BYTES: usize = 255;
/// Each level holds one descriptor during a walk: a path must not use up the process's share of them.
pub(super) const MAX_DEPTH: usize = 64;
/// How often a name may be percent-encoded before we stop asking what it would mean.
const MAX_DECODINGS: usize = 4;

/// A path that stays beneath wherever it starts, as far as its text can tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelPath<'a> {
    text: &'a str,
    names: Vec<&'a str>,
}

impl<'a> RelPath<'a> {
    /// Parses a path as a tool's caller wrote it.
    pub fn parse(text: &'a str) -> Result<Self, PathFault> {
        check_text(text)?;
        let names: Vec<&str> = text.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
        if names.contains(&"..") {
            return Err(PathFault::ParentDirectory);
        }
        if names.iter().any(|name| name.len() > NAME_MAX_BYTES) {
            return Err(PathFault::NameTooLong);
        }
        if names.len() > MAX_DEPTH {
            return Err(PathFault::TooDeep);
        }
        Ok(Self { text, names })
    }

    /// The names on the way down; none for the root itself.
    pub fn names(&self) -> &[&'a str] {
        &self.names
    }

    /// Whether only a directory can be meant, as in `src/`.
    pub fn means_directory(&self) -> bool {
        self.names.is_empty() || self.text.ends_with('/') || self.text.ends_with("/.")
    }

    /// The path as it was written.
    pub fn as_str(&self) -> &'a str {
        self.text
    }
}

/// What makes a text unusable as a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathFault {
    /// No text at all.
    Empty,
    /// More than 4096 bytes.
    TooLong,
    /// A name of more than 255 bytes.
    NameTooLong,
    /// More than 64 levels.
    TooDeep,
    /// A NUL byte, at which a C program would stop reading.
    Nul,
    ControlCharacter,
    Absolute,
    Home,
    /// Starts like a shell variable.
    Variable,
    /// The separator of another system.
    Backslash,
    /// `%2e`, `%2f` and the like, once or several times encoded.
    Encoded,
    ParentDirectory,
    /// Found on the way: links that lead to links without end.
    TooManyLinks,
}

impl fmt::Display for PathFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "it is empty, use '.' for the workspace itself",
            Self::TooLong => "it is longer than 4096 bytes",
            Self::NameTooLong => "one of its names is longer than 255 bytes",
            Self::TooDeep => "it is more than 64 levels deep",
            Self::Nul => "it contains a NUL byte",
            Self::ControlCharacter => "it contains a control character",
            Self::Absolute => "it is absolute, write it relative to the workspace",
            Self::Home => "it starts with '~', write it relative to the workspace",
            Self::Variable => "it starts with a shell variable, which is not expanded here",
            Self::Backslash => "it contains a backslash, separate names with '/'",
            Self::Encoded => "it contains a percent-encoded dot, slash, backslash or NUL, write it plainly",
            Self::ParentDirectory => "it contains '..', write it relative to the workspace without going up",
            Self::TooManyLinks => "it passes through too many links",
        })
    }
}

fn check_text(text: &str) -> Result<(), PathFault> {
    let fault = if text.is_empty() {
        PathFault::Empty
    } else if text.len() > PATH_MAX_BYTES {
        PathFault::TooLong
    } else if text.contains('\0') {
        PathFault::Nul
    } else if text.contains(char::is_control) {
        PathFault::ControlCharacter
    } else if text.starts_with('/') {
        PathFault::Absolute
    } else if text.starts_with('~') {
        PathFault::Home
    } else if starts_with_variable(text) {
        PathFault::Variable
    } else if text.contains('\\') {
        PathFault::Backslash
    } else if hides_separators(text) {
        PathFault::Encoded
    } else {
        return Ok(());
    };
    Err(fault)
}

fn starts_with_variable(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next() == Some('$')
        && characters.next().is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '{' | '('))
}

/// Whether decoding, once or repeatedly, would bring out a dot, a slash, a backslash or a NUL. We never decode; but a
/// path that means something else to whoever does has no business here.
fn hides_separators(text: &str) -> bool {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..MAX_DECODINGS {
        let Some(decoded) = decode_once(&bytes) else { return true };
        if decoded.len() == bytes.len() {
            return false;
        }
        bytes = decoded;
    }
    true
}

/// `None` as soon as a separator comes out.
fn decode_once(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, tail @ ..] = rest {
        let (byte, after) = match rest {
            [b'%', high, low, after @ ..] => match hex(*high).zip(hex(*low)) {
                // 0xc0 and 0xc1 begin only overlong forms, the old disguise of ASCII characters.
                Some((0, 0) | (2, 14 | 15) | (5, 12) | (12, 0 | 1)) => return None,
                Some((high, low)) => (high << 4 | low, after),
                None => (*first, tail),
            },
            _ => (*first, tail),
        };
        decoded.push(byte);
        rest = after;
    }
    Some(decoded)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
#[path = "rel_path_tests.rs"]
mod tests;

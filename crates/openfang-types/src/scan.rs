//! The strict JSON scan: one pass that every inbound frame takes before anything reads it.
//!
//! [`scan`] accepts exactly one RFC 8259 value and refuses what parsers disagree about: duplicate keys, lone
//! surrogates, a byte order mark, nesting beyond [`JSON_MAX_DEPTH`](crate::limits::JSON_MAX_DEPTH), and the keys
//! that `serde_json` keeps for itself. What it accepts may stay `RawValue` and means the same to every later
//! reader; only a number may still be too large for the type somebody wants. It does not recurse, takes linear
//! time whatever the input, and does not allocate for small documents.

use thiserror::Error;

use crate::limits::{JSON_TREE_FREE_BYTES, JSON_TREE_RATIO};

mod document;
mod inline;
mod keys;
mod token;

/// Checks that `bytes` are one strict JSON document, and one that does not become much larger when it is parsed.
pub fn scan(bytes: &[u8]) -> Result<(), ScanError> {
    scan_text(bytes).map(drop)
}

/// Like [`scan`], and hands back the text, so that a parser need not check the UTF-8 again.
pub fn scan_text(bytes: &[u8]) -> Result<&str, ScanError> {
    scan_within(bytes, tree_bytes_allowed(bytes))
}

/// Like [`scan_text`], for a document of any number of values: one that is never parsed as a whole.
pub fn scan_list(bytes: &[u8]) -> Result<&str, ScanError> {
    scan_within(bytes, usize::MAX)
}

/// What a document can take when it is parsed, at most; quickly, and too much rather than too little, because it counts what
/// stands in strings too. A document that [`scan`] refuses takes nothing.
pub fn tree_bytes_at_most(bytes: &[u8]) -> usize {
    document::tree_bytes_at_most(bytes).min(tree_bytes_allowed(bytes))
}

fn tree_bytes_allowed(bytes: &[u8]) -> usize {
    bytes.len().saturating_mul(JSON_TREE_RATIO).max(JSON_TREE_FREE_BYTES)
}

fn scan_within(bytes: &[u8], tree_bytes: usize) -> Result<&str, ScanError> {
    let text = str::from_utf8(bytes).map_err(|error| ScanError::NotUtf8 { offset: error.valid_up_to() })?;
    if text.starts_with('\u{feff}') {
        return Err(ScanError::ByteOrderMark);
    }
    match document::check(text.as_bytes(), tree_bytes) {
        Ok(()) => Ok(text),
        Err(error) => Err(*error),
    }
}

/// Why a document was refused, and the byte where that was seen.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScanError {
    #[error("the document is empty")]
    Empty,
    /// Not UTF-8 from here on.
    #[error("invalid utf-8 at byte {offset}")]
    NotUtf8 {
        /// The first byte that does not belong.
        offset: usize,
    },
    /// RFC 8259 forbids to send one, and readers differ in what they do with it.
    #[error("the document starts with a byte order mark")]
    ByteOrderMark,
    /// Not JSON; also where the document ends too early.
    #[error("expected {expected} at byte {offset}")]
    Syntax {
        /// Where it was expected.
        offset: usize,
        /// What the grammar wanted.
        expected: &'static str,
    },
    /// A raw control character within a string.
    #[error("unescaped control character in a string at byte {offset}")]
    ControlCharacter { offset: usize },
    /// Half of a surrogate pair, written as an escape.
    #[error("lone surrogate at byte {offset}")]
    LoneSurrogate {
        /// The backslash of the escape.
        offset: usize,
    },
    /// More containers within containers than allowed.
    #[error("nested too deeply at byte {offset}")]
    TooDeep {
        /// The bracket that was one too many.
        offset: usize,
    },
    /// So many small values that the document would take many times its size when it is parsed.
    #[error("too many small values for the size of the document at byte {offset}; send fewer or larger ones")]
    TooManyValues {
        /// The value that was one too many.
        offset: usize,
    },
    /// The same key twice in one object, as compared after unescaping.
    #[error("duplicate key {key:?} at byte {offset}")]
    DuplicateKey {
        /// The second key's opening quote.
        offset: usize,
        key: String,
    },
    /// A key that `serde_json` would take as a marker of its own and read something else than we relay.
    #[error("reserved key at byte {offset}")]
    ReservedKey {
        /// The key's opening quote.
        offset: usize,
    },
}

/// Boxed within the scan, so that the results of its small functions travel in registers.
type Scanned<T> = Result<T, Box<ScanError>>;

#[cold]
fn fail<T>(error: ScanError) -> Scanned<T> {
    Err(Box::new(error))
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;

//! Duplicate keys: what the open objects have seen so far.
//!
//! A few plain keys are compared one by one, in place. An object with more of them, or with an escaped one, keeps a
//! seeded hash per key instead, sorted when the object ends: a hostile object can neither make the scan quadratic
//! nor aim at a bucket, and a million keys take 16 bytes each.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use super::inline::InlineStack;
use super::token::{Cursor, Span, Spelling};
use super::{ScanError, Scanned, fail};

/// Up to here comparing beats hashing.
const FEW_KEYS: usize = 32;
/// Keys of all open objects that fit in place.
const INLINE_KEYS: usize = 32;
/// What a duplicate key is cut to in the error.
const SHOWN_CHARS: usize = 64;
/// `serde_json` reads an object with such a first key as something else: a `Value` would not show what we relay.
const RESERVED_PREFIX: &[u8] = b"$serde_json::private::";

/// The keys of all open objects, innermost last.
pub(super) struct Keys<'a> {
    bytes: &'a [u8],
    few: InlineStack<Span, INLINE_KEYS>,
    many: Vec<HashedKey>,
    seed: Option<RandomState>,
}

/// One open object's share of [`Keys`]: from `first` to the end.
#[derive(Clone, Copy)]
pub(super) enum Scope {
    Few {
        first: usize,
        /// A bit for each key seen: a key whose bit is missing is new.
        filter: u64,
    },
    Many {
        first: usize,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct HashedKey {
    hash: u64,
    offset: usize,
}

impl<'a> Keys<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, few: InlineStack::new(), many: Vec::new(), seed: None }
    }

    pub(super) fn open(&self) -> Scope {
        Scope::Few { first: self.few.len(), filter: 0 }
    }

    /// Adds a key to the innermost open object.
    #[inline]
    pub(super) fn add(&mut self, scope: &mut Scope, key: Span, spelling: Spelling) -> Scanned<()> {
        let Scope::Few { first, filter } = scope else {
            return self.add_hashed(key, spelling);
        };
        let seen = &self.few.as_slice()[*first..];
        if spelling == Spelling::Escaped || seen.len() == FEW_KEYS {
            *scope = self.start_hashing(*first)?;
            return self.add_hashed(key, spelling);
        }
        let raw = key.raw(self.bytes);
        let bit = filter_bit(raw);
        if *filter & bit != 0 && seen.iter().any(|other| other.raw(self.bytes) == raw) {
            return fail(duplicate(raw, key.start));
        }
        refuse_reserved(raw, key)?;
        *filter |= bit;
        self.few.push(key);
        Ok(())
    }

    /// Ends the innermost open object.
    #[inline]
    pub(super) fn close(&mut self, scope: Scope) -> Scanned<()> {
        match scope {
            Scope::Few { first, .. } => self.few.truncate(first),
            Scope::Many { first } => {
                self.refuse_duplicates(first)?;
                self.many.truncate(first);
            }
        }
        Ok(())
    }

    #[cold]
    fn start_hashing(&mut self, first_of_few: usize) -> Scanned<Scope> {
        let first = self.many.len();
        for at in first_of_few..self.few.len() {
            self.add_hashed(self.few.as_slice()[at], Spelling::Plain)?;
        }
        self.few.truncate(first_of_few);
        Ok(Scope::Many { first })
    }

    fn add_hashed(&mut self, key: Span, spelling: Spelling) -> Scanned<()> {
        let text = unescape(self.bytes, key, spelling)?;
        refuse_reserved(&text, key)?;
        let hash = self.seed.get_or_insert_default().hash_one(&*text);
        self.many.push(HashedKey { hash, offset: key.start });
        Ok(())
    }

    /// Equal keys have equal hashes, so only keys that share one are looked at again.
    fn refuse_duplicates(&mut self, first: usize) -> Scanned<()> {
        let keys = &mut self.many[first..];
        keys.sort_unstable();
        let mut found: Option<(usize, Cow<'a, [u8]>)> = None;
        for alike in keys.chunk_by(|a, b| a.hash == b.hash).filter(|alike| alike.len() > 1) {
            let mut seen = HashSet::new();
            for &HashedKey { offset, .. } in alike {
                let mut cursor = Cursor::at(self.bytes, offset);
                let spelling = cursor.string()?;
                let text = unescape(self.bytes, cursor.span_from(offset), spelling)?;
                if seen.contains(&text) {
                    // The hashes' order is random; the first duplicate in the document is always the same.
                    found = found.into_iter().chain([(offset, text)]).min_by_key(|(offset, _)| *offset);
                    break;
                }
                seen.insert(text);
            }
        }
        found.map_or(Ok(()), |(offset, text)| fail(duplicate(&text, offset)))
    }
}

/// By `serde_json`, so that keys are equal here exactly when they will be equal there.
fn unescape(bytes: &[u8], key: Span, spelling: Spelling) -> Scanned<Cow<'_, [u8]>> {
    if spelling == Spelling::Plain {
        return Ok(Cow::Borrowed(key.raw(bytes)));
    }
    match serde_json::from_slice::<String>(key.quoted(bytes)) {
        Ok(text) => Ok(Cow::Owned(text.into_bytes())),
        Err(_) => fail(ScanError::Syntax { offset: key.start, expected: "a key" }),
    }
}

/// One of 64 bits, from the ends of the key: enough to tell apart most keys that people put next to each other.
#[inline]
fn filter_bit(key: &[u8]) -> u64 {
    let ends = match (key.first_chunk(), key.last_chunk()) {
        (Some(head), Some(tail)) => u64::from(u32::from_le_bytes(*head)) << 32 | u64::from(u32::from_le_bytes(*tail)),
        _ => key.iter().fold(0, |ends, &byte| ends << 8 | u64::from(byte)),
    };
    1 << (ends.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58)
}

#[inline]
fn refuse_reserved(text: &[u8], key: Span) -> Scanned<()> {
    if text.starts_with(RESERVED_PREFIX) { fail(ScanError::ReservedKey { offset: key.start }) } else { Ok(()) }
}

#[cold]
fn duplicate(key: &[u8], offset: usize) -> ScanError {
    ScanError::DuplicateKey { offset, key: String::from_utf8_lossy(key).chars().take(SHOWN_CHARS).collect() }
}

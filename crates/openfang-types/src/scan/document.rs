//! The grammar: values, arrays and objects, with a stack of open containers in place of recursion.

use super::inline::InlineStack;
use super::keys::{Keys, Scope};
use super::token::Cursor;
use super::{ScanError, Scanned, fail};
use crate::limits::JSON_MAX_DEPTH;

/// Open containers that fit in place.
const INLINE_DEPTH: usize = 16;

/// What a value takes in a parsed tree: itself, in a vector that has grown.
const VALUE_BYTES: usize = 48;
/// What the first value of an array takes beside itself.
const ARRAY_BYTES: usize = 128;
/// What the first key of an object takes beside itself: a node of the tree that keeps keys.
const OBJECT_BYTES: usize = 576;
/// What a key takes beside its text.
const KEY_BYTES: usize = 64;

/// What the values of a document take, counted by the bytes that begin them: one value for each sibling, and one for the
/// first of each container that is not empty. The document itself is not worth counting.
pub(super) fn tree_bytes_at_most(bytes: &[u8]) -> usize {
    const FIRST_OF_ARRAY: usize = VALUE_BYTES + ARRAY_BYTES;
    const FIRST_OF_OBJECT: usize = VALUE_BYTES + OBJECT_BYTES;
    let mut before = 0;
    bytes.iter().fold(0, |all, byte| {
        let opened = std::mem::replace(&mut before, *byte);
        match (opened, byte) {
            (_, b',') => all + VALUE_BYTES,
            (_, b':') => all + KEY_BYTES,
            (_, b'[') => all + FIRST_OF_ARRAY,
            (_, b'{') => all + FIRST_OF_OBJECT,
            (b'[', b']') => all - FIRST_OF_ARRAY,
            (b'{', b'}') => all - FIRST_OF_OBJECT,
            _ => all,
        }
    })
}

/// Checks one whole document, which must not take more than `tree_bytes` when it is parsed.
pub(super) fn check(bytes: &[u8], tree_bytes: usize) -> Scanned<()> {
    let (cursor, keys) = (Cursor::at(bytes, 0), Keys::new(bytes));
    let mut document = Document { cursor, keys, open: InlineStack::new(), left: tree_bytes };
    if document.cursor.token().is_none() {
        return fail(ScanError::Empty);
    }
    while let Next::Value = document.value()? {}
    match document.cursor.token() {
        None => Ok(()),
        Some(_) => document.cursor.expected("the end of the document"),
    }
}

struct Document<'a> {
    cursor: Cursor<'a>,
    keys: Keys<'a>,
    open: InlineStack<Container, INLINE_DEPTH>,
    /// What a parsed tree may still take.
    left: usize,
}

#[derive(Clone, Copy, Default)]
enum Container {
    #[default]
    Array,
    Object(Scope),
}

/// What the grammar wants next.
enum Next {
    Value,
    End,
}

impl<'a> Document<'a> {
    /// A value, or the opening of one that is not empty.
    #[inline]
    fn value(&mut self) -> Scanned<Next> {
        self.spend(VALUE_BYTES)?;
        match self.cursor.token() {
            Some(b'"') => {
                self.cursor.string()?;
            }
            Some(b'-' | b'0'..=b'9') => self.cursor.number()?,
            Some(b'{') => {
                self.open(Container::Object(self.keys.open()))?;
                if self.cursor.token() != Some(b'}') {
                    self.spend(OBJECT_BYTES)?;
                    return self.key();
                }
            }
            Some(b'[') => {
                self.open(Container::Array)?;
                if self.cursor.token() != Some(b']') {
                    self.spend(ARRAY_BYTES)?;
                    return Ok(Next::Value);
                }
            }
            Some(b't') => self.cursor.literal("true")?,
            Some(b'f') => self.cursor.literal("false")?,
            Some(b'n') => self.cursor.literal("null")?,
            _ => return self.cursor.expected("a value"),
        }
        self.after_value()
    }

    /// What follows a value: its sibling, or the end of as many containers as end here.
    #[inline]
    fn after_value(&mut self) -> Scanned<Next> {
        loop {
            let Some(&mut container) = self.open.last_mut() else {
                return Ok(Next::End);
            };
            match (container, self.cursor.token()) {
                (Container::Array, Some(b',')) => {
                    self.cursor.advance();
                    return Ok(Next::Value);
                }
                (Container::Object(_), Some(b',')) => {
                    self.cursor.advance();
                    return self.key();
                }
                (Container::Array, Some(b']')) => self.close(),
                (Container::Object(scope), Some(b'}')) => {
                    self.keys.close(scope)?;
                    self.close();
                }
                (Container::Array, _) => return self.cursor.expected("`,` or `]`"),
                (Container::Object(_), _) => return self.cursor.expected("`,` or `}`"),
            }
        }
    }

    /// A key and its colon.
    #[inline]
    fn key(&mut self) -> Scanned<Next> {
        if self.cursor.token() != Some(b'"') {
            return self.cursor.expected("a key");
        }
        self.spend(KEY_BYTES)?;
        let start = self.cursor.offset();
        let spelling = self.cursor.string()?;
        if let Some(Container::Object(scope)) = self.open.last_mut() {
            self.keys.add(scope, self.cursor.span_from(start), spelling)?;
        }
        if self.cursor.token() != Some(b':') {
            return self.cursor.expected("`:`");
        }
        self.cursor.advance();
        Ok(Next::Value)
    }

    #[inline]
    fn spend(&mut self, bytes: usize) -> Scanned<()> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => fail(ScanError::TooManyValues { offset: self.cursor.offset() }),
        }
    }

    fn open(&mut self, container: Container) -> Scanned<()> {
        if self.open.len() == JSON_MAX_DEPTH {
            return fail(ScanError::TooDeep { offset: self.cursor.offset() });
        }
        self.open.push(container);
        self.cursor.advance();
        Ok(())
    }

    fn close(&mut self) {
        self.open.truncate(self.open.len() - 1);
        self.cursor.advance();
    }
}

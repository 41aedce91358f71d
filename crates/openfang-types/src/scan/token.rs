//! The tokens: whitespace, strings, numbers and literals, read by a cursor over bytes known to be UTF-8.

use super::{ScanError, Scanned, fail};

/// Where the scan stands.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Where a string stands, from its opening quote to behind its closing one.
#[derive(Clone, Copy, Default)]
pub(super) struct Span {
    pub(super) start: usize,
    end: usize,
}

impl Span {
    pub(super) fn quoted(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start..self.end]
    }

    /// As written, without the quotes.
    pub(super) fn raw(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start + 1..self.end - 1]
    }
}

/// Whether a string has to be unescaped to be read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    Plain,
    Escaped,
}

impl<'a> Cursor<'a> {
    pub(super) fn at(bytes: &'a [u8], offset: usize) -> Self {
        Self { bytes, at: offset }
    }

    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// The next byte that is not whitespace.
    #[inline]
    pub(super) fn token(&mut self) -> Option<u8> {
        loop {
            match self.peek() {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                other => return other,
            }
        }
    }

    #[inline]
    pub(super) fn advance(&mut self) {
        self.at += 1;
    }

    /// The string that starts at `start` and was just read.
    #[inline]
    pub(super) fn span_from(&self, start: usize) -> Span {
        Span { start, end: self.at }
    }

    pub(super) fn expected<T>(&self, expected: &'static str) -> Scanned<T> {
        fail(ScanError::Syntax { offset: self.at, expected })
    }

    /// A string whose opening quote is next.
    #[inline]
    pub(super) fn string(&mut self) -> Scanned<Spelling> {
        let mut spelling = Spelling::Plain;
        self.at += 1;
        loop {
            self.at = end_of_plain(self.bytes, self.at);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(spelling);
                }
                Some(b'\\') => {
                    spelling = Spelling::Escaped;
                    self.escape()?;
                }
                Some(_) => return fail(ScanError::ControlCharacter { offset: self.at }),
                None => return self.expected("a closing quote"),
            }
        }
    }

    /// `-? int frac? exp?`, of any size: whoever wants the number decides what fits.
    #[inline]
    pub(super) fn number(&mut self) -> Scanned<()> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    pub(super) fn literal(&mut self, word: &'static str) -> Scanned<()> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return self.expected(word);
        }
        self.at += word.len();
        Ok(())
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn digits(&mut self) -> Scanned<()> {
        let rest = &self.bytes[self.at..];
        let count = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        if count == 0 {
            return self.expected("a digit");
        }
        self.at += count;
        Ok(())
    }

    /// An escape whose backslash is next; a surrogate pair is one escape.
    fn escape(&mut self) -> Scanned<()> {
        let offset = self.at;
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => match self.code_unit()? {
                0xd800..=0xdbff => {
                    let is_escape = self.bytes[self.at..].starts_with(b"\\u");
                    self.at += 1;
                    if !is_escape || !matches!(self.code_unit()?, 0xdc00..=0xdfff) {
                        return fail(ScanError::LoneSurrogate { offset });
                    }
                }
                0xdc00..=0xdfff => return fail(ScanError::LoneSurrogate { offset }),
                _ => {}
            },
            _ => return self.expected("one of \"\\/bfnrtu"),
        }
        Ok(())
    }

    /// `uXXXX`, with the `u` next.
    fn code_unit(&mut self) -> Scanned<u32> {
        self.at += 1;
        let mut unit = 0;
        for _ in 0..4 {
            let Some(digit) = self.peek().and_then(|byte| char::from(byte).to_digit(16)) else {
                return self.expected("four hex digits");
            };
            unit = unit * 16 + digit;
            self.at += 1;
        }
        Ok(unit)
    }
}

/// The lowest bit of every byte; times a byte, that byte eight times.
const LOW_BITS: u64 = u64::MAX / 255;
/// The highest bit of every byte.
const HIGH_BITS: u64 = LOW_BITS << 7;

/// The first byte from `at` on that a string cannot hold as it is: a quote, a backslash or a control character.
#[inline]
fn end_of_plain(bytes: &[u8], mut at: usize) -> usize {
    while let Some(eight) = bytes[at..].first_chunk() {
        let found = special_bytes(u64::from_le_bytes(*eight));
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let tail = &bytes[at..];
    at + tail
        .iter()
        .position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\')
        .unwrap_or(tail.len())
}

/// The high bit of each special byte. A borrow can spoil bytes above the lowest one found, never below it, and
/// the lowest is the only one anybody asks for.
#[inline]
fn special_bytes(word: u64) -> u64 {
    let quote = word ^ (LOW_BITS * u64::from(b'"'));
    let backslash = word ^ (LOW_BITS * u64::from(b'\\'));
    let control = word.wrapping_sub(LOW_BITS * 0x20) & !word;
    let quote = quote.wrapping_sub(LOW_BITS) & !quote;
    let backslash = backslash.wrapping_sub(LOW_BITS) & !backslash;
    (control | quote | backslash) & HIGH_BITS
}

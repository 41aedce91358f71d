//! The forms in which a text can be written: escaped as JSON does, as base64, in a URL.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// Characters of base64 beside a match that may still tell something: those that share bits with it.
const NEIGHBOURS: usize = 3;

/// Whether JSON may write a character as a backslash and a letter. Any other may be written as `\u` and four digits.
pub(super) const fn has_short_escape(letter: char) -> bool {
    matches!(letter, '"' | '\\' | '/' | '\u{8}' | '\u{c}' | '\n' | '\r' | '\t')
}

/// A value as it stands in a URL.
pub(super) fn in_url(value: &str) -> String {
    use std::fmt::Write as _;
    let mut url = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => url.push(char::from(byte)),
            // Writing to a String never fails.
            _ => drop(write!(url, "%{byte:02X}")),
        }
    }
    url
}

/// What base64 of anything that holds the value has in it, wherever the value begins.
pub(super) fn in_base64(value: &str) -> impl Iterator<Item = String> {
    let bytes = value.as_bytes();
    (0..3).flat_map(move |skipped| {
        let whole = bytes.get(skipped..).unwrap_or_default();
        let whole = &whole[..whole.len() / 3 * 3];
        let forms = [STANDARD_NO_PAD.encode(whole), URL_SAFE_NO_PAD.encode(whole)];
        forms.into_iter().filter(|form| !form.is_empty())
    })
}

/// A place in base64, with the characters around it that share bits with it.
pub(super) fn with_neighbours(text: &str, place: Range<usize>) -> Range<usize> {
    let is_base64 = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/-_=".contains(*byte);
    let bytes = text.as_bytes();
    let before = bytes[..place.start].iter().rev().take(NEIGHBOURS).take_while(is_base64).count();
    let after = bytes[place.end..].iter().take(NEIGHBOURS).take_while(is_base64).count();
    place.start - before..place.end + after
}

/// Where the texts of a JSON document are, without their quotes.
pub(super) fn texts(document: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = document.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + bytes.get(at..)?.iter().position(|byte| *byte == b'"')? + 1;
        let mut end = start;
        loop {
            end += bytes.get(end..)?.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
            if bytes[end] == b'"' {
                break;
            }
            end += 2;
        }
        at = end + 1;
        Some(start..end)
    })
}

/// One step of reading escapes: as much of the text as stands for `letter`, or for itself.
struct Unit {
    length: usize,
    letter: Option<char>,
}

impl Unit {
    /// What begins with a backslash at the beginning of this text. One that begins no escape stands for itself.
    fn of(text: &str) -> Self {
        let letter = match text.as_bytes().get(1) {
            Some(letter @ (b'"' | b'\\' | b'/')) => char::from(*letter),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return Self::of_code(text),
            Some(_) | None => return Self { length: 1, letter: None },
        };
        Self { length: 2, letter: Some(letter) }
    }

    fn of_code(text: &str) -> Self {
        let Some(first) = code(text) else { return Self { length: 1, letter: None } };
        if let Some(second) = text.get(6..).and_then(code)
            && let [Ok(letter)] = char::decode_utf16([first, second]).collect::<Vec<_>>()[..]
        {
            return Self { length: 12, letter: Some(letter) };
        }
        Self { length: 6, letter: Some(char::from_u32(u32::from(first)).unwrap_or(char::REPLACEMENT_CHARACTER)) }
    }
}

/// The number in `\uXXXX`.
fn code(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    u16::from_str_radix(digits, 16).ok()
}

/// A text with its escapes read, once.
pub(super) fn unescaped(text: &str) -> String {
    let mut read = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let unit = Unit::of(&rest[at..]);
        read.push_str(&rest[..at]);
        read.push(unit.letter.unwrap_or('\\'));
        rest = &rest[at + unit.length..];
    }
    read.push_str(rest);
    read
}

/// Where spans of [`unescaped`] stand in the text itself. They are in order and apart.
pub(super) fn placed(text: &str, spans: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut walk = Walk { text, read: 0, written: 0 };
    spans.iter().map(|span| walk.to(span.start)..walk.to(span.end)).collect()
}

/// How far a text was read, and how much that comes to without escapes.
struct Walk<'t> {
    text: &'t str,
    read: usize,
    written: usize,
}

impl Walk<'_> {
    fn to(&mut self, target: usize) -> usize {
        while self.written < target {
            let rest = &self.text.as_bytes()[self.read..];
            let rest = &rest[..rest.len().min(target - self.written)];
            let plain = rest.iter().position(|byte| *byte == b'\\').unwrap_or(rest.len());
            (self.read, self.written) = (self.read + plain, self.written + plain);
            if self.written < target {
                let unit = Unit::of(&self.text[self.read..]);
                self.read += unit.length;
                self.written += unit.letter.unwrap_or('\\').len_utf8();
            }
        }
        self.read
    }
}

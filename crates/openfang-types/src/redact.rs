//! Known secrets, taken out of what somebody else wrote: as they stand there, and as JSON, base64 and URLs write them.
//!
//! Where there is no secret nothing is looked at. Else one pass over the bytes decides whether a text has to be taken
//! apart at all; a text without a secret and without an escape is never copied.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use aho_corasick::{AhoCorasick, BuildError};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use crate::limits::CHILD_SECRET_MIN_BYTES;
use crate::secret::REDACTED;

mod forms;

/// How often a text may be JSON within JSON.
const LEVELS: usize = 4;

/// Takes known secrets out of texts.
#[derive(Clone, Default)]
pub struct Redactor {
    values: BTreeSet<Box<str>>,
    finder: Option<Finder>,
}

#[derive(Clone)]
struct Finder {
    /// The secrets and their forms.
    forms: AhoCorasick,
    /// The patterns from here on are base64.
    first_base64: usize,
    /// The escapes with which JSON may write one of them.
    escapes: AhoCorasick,
}

impl Redactor {
    /// Takes these out. A value that is too short would be found everywhere, and is left.
    pub fn new<V: AsRef<str>>(values: impl IntoIterator<Item = V>) -> Result<Self, BuildError> {
        Self::default().with(values)
    }

    /// Takes these out too.
    pub fn with<V: AsRef<str>>(&self, values: impl IntoIterator<Item = V>) -> Result<Self, BuildError> {
        let mut all = self.values.clone();
        for value in values {
            let value = value.as_ref();
            // A key of several lines is often shown line by line.
            let lines = value.lines().map(str::trim);
            let long = [value].into_iter().chain(lines).filter(|value| value.len() >= CHILD_SECRET_MIN_BYTES);
            all.extend(long.map(Box::from));
        }
        // A finder takes long to make, and there may be a thousand agents without a secret.
        if all.len() == self.values.len() {
            return Ok(self.clone());
        }
        Ok(Self { finder: Some(Finder::new(&all)?), values: all })
    }

    /// Whether these are all known already.
    pub fn knows<V: AsRef<str>>(&self, values: &[V]) -> bool {
        let long = values.iter().map(AsRef::as_ref).filter(|value| value.len() >= CHILD_SECRET_MIN_BYTES);
        long.into_iter().all(|value| self.values.contains(value))
    }

    /// Whether a secret is in a text.
    pub fn finds(&self, text: &str) -> bool {
        matches!(self.text(text), Cow::Owned(_))
    }

    /// A text without the secrets.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let finder = self.finder.as_ref().filter(|finder| finder.suspects(text.as_bytes()));
        let clean = finder.and_then(|finder| finder.clean(text, false));
        clean.map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// A JSON document without the secrets: every text in it is looked at as its reader will see it, names of members
    /// included. Everything else stays as it was written.
    pub fn json<'j>(&self, json: &'j [u8]) -> Cow<'j, [u8]> {
        let finder = self.finder.as_ref().filter(|finder| finder.suspects(json));
        // What is not UTF-8 is no JSON.
        let (Some(finder), Ok(document)) = (finder, std::str::from_utf8(json)) else { return Cow::Borrowed(json) };
        let (mut clean, mut copied) = (String::new(), 0);
        for place in forms::texts(document) {
            if let Some(text) = finder.clean(&document[place.clone()], true) {
                clean.push_str(&document[copied..place.start]);
                clean.push_str(&text);
                copied = place.end;
            }
        }
        if copied == 0 {
            return Cow::Borrowed(json);
        }
        clean.push_str(&document[copied..]);
        Cow::Owned(clean.into_bytes())
    }
}

impl Finder {
    fn new(values: &BTreeSet<Box<str>>) -> Result<Self, BuildError> {
        let plain: BTreeSet<String> =
            values.iter().flat_map(|value| [value.to_string(), forms::in_url(value)]).collect();
        let encoded: BTreeSet<String> = plain.iter().flat_map(|value| forms::in_base64(value)).collect();
        let has_short_escape = values.iter().any(|value| value.contains(forms::has_short_escape));
        Ok(Self {
            forms: AhoCorasick::new(plain.iter().chain(&encoded))?,
            first_base64: plain.len(),
            escapes: AhoCorasick::new([if has_short_escape { "\\" } else { "\\u" }])?,
        })
    }

    /// Whether a look at the bytes leaves open that a secret is in there.
    fn suspects(&self, bytes: &[u8]) -> bool {
        self.forms.is_match(bytes) || self.escapes.is_match(bytes)
    }

    /// A text without the secrets, if there is one in it. `is_escaped` says that it stands within a JSON document.
    fn clean(&self, written: &str, is_escaped: bool) -> Option<String> {
        let mut levels = vec![Cow::Borrowed(written)];
        if is_escaped && written.contains('\\') {
            levels.push(Cow::Owned(forms::unescaped(written)));
        }
        let first = levels.last()?;
        if let Some(clean) = self.clean_base64(first) {
            return Some(clean);
        }
        let mut spans = Vec::new();
        loop {
            let (text, below) = levels.split_last()?;
            let found = self.spans(text);
            spans.extend(below.iter().rev().fold(found, |found, text| forms::placed(text, &found)));
            if levels.len() > LEVELS || !text.contains('\\') {
                break;
            }
            let next = forms::unescaped(text);
            levels.push(Cow::Owned(next));
        }
        if spans.is_empty() {
            return None;
        }
        let (mut clean, mut copied) = (String::with_capacity(written.len()), 0);
        for span in merged(spans) {
            clean.push_str(&written[copied..span.start]);
            clean.push_str(REDACTED);
            copied = span.end;
        }
        clean.push_str(&written[copied..]);
        Some(clean)
    }

    /// Where the secrets are, in order and apart.
    fn spans(&self, text: &str) -> Vec<Range<usize>> {
        let span = |hit: aho_corasick::Match| match hit.pattern().as_usize() < self.first_base64 {
            true => hit.range(),
            false => forms::with_neighbours(text, hit.range()),
        };
        merged(self.forms.find_overlapping_iter(text).map(span).collect())
    }

    /// A text that is base64 from end to end and holds a secret: it stays base64, so that its reader can still read it.
    fn clean_base64(&self, text: &str) -> Option<String> {
        let mut hits = self.forms.find_overlapping_iter(text);
        hits.find(|hit| hit.pattern().as_usize() >= self.first_base64)?;
        let (engine, bytes) = [&STANDARD, &URL_SAFE]
            .into_iter()
            .find_map(|engine| Some((engine, engine.decode(text).ok()?)))?;
        let clean = match std::str::from_utf8(&bytes) {
            Ok(text) => self.clean(text, false)?.into_bytes(),
            Err(_) => self.forms.replace_all_bytes(&bytes, &vec![REDACTED; self.forms.patterns_len()]),
        };
        Some(engine.encode(clean))
    }
}

/// Spans in order, those that touch as one.
fn merged(mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    spans.sort_unstable_by_key(|span| span.start);
    let mut apart: Vec<Range<usize>> = Vec::with_capacity(spans.len());
    for span in spans {
        match apart.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            Some(_) | None => apart.push(span),
        }
    }
    apart
}

/// The values are never shown.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("secrets", &self.values.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;

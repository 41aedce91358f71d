//! The user's own words: whether everything in the arguments of a call was said by the user, and which hosts were.

use openfang_egress::url::host_name_of;
use openfang_types::call::Arguments;
use openfang_types::limits::{USER_WORDS_BYTES, USER_WORDS_MIN_CHARS};
use serde_json::Value;

use super::Callee;
use super::exact::is_exact;
use crate::context::CallContext;

/// How much text is searched for the values of one call: what the longest words of a user take for 32 values. It takes a
/// worker a millisecond or two.
const SEARCHED_BYTES: usize = 32 * USER_WORDS_BYTES;

/// Whether every value of the arguments is, word for word, in what the user said. Names of parameters are the tool's.
pub(super) fn is_user_worded<C: Callee>(cx: &CallContext, callee: &C, arguments: &Arguments<'_>) -> bool {
    let (Some(run), Ok(Value::Object(members))) = (&cx.run, arguments.value()) else { return false };
    let said = run.user_words();
    if said.is_empty() || members.is_empty() || !is_exact(arguments) {
        return false;
    }
    let schema = callee.checked_tool().map(|tool| tool.definition().input_schema.clone());
    let is_parameter = |name: &str| schema.as_ref().is_some_and(|schema| schema["properties"].get(name).is_some());
    let mut said = WordSearch::new(&said);
    members
        .iter()
        .all(|(name, value)| (is_parameter(name) || said.has(name)) && said.has_all(value))
}

/// What the user said, to be searched for a bounded time.
struct WordSearch<'a> {
    words: &'a [String],
    length: usize,
    /// How many bytes may still be searched. After that, nothing was said.
    left: usize,
}

impl<'a> WordSearch<'a> {
    fn new(words: &'a [String]) -> Self {
        Self { words, length: words.iter().map(String::len).sum(), left: SEARCHED_BYTES }
    }

    fn has_all(&mut self, value: &Value) -> bool {
        match value {
            Value::Null => false,
            Value::Bool(_) | Value::Number(_) => self.has(&value.to_string()),
            Value::String(text) => self.has(text),
            Value::Array(items) => !items.is_empty() && items.iter().all(|item| self.has_all(item)),
            Value::Object(members) => {
                !members.is_empty() && members.iter().all(|(key, value)| self.has(key) && self.has_all(value))
            }
        }
    }

    /// Whether a text stands somewhere, with borders of words around it.
    fn has(&mut self, text: &str) -> bool {
        let Some(left) = self.left.checked_sub(self.length) else { return false };
        self.left = left;
        is_said(self.words, text)
    }
}

/// Whether a text stands somewhere, with borders of words around it.
fn is_said(said: &[String], text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.chars().count() >= USER_WORDS_MIN_CHARS && said.iter().any(|words| stands_alone(words, text, is_part))
}

/// Whether a needle occurs with nothing beside it that would make it part of something longer.
fn stands_alone(words: &str, needle: &str, is_part: impl Fn(char) -> bool) -> bool {
    words.match_indices(needle).any(|(at, _)| {
        let before = words[..at].chars().next_back();
        let after = words[at + needle.len()..].chars().next();
        !before.is_some_and(&is_part) && !after.is_some_and(&is_part)
    })
}

/// Whether a URL leads to a host that the user named or the operator listed. What else the arguments contain does not count.
pub(super) fn is_of_known_host(cx: &CallContext, url: Option<&str>) -> bool {
    url.and_then(host_name_of).is_some_and(|host| is_known_host(cx, &host))
}

/// Whether the user named a host in this conversation, or the operator listed it.
fn is_known_host(cx: &CallContext, host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    if cx.config.web.may_read_from(&host) {
        return true;
    }
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '@' | '%');
    let Some(run) = &cx.run else { return false };
    run.user_words().iter().any(|words| {
        let words = words.to_ascii_lowercase();
        words.match_indices(&host).any(|(at, _)| {
            let before = words[..at].chars().next_back();
            let mut after = words[at + host.len()..].chars();
            let next = after.next();
            let ends = match next {
                // The end of a sentence, not of a longer name.
                Some('.') => !after.next().is_some_and(is_part),
                next => !next.is_some_and(is_part),
            };
            !before.is_some_and(|c| is_part(c) || c == '.') && ends
        })
    })
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;

//! The words of an error, in whichever of the known shapes they come.

use std::time::Duration;

use serde_json::Value;

use crate::retry_after::duration;

/// What an error body says.
#[derive(Debug, Default)]
pub(super) struct ErrorWords {
    pub(super) kind: Option<String>,
    pub(super) code: Option<String>,
    pub(super) message: String,
    pub(super) request_id: Option<String>,
    pub(super) retry_delay: Option<Duration>,
    param: String,
    /// Everything that is compared with the table, in lower case.
    searched: String,
}

impl ErrorWords {
    /// Reads a body. What is not JSON has no words: it is a page of some proxy.
    pub(super) fn read(body: &[u8]) -> Self {
        let Ok(document) = serde_json::from_slice::<Value>(body) else {
            let is_page = body.trim_ascii_start().starts_with(b"<");
            let text = if is_page { String::new() } else { String::from_utf8_lossy(body).into_owned() };
            return Self { message: text.trim().to_owned(), ..Self::default() };
        };
        // Gemini writes a list when it does not stream.
        let document = if document.is_array() { &document[0] } else { &document };
        let error = match &document["error"] {
            Value::Null => document,
            error => error,
        };
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            _ => None,
        };
        let message = text(&error["message"]).or_else(|| text(error)).or_else(|| text(&document["detail"]));
        let mut words = Self {
            kind: text(&error["type"]).or_else(|| text(&error["status"])),
            code: text(&error["code"]),
            message: message.unwrap_or_default(),
            request_id: text(&document["request_id"]),
            retry_delay: None,
            param: text(&error["param"]).unwrap_or_default(),
            searched: String::new(),
        };
        let mut quota = String::new();
        for detail in error["details"].as_array().into_iter().flatten() {
            words.retry_delay = detail["retryDelay"].as_str().and_then(duration).or(words.retry_delay);
            for violation in detail["violations"].as_array().into_iter().flatten() {
                quota.push_str(violation["quotaId"].as_str().unwrap_or_default());
            }
            quota.push_str(detail["reason"].as_str().unwrap_or_default());
        }
        let parts = [words.kind.as_deref(), words.code.as_deref(), Some(&words.message), Some(&quota)];
        words.searched = parts.into_iter().flatten().collect::<Vec<_>>().join("\n").to_lowercase();
        words
    }

    /// Whether the error has one of these.
    pub(super) fn has(&self, needles: &[&str]) -> bool {
        needles.iter().any(|needle| self.searched.contains(needle))
    }

    /// The place of the tool that the error names: `tools[3]`, `tools.3`, `function_declarations[3]`.
    pub(super) fn tool_index(&self) -> Option<usize> {
        let texts = [self.param.as_str(), self.message.as_str()];
        let names = ["function_declarations", "functionDeclarations", "tools"];
        names.iter().find_map(|name| texts.iter().find_map(|text| index_behind(text, name)))
    }
}

fn index_behind(text: &str, name: &str) -> Option<usize> {
    text.match_indices(name).find_map(|(at, _)| {
        let rest = text[at + name.len()..].strip_prefix(['[', '.'])?;
        let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        rest[..digits].parse().ok()
    })
}

//! The page where an agent of another server wants somebody to sign in. It is shown with its host, and only if a reader cannot
//! take it for another one.

use openfang_types::call::{Capability, InputRequest};
use openfang_types::limits::SIGN_IN_URL_MAX_CHARS;
use openfang_types::task::{Message, PartBody, Task};
use serde_json::json;

use crate::mcp_server::raw;

/// The URL of a page, encrypted and with a plain host.
pub(super) struct SignInPage<'a> {
    url: &'a str,
    host: &'a str,
}

impl<'a> SignInPage<'a> {
    /// The page of this URL. None if it is not encrypted, names a user, or has characters that a reader can mistake.
    pub(super) fn of(url: &'a str) -> Option<Self> {
        let rest = url.strip_prefix("https://")?;
        let authority = rest.split(['/', '?', '#']).next()?;
        let host = authority.split_once(':').map_or(authority, |(host, _)| host);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
        let is_port = |port: &str| port.chars().all(|c| c.is_ascii_digit());
        let port = authority.get(host.len()..)?.trim_start_matches(':');
        let is_fine = !host.is_empty()
            && host.chars().all(is_plain)
            && is_port(port)
            && url.chars().all(|c| c.is_ascii_graphic())
            && url.len() <= SIGN_IN_URL_MAX_CHARS;
        is_fine.then_some(Self { url, host })
    }

    /// The page that a message names: in a part of its own, else in a text.
    pub(super) fn in_message(message: &'a Message) -> Option<Self> {
        let linked = message.parts.iter().find_map(|part| match &part.body {
            PartBody::Url(url) => Self::of(url),
            PartBody::Text(_) | PartBody::Data(_) | PartBody::Raw(_) => None,
        });
        let mut texts = message.parts.iter().filter_map(|part| part.as_text());
        linked.or_else(|| texts.find_map(Self::in_text))
    }

    fn in_text(text: &'a str) -> Option<Self> {
        let from = text.find("https://")?;
        let rest = text.get(from..)?;
        let url = rest
            .split(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '\'' | '`'))
            .next()?;
        Self::of(url.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}']))
    }

    /// Asks the user to open the page. `who` says who wants that.
    pub(super) fn request(&self, task: &Task, who: &str, max_chars: usize) -> InputRequest {
        let says = task.status.message.as_ref().map(Message::joined_text).unwrap_or_default();
        let says: String = says.chars().take(max_chars).collect();
        let message = format!("{who} asks you to sign in at {}: {says}", self.host);
        let id = format!("{}-{}", task.id, task.status.timestamp.as_microsecond());
        let params = json!({ "mode": "url", "message": message, "url": self.url, "elicitationId": id });
        InputRequest { needs: Capability::ElicitationUrl, method: "elicitation/create", params: raw(&params) }
    }
}

//! From where the server can be reached, and what follows from that.

use super::{Config, ConfigProblem};

/// The name of the login cookie.
pub const LOGIN_COOKIE: &str = "openfang_session";
/// The name of the login cookie over https. Browsers accept this prefix from the same host only.
pub const LOGIN_COOKIE_SECURE: &str = "__Host-openfang_session";

impl Config {
    /// The problem with `api_listen` if there is no credential: other machines would need none.
    pub fn exposure(&self) -> Option<ConfigProblem> {
        if self.api_key.is_some() || self.api_listen.ip().is_loopback() {
            return None;
        }
        let why = format!(
            "{} is reachable from other machines, and no credential is configured; set api_key, add a user with `openfang user add`, or listen on 127.0.0.1",
            self.api_listen
        );
        Some(ConfigProblem { key: "api_listen".to_owned(), why })
    }

    /// Whether the public address of this server uses https.
    pub fn is_https(&self) -> bool {
        self.public_url.as_deref().is_some_and(|url| url.starts_with("https://"))
    }

    /// The origin of pages below `public_url`.
    pub fn public_origin(&self) -> Option<&str> {
        let url = self.public_url.as_deref()?;
        let host = url.find("://")? + "://".len();
        let end = url.get(host..)?.find('/').map_or(url.len(), |slash| host + slash);
        url.get(..end)
    }
}

/// Rejects URLs that would break the links of cards and pages. This is not a full URL parser.
pub(super) fn is_public_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = rest.and_then(|rest| rest.split('/').next()).unwrap_or_default();
    !host.is_empty() && text.bytes().all(|b| b.is_ascii_graphic()) && !text.contains(['?', '#', '@', '*', '\\'])
}

//! The session cookie: its name, and how it is set, read and cleared. Over https its name prevents other hosts from
//! setting it.

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};
use openfang_types::config::{Config, LOGIN_COOKIE, LOGIN_COOKIE_SECURE};
use openfang_types::limits::LOGIN_LASTS;
use openfang_types::secret::Secret;

/// The cookie in the form config selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoginCookie {
    Plain,
    /// For https only. A browser accepts a cookie with this name only from this host.
    Secure,
}

impl LoginCookie {
    pub(crate) fn of(config: &Config) -> Self {
        if config.is_https() { Self::Secure } else { Self::Plain }
    }

    /// The value of the cookie. Several cookies with our name, or an unreadable header, are refused.
    pub(super) fn read(self, headers: &HeaderMap) -> Option<&str> {
        let name = self.name();
        let mut found = None;
        for header in headers.get_all(COOKIE) {
            // A header that is not text may hide a second cookie with our name.
            let text = header.to_str().ok()?;
            for pair in text.split(';') {
                let Some((held, value)) = pair.trim().split_once('=') else { continue };
                if held.trim() == name && found.replace(value.trim()).is_some() {
                    return None;
                }
            }
        }
        let is_ours = |value: &&str| {
            !value.is_empty() && value.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        };
        found.filter(is_ours)
    }

    /// The header that sets it.
    pub(crate) fn set(self, cookie: &Secret) -> Option<HeaderValue> {
        let mut header = self.header(cookie.expose(), LOGIN_LASTS.as_secs())?;
        header.set_sensitive(true);
        Some(header)
    }

    /// The header that clears it.
    pub(crate) fn clear(self) -> Option<HeaderValue> {
        self.header("", 0)
    }

    fn header(self, value: &str, seconds: u64) -> Option<HeaderValue> {
        let (name, secure) = match self {
            Self::Plain => (self.name(), ""),
            Self::Secure => (self.name(), "; Secure"),
        };
        let text = format!("{name}={value}; HttpOnly; SameSite=Lax; Path=/; Max-Age={seconds}{secure}");
        HeaderValue::try_from(text).ok()
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Plain => LOGIN_COOKIE,
            Self::Secure => LOGIN_COOKIE_SECURE,
        }
    }
}

#[cfg(test)]
#[path = "cookie_tests.rs"]
mod tests;

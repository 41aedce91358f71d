//! Scheme, host and port: the part of a URL that may be printed, and the scope of credentials and circuits.

use std::fmt;

/// The scheme, host and port of a URL.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    is_https: bool,
    host: String,
    port: u16,
}

impl Origin {
    /// The origin of a checked URL, which has a host and a port.
    pub(super) fn of(url: &url::Url) -> Self {
        Self {
            is_https: url.scheme() == "https",
            host: url.host_str().unwrap_or_default().to_owned(),
            port: url.port_or_known_default().unwrap_or_default(),
        }
    }

    /// Whether the way is encrypted.
    pub const fn is_https(&self) -> bool {
        self.is_https
    }

    /// The host; IPv6 in brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Whether `next` is the https URL of the same host, each on its default port.
    pub(crate) fn is_upgraded_by(&self, next: &Self) -> bool {
        !self.is_https && self.port == 80 && next.is_https && next.port == 443 && self.host == next.host
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, usual) = if self.is_https { ("https", 443) } else { ("http", 80) };
        write!(f, "{scheme}://{}", self.host)?;
        if self.port == usual { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}

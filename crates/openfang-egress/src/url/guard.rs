//! Decides what may be reached. Literal addresses and names are checked when a URL is made, resolved addresses just
//! before they are dialled.

use std::net::IpAddr;
use std::sync::Arc;

use openfang_types::limits::URL_MAX_BYTES;
use url::Host;

use super::allow::AllowList;
use super::{ForeignUrl, OperatorUrl, Reach, UrlRefused, ports};
use crate::address::{self, Class, Special};

/// Makes URLs and checks addresses. Clones are cheap.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    allowed: Arc<AllowList>,
}

/// Why an allow-list entry is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AllowListError {
    /// The entry has none of the four forms.
    #[error(
        "allow-list entry {entry:?} is not an address, a range like 10.0.0.0/8, a name or a *.suffix, with or without a port like :9200"
    )]
    Unknown { entry: String },
    /// Cloud metadata stays out of reach.
    #[error("allow-list entry {entry:?} is cloud metadata or link-local, which no url may ever reach; remove it")]
    Metadata { entry: String },
}

impl Guard {
    /// A guard that allows foreign URLs to reach public addresses and everything on the list: an address, a range
    /// (`10.0.0.0/8`), a name, or everything below a name (`*.example.internal`). A port after it (`10.1.2.3:9200`)
    /// opens that port there. A name without a port opens all ports.
    pub fn allowing<'a>(entries: impl IntoIterator<Item = &'a str>) -> Result<Self, AllowListError> {
        let mut allowed = AllowList::default();
        for entry in entries {
            allowed.add(entry)?;
        }
        Ok(Self { allowed: Arc::new(allowed) })
    }

    /// A URL from the config or the command line.
    pub fn operator(&self, text: &str) -> Result<OperatorUrl, UrlRefused> {
        self.checked(parsed(text)?, Reach::Operator).map(OperatorUrl)
    }

    /// A URL from anywhere else.
    pub fn foreign(&self, text: &str) -> Result<ForeignUrl, UrlRefused> {
        let url = self.checked(parsed(text)?, Reach::Foreign)?;
        check_spelling(text)?;
        Ok(ForeignUrl(url))
    }

    /// The target of a redirect.
    pub(crate) fn redirect(&self, from: &url::Url, location: &str) -> Result<ForeignUrl, UrlRefused> {
        if location.len() > URL_MAX_BYTES {
            return Err(UrlRefused::TooLong { limit: URL_MAX_BYTES });
        }
        let next = from.join(location).map_err(|why| UrlRefused::Malformed { why })?;
        self.checked(next, Reach::Foreign).map(ForeignUrl)
    }

    /// A location within the origin of an operator URL; none if it leads elsewhere.
    pub fn at_home(&self, from: &OperatorUrl, location: &str) -> Option<OperatorUrl> {
        let next = from.url().join(location).ok().filter(|_| location.len() <= URL_MAX_BYTES)?;
        let next = self.checked(next, Reach::Operator).map(OperatorUrl).ok()?;
        (next.origin() == from.origin()).then_some(next)
    }

    /// Whether an address that `name` resolved to may be dialled.
    pub(crate) fn admits(&self, name: &str, address: IpAddr, reach: Reach) -> Result<(), Special> {
        self.judged(address, self.widened(name, reach))
    }

    fn checked(&self, mut url: url::Url, reach: Reach) -> Result<url::Url, UrlRefused> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlRefused::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlRefused::Credentials);
        }
        if url.as_str().len() > URL_MAX_BYTES {
            return Err(UrlRefused::TooLong { limit: URL_MAX_BYTES });
        }
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Err(UrlRefused::NoHost);
        };
        let verdict = match host {
            Host::Ipv4(v4) => self.judged(v4.into(), reach),
            Host::Ipv6(v6) => self.judged(v6.into(), reach),
            Host::Domain(name) if !name.bytes().all(is_of_a_name) => {
                return Err(UrlRefused::Malformed { why: url::ParseError::InvalidDomainCharacter });
            }
            Host::Domain(name) => named(name, self.widened(name, reach)),
        };
        if let Err(special) = verdict {
            return Err(UrlRefused::OutOfReach { host: host.to_string(), special });
        }
        let is_open = reach == Reach::Operator || ports::is_for_the_web(port) || self.allowed.opens_port(&host, port);
        if port == 0 || !is_open {
            return Err(UrlRefused::Port { host: host.to_string(), port });
        }
        url.set_fragment(None);
        Ok(url)
    }

    /// An allow-listed name may reach what an operator URL may reach.
    fn widened(&self, name: &str, reach: Reach) -> Reach {
        if self.allowed.holds_name(name) { Reach::Operator } else { reach }
    }

    fn judged(&self, address: IpAddr, reach: Reach) -> Result<(), Special> {
        let Some(special) = address::judge(address) else { return Ok(()) };
        let is_admitted = match special.class {
            Class::Metadata => false,
            Class::Local => reach == Reach::Operator || self.allowed.holds_address(address),
            Class::Reserved => self.allowed.holds_address(address),
        };
        if is_admitted { Ok(()) } else { Err(special) }
    }
}

/// The name of the host that a URL of a stranger leads to. None for an address, and for what is no such URL.
pub fn host_name_of(text: &str) -> Option<String> {
    check_spelling(text).ok()?;
    let url = parsed(text).ok()?;
    let is_plain = matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none();
    match url.host()? {
        Host::Domain(name) if is_plain && name.bytes().all(is_of_a_name) => Some(name.to_owned()),
        Host::Domain(_) | Host::Ipv4(_) | Host::Ipv6(_) => None,
    }
}

/// The URL standard removes some characters from a URL and reads a backslash as a slash: whoever looks at such a text sees
/// another URL than the one that is asked.
fn check_spelling(text: &str) -> Result<(), UrlRefused> {
    let text = text.trim();
    let place = text.split(['?', '#']).next().unwrap_or_default();
    if text.contains(char::is_control) || place.contains('\\') {
        return Err(UrlRefused::Spelling);
    }
    Ok(())
}

fn named(name: &str, reach: Reach) -> Result<(), Special> {
    match (address::judge_name(name), reach) {
        (None, _) => Ok(()),
        (Some(special), Reach::Operator) if special.class != Class::Metadata => Ok(()),
        (Some(special), Reach::Operator | Reach::Foreign) => Err(special),
    }
}

/// The URL standard allows quotes and braces in names. No host has them, and other parsers disagree about them.
const fn is_of_a_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

fn parsed(text: &str) -> Result<url::Url, UrlRefused> {
    if text.len() > URL_MAX_BYTES {
        return Err(UrlRefused::TooLong { limit: URL_MAX_BYTES });
    }
    url::Url::parse(text).map_err(|why| match why {
        url::ParseError::EmptyHost => UrlRefused::NoHost,
        why => UrlRefused::Malformed { why },
    })
}

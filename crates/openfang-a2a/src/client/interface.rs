//! Chooses the interface of a card: by version, then by the order of the card. Addresses that are wrong in a known way are
//! repaired; addresses at any other origin are refused.

use std::fmt;

use serde::{Deserialize, Serialize};
use url::{Host, Url};

use super::card::{PeerCard, PeerInterface};
use super::discovery::DiscoveryError;
use super::settings::Protocol;
use super::site::{NotAllowed, Site};
use crate::dialect::Dialect;

/// The transport of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Binding {
    JsonRpc,
    HttpJson,
}

impl Binding {
    /// The name of the binding in cards.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::JsonRpc => "JSONRPC",
            Self::HttpJson => "HTTP+JSON",
        }
    }

    /// The binding with this name in a card. A card that does not say means JSON-RPC.
    fn named(word: &str) -> Option<Self> {
        let letters: String = word.chars().filter(char::is_ascii_alphanumeric).collect();
        match letters.to_ascii_lowercase().as_str() {
            "" | "jsonrpc" => Some(Self::JsonRpc),
            "httpjson" | "rest" | "http" => Some(Self::HttpJson),
            _ => None,
        }
    }
}

impl fmt::Display for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where and how an agent is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// The endpoint of JSON-RPC, or the base of the HTTP+JSON paths.
    pub url: String,
    pub binding: Binding,
    pub dialect: Dialect,
    /// The agent's name at a shared address.
    pub tenant: Option<String>,
}

/// A correction of an address in a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repair {
    /// The address in the card.
    pub stated: String,
    /// The address that is used.
    pub used: String,
    /// What was wrong with the stated address.
    pub reason: String,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} instead of {}: {}", self.used, self.stated, self.reason)
    }
}

/// An interface that can be used. Without a dialect, its version is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) url: String,
    pub(super) binding: Binding,
    pub(super) dialect: Option<Dialect>,
    pub(super) tenant: Option<String>,
    pub(super) repairs: Vec<Repair>,
}

impl Candidate {
    pub(super) fn interface(&self, dialect: Dialect) -> Interface {
        let (url, binding, tenant) = (self.url.clone(), self.binding, self.tenant.clone());
        Interface { url, binding, dialect, tenant }
    }
}

/// The usable interfaces of a card, the best one first.
pub(super) fn candidates(
    card: &PeerCard,
    card_url: &Url,
    site: &Site,
    protocol: Protocol,
) -> Result<Vec<Candidate>, DiscoveryError> {
    let mut ranked = Vec::new();
    let (mut refusal, mut others) = (None, Vec::new());
    for stated in &card.interfaces {
        let Some(binding) = Binding::named(&stated.binding) else {
            others.push(stated.binding.clone());
            continue;
        };
        let (rank, dialect) = version(stated.version.as_deref(), binding);
        if dialect.is_some_and(|dialect| !protocol.allows(dialect)) {
            others.push(format!("{} {}", stated.binding, stated.version.as_deref().unwrap_or_default()));
            continue;
        }
        match address(stated, card_url, site) {
            Ok((url, repairs)) => {
                let tenant = stated.tenant.clone();
                ranked.push((rank, Candidate { url, binding, dialect, tenant, repairs }));
            }
            Err(error) => refusal = refusal.or(Some(error)),
        }
    }
    // The sort is stable, so the order of the card decides within a version.
    ranked.sort_by_key(|(rank, _)| *rank);
    let found: Vec<Candidate> = ranked.into_iter().map(|(_, candidate)| candidate).collect();
    match (found.is_empty(), refusal) {
        (false, _) => Ok(found),
        (true, Some(refusal)) => Err(refusal),
        (true, None) => Err(DiscoveryError::NoInterface { offered: others }),
    }
}

/// The rank of a version (less is better) and its dialect.
fn version(stated: Option<&str>, binding: Binding) -> (u8, Option<Dialect>) {
    let older = match binding {
        Binding::JsonRpc => Dialect::V03,
        Binding::HttpJson => Dialect::V03Proto,
    };
    let number = stated.unwrap_or_default().trim().trim_start_matches(['v', 'V']);
    let mut numbers = number.split('.');
    match (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default()) {
        ("1", "" | "0") => (0, Some(Dialect::V10)),
        ("1", _) => (1, Some(Dialect::V10)),
        ("0", "3") => (2, Some(older)),
        ("0", "2") => (3, Some(older)),
        ("0", "1") if binding == Binding::JsonRpc => (4, Some(Dialect::V01)),
        _ => (5, None),
    }
}

/// The address to use for an interface, with the repairs that led to it.
fn address(stated: &PeerInterface, card_url: &Url, site: &Site) -> Result<(String, Vec<Repair>), DiscoveryError> {
    let unusable = |why: String| DiscoveryError::Address { stated: stated.url.clone(), why };
    let mut repairs = Vec::new();
    let mut current = match Url::parse(stated.url.trim()) {
        Ok(url) => url,
        Err(url::ParseError::RelativeUrlWithoutBase) => {
            let joined = card_url.join(stated.url.trim()).map_err(|error| unusable(error.to_string()))?;
            note(&mut repairs, stated.url.clone(), &joined, "the address is relative");
            joined
        }
        Err(error) => return Err(unusable(error.to_string())),
    };
    if let Some(reason) = wrong_origin(&current, card_url) {
        let mut moved = card_url.clone();
        moved.set_path(current.path());
        moved.set_query(current.query());
        note(&mut repairs, current.to_string(), &moved, reason);
        current = moved;
    }
    if let Some(path) = without_operation(current.path()) {
        let mut cut = current.clone();
        cut.set_path(&path);
        note(&mut repairs, current.to_string(), &cut, "the address is that of an operation");
        current = cut;
    }
    match site.target(current.as_str()) {
        Ok(_) => Ok((current.into(), repairs)),
        Err(NotAllowed::Origin(origin)) => Err(DiscoveryError::OtherOrigin { origin }),
        Err(NotAllowed::Refused(cause)) => Err(unusable(cause.to_string())),
    }
}

fn note(repairs: &mut Vec<Repair>, stated: String, used: &Url, reason: &str) {
    repairs.push(Repair { stated, used: used.to_string(), reason: reason.to_owned() });
}

/// Why the address has to be at the origin of the card instead.
fn wrong_origin(stated: &Url, card_url: &Url) -> Option<&'static str> {
    let (is_near, is_card_near) = (is_loopback(stated), is_loopback(card_url));
    let same_port = stated.port_or_known_default() == card_url.port_or_known_default();
    let same_host = stated.host_str() == card_url.host_str();
    if is_unspecified(stated) {
        Some("the address is one to listen on")
    } else if is_near && !is_card_near {
        Some("the address is that of the agent's own machine")
    } else if is_near && is_card_near && same_port && !same_host {
        Some("the address is another name of this machine")
    } else if same_host && stated.scheme() == "http" && card_url.scheme() == "https" {
        Some("the card came over https")
    } else {
        None
    }
}

fn is_unspecified(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_unspecified(),
        Some(Host::Ipv6(address)) => address.is_unspecified(),
        Some(Host::Domain(_)) | None => false,
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost")
        }
        None => false,
    }
}

/// The path without the name of an operation or of the card at its end.
fn without_operation(path: &str) -> Option<String> {
    const OPERATIONS: [&str; 8] = [
        "/v1/message:send",
        "/v1/message:stream",
        "/v1/card",
        "/message:send",
        "/message:stream",
        "/extendedAgentCard",
        "/.well-known/agent-card.json",
        "/.well-known/agent.json",
    ];
    let trimmed = path.trim_end_matches('/');
    let cut = OPERATIONS.iter().find_map(|end| trimmed.strip_suffix(end))?;
    Some(if cut.is_empty() { "/".to_owned() } else { cut.to_owned() })
}

/// Whether one of the interfaces lies at or below a URL.
pub(super) fn lies_below(card: &PeerCard, url: &Url) -> bool {
    let base = url.path().trim_end_matches('/');
    card.interfaces.iter().any(|stated| {
        let path = Url::parse(&stated.url).map_or_else(|_| stated.url.clone(), |url| url.path().to_owned());
        path == base || path.strip_prefix(base).is_some_and(|rest| rest.starts_with('/'))
    })
}

/// The same address with or without a slash at its end.
pub(super) fn with_other_slash(url: &str) -> Option<String> {
    let mut url = Url::parse(url).ok()?;
    let path = match url.path().strip_suffix('/') {
        Some("") => return None,
        Some(shorter) => shorter.to_owned(),
        None => format!("{}/", url.path()),
    };
    url.set_path(&path);
    Some(url.into())
}

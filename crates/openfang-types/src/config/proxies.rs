//! Which proxies are believed, and which header of theirs says who the client is.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An address, or a range of them such as `10.0.0.0/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct IpRange(IpNet);

/// The text is not a range of addresses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IpRangeError {
    /// The text has neither form.
    #[error("{0:?} is neither an IP address nor a range such as 10.0.0.0/8")]
    Unreadable(String),
    /// The range covers every address.
    #[error("{0:?} covers every address, so any client could forge its address; use the range of the proxy")]
    Everybody(String),
}

impl IpRange {
    /// Whether the range contains this address.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

impl FromStr for IpRange {
    type Err = IpRangeError;

    fn from_str(text: &str) -> Result<Self, IpRangeError> {
        let address = || text.parse::<IpAddr>().ok().map(|address| IpNet::from(address.to_canonical()));
        let range = text.parse::<IpNet>().ok().or_else(address);
        let range = range.ok_or_else(|| IpRangeError::Unreadable(text.to_owned()))?;
        if range.prefix_len() == 0 {
            return Err(IpRangeError::Everybody(text.to_owned()));
        }
        Ok(Self(range.trunc()))
    }
}

impl TryFrom<String> for IpRange {
    type Error = IpRangeError;

    fn try_from(text: String) -> Result<Self, IpRangeError> {
        text.parse()
    }
}

impl From<IpRange> for String {
    fn from(range: IpRange) -> Self {
        range.to_string()
    }
}

impl fmt::Display for IpRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.prefix_len() == self.0.max_prefix_len() { self.0.addr().fmt(f) } else { self.0.fmt(f) }
    }
}

/// The header with the client address. The other header is ignored, because a client can send it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ForwardedHeader {
    /// `X-Forwarded-For: 203.0.113.7`, as most proxies write it.
    #[default]
    XForwardedFor,
    /// `Forwarded: for=203.0.113.7`, of RFC 7239.
    Forwarded,
}

#[cfg(test)]
#[path = "proxies_tests.rs"]
mod tests;

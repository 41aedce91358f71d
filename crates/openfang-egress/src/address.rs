//! Classifies addresses and names, with one table for the whole program.
//!
//! [`judge`] says whether an address is public or which special class it belongs to, including an IPv4 address embedded
//! in an IPv6 address. [`judge_name`] does the same for names of this machine, the local network or a cloud metadata
//! service. Only [`crate::url::Guard`] decides which class may be reached.

use std::fmt;
use std::net::IpAddr;

pub use names::judge_name;
pub(crate) use table::is_all_metadata;

mod embedded;
pub(crate) mod names;
mod table;

/// The class of a special address. It determines who may connect to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// This machine or a private network: allowed for URLs of the operator, not for URLs from others.
    Local,
    /// Cloud metadata services and link-local addresses: never allowed, not even by the allow-list.
    Metadata,
    /// Any other address that is not public: allowed only by the allow-list.
    Reserved,
}

impl Class {
    /// The name in errors and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Metadata => "metadata",
            Self::Reserved => "reserved",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why an address or a name is special.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Special {
    pub class: Class,
    /// What the range is called, such as `loopback`.
    pub name: &'static str,
}

impl fmt::Display for Special {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.class, self.name)
    }
}

/// The class of an address; none for a public one.
pub fn judge(address: IpAddr) -> Option<Special> {
    match address {
        IpAddr::V4(v4) => table::v4(v4),
        IpAddr::V6(v6) => embedded::judge(v6),
    }
}

/// The effective address: for the two kinds of IPv6 address that carry an IPv4 address, that IPv4 address.
pub fn meant(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => embedded::carried(v6).map_or(address, IpAddr::V4),
    }
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;

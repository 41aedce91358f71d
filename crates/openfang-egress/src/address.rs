//! Which addresses and names are what: ONE table for the whole house.
//!
//! [`judge`] says of an address whether it is public or which special class it belongs to; an IPv4 address inside an
//! IPv6 address is judged too. [`judge_name`] does the same for names that mean this machine, this network or a cloud's
//! metadata service. What a class may be reached from is decided by [`crate::url::Guard`], nowhere else.

use std::fmt;
use std::net::IpAddr;

pub use names::judge_name;
pub(crate) use table::is_all_metadata;

mod embedded;
pub(crate) mod names;
mod table;

/// What kind of special address it is. It decides who may reach it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// This machine or a private network: fine for what the operator wrote, not for what strangers name.
    Local,
    /// Where clouds keep credentials, and everything link-local: never, not even allow-listed.
    Metadata,
    /// Anything else that is not a public host: only if allow-listed.
    Reserved,
}

impl Class {
    /// The word in errors and metrics.
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
    /// The class.
    pub class: Class,
    /// What the range is called, such as `loopback`.
    pub name: &'static str,
}

impl fmt::Display for Special {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.class, self.name)
    }
}

/// What an address is; none for a public one.
pub fn judge(address: IpAddr) -> Option<Special> {
    match address {
        IpAddr::V4(v4) => table::v4(v4),
        IpAddr::V6(v6) => embedded::judge(v6),
    }
}

/// The address that is really meant: the IPv4 address for the two kinds of IPv6 address that only carry one.
pub fn meant(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => embedded::carried(v6).map_or(address, IpAddr::V4),
    }
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;

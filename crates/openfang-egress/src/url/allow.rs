//! What foreign URLs may reach in addition to public addresses: addresses, ranges, names and `*.suffix`, each with an
//! optional port. An entry with a port opens that port too. A name without a port opens all ports.

use std::net::IpAddr;

use ipnet::IpNet;
use url::Host;

use super::AllowListError;
use crate::address::{self, Class, names};

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct AllowList {
    ranges: Vec<Allowed<IpNet>>,
    names: Vec<Allowed<String>>,
    suffixes: Vec<Allowed<String>>,
}

#[derive(Debug, PartialEq, Eq)]
struct Allowed<T> {
    what: T,
    port: Option<u16>,
}

impl AllowList {
    pub(super) fn add(&mut self, entry: &str) -> Result<(), AllowListError> {
        let unknown = || AllowListError::Unknown { entry: entry.to_owned() };
        let (host, port) = with_port(entry).ok_or_else(unknown)?;
        let range = host.parse().ok().or_else(|| host.parse::<IpAddr>().ok().map(IpNet::from));
        if let Some(range) = range {
            if address::is_all_metadata(&range) {
                return Err(AllowListError::Metadata { entry: entry.to_owned() });
            }
            self.ranges.push(Allowed { what: range, port });
            return Ok(());
        }
        let (suffix, list) = match host.strip_prefix("*.") {
            Some(suffix) => (suffix, &mut self.suffixes),
            None => (host, &mut self.names),
        };
        match Host::parse(suffix) {
            Ok(Host::Domain(name)) if !suffix.contains('*') => {
                if address::judge_name(&name).is_some_and(|special| special.class == Class::Metadata) {
                    return Err(AllowListError::Metadata { entry: entry.to_owned() });
                }
                list.push(Allowed { what: names::normal(&name), port });
                Ok(())
            }
            _ => Err(unknown()),
        }
    }

    pub(super) fn holds_name(&self, name: &str) -> bool {
        self.named(&names::normal(name)).next().is_some()
    }

    pub(super) fn holds_address(&self, address: IpAddr) -> bool {
        self.at(address).next().is_some()
    }

    /// Whether a port that is closed to foreign URLs is open there.
    pub(super) fn opens_port(&self, host: &Host<&str>, port: u16) -> bool {
        let is_open = |open: Option<u16>| open == Some(port);
        match host {
            Host::Domain(name) => self.named(&names::normal(name)).any(|open| open.is_none() || is_open(open)),
            Host::Ipv4(v4) => self.at((*v4).into()).any(is_open),
            Host::Ipv6(v6) => self.at((*v6).into()).any(is_open),
        }
    }

    /// The ports of the entries that match a name.
    fn named(&self, name: &str) -> impl Iterator<Item = Option<u16>> {
        let is_below = |suffix: &String| name.len() > suffix.len() && names::is_within(name, suffix);
        let names = self.names.iter().filter(move |allowed| allowed.what == name);
        let suffixes = self.suffixes.iter().filter(move |allowed| is_below(&allowed.what));
        names.chain(suffixes).map(|allowed| allowed.port)
    }

    /// The ports of the entries that match an address.
    fn at(&self, address: IpAddr) -> impl Iterator<Item = Option<u16>> {
        let meant = address::meant(address);
        let ranges = self.ranges.iter();
        let holding = ranges.filter(move |range| range.what.contains(&address) || range.what.contains(&meant));
        holding.map(|allowed| allowed.port)
    }
}

/// An entry and its optional port: `10.1.2.3:9200`, `[fd00::1]:9200`, `search.internal:9200`.
fn with_port(entry: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match entry.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map(|(host, port)| (host, port.strip_prefix(':')))?,
        None => match entry.split_once(':') {
            Some((host, port)) if !port.contains(':') => (host, Some(port)),
            Some(_) | None => return Some((entry, None)),
        },
    };
    let port = port?.parse().ok().filter(|port| *port > 0)?;
    Some((host, Some(port)))
}

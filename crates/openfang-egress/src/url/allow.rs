//! What the operator allows strangers to reach beyond the public: addresses, ranges, names, `*.suffix`.

use std::net::IpAddr;

use ipnet::IpNet;
use url::Host;

use super::AllowListError;
use crate::address::{self, Class, names};

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct AllowList {
    ranges: Vec<IpNet>,
    names: Vec<String>,
    suffixes: Vec<String>,
}

impl AllowList {
    /// Reads one entry.
    pub(super) fn add(&mut self, entry: &str) -> Result<(), AllowListError> {
        let range = entry.parse().ok().or_else(|| entry.parse::<IpAddr>().ok().map(IpNet::from));
        if let Some(range) = range {
            if address::is_all_metadata(&range) {
                return Err(AllowListError::Metadata { entry: entry.to_owned() });
            }
            self.ranges.push(range);
            return Ok(());
        }
        let (suffix, list) = match entry.strip_prefix("*.") {
            Some(suffix) => (suffix, &mut self.suffixes),
            None => (entry, &mut self.names),
        };
        match Host::parse(suffix) {
            Ok(Host::Domain(name)) if !suffix.contains('*') => {
                if address::judge_name(&name).is_some_and(|special| special.class == Class::Metadata) {
                    return Err(AllowListError::Metadata { entry: entry.to_owned() });
                }
                list.push(names::normal(&name));
                Ok(())
            }
            _ => Err(AllowListError::Unknown { entry: entry.to_owned() }),
        }
    }

    pub(super) fn holds_name(&self, name: &str) -> bool {
        let name = names::normal(name);
        let is_below = |suffix: &String| name.len() > suffix.len() && names::is_within(&name, suffix);
        self.names.contains(&name) || self.suffixes.iter().any(is_below)
    }

    pub(super) fn holds_address(&self, address: IpAddr) -> bool {
        let meant = address::meant(address);
        self.ranges.iter().any(|range| range.contains(&address) || range.contains(&meant))
    }
}

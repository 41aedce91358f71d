//! Names that mean something special whatever they resolve to. They are compared without case and without the dot at
//! the end.

use super::{Class, Special};

/// Where clouds answer with credentials.
const METADATA: &[&str] = &[
    "instance-data",
    "instance-data.ec2.internal",
    "metadata",
    "metadata.azure.com",
    "metadata.azure.internal",
    "metadata.goog",
    "metadata.google.internal",
    "metadata.oraclecloud.com",
    "metadata.packet.net",
    "metadata.platformequinix.com",
    "metadata.tencentyun.com",
    "rancher-metadata",
];

/// Last labels that are resolved on this machine or in this network, or nowhere in the DNS.
const LOCAL_SUFFIXES: &[&str] = &[
    "alt",
    "corp",
    "home",
    "home.arpa",
    "internal",
    "intranet",
    "invalid",
    "lan",
    "local",
    "localdomain",
    "localhost",
    "onion",
    "test",
];

/// The name as it is compared: lower case, without the dot at the end.
pub(crate) fn normal(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

/// Whether a name is `suffix` or ends with `.suffix`; both normal.
pub(crate) fn is_within(name: &str, suffix: &str) -> bool {
    name.strip_suffix(suffix).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

/// What a name is; none for one that only its addresses can tell.
pub fn judge_name(name: &str) -> Option<Special> {
    let name = normal(name);
    if METADATA.contains(&name.as_str()) {
        return Some(Special { class: Class::Metadata, name: "metadata name" });
    }
    if LOCAL_SUFFIXES.iter().any(|suffix| is_within(&name, suffix)) {
        return Some(Special { class: Class::Local, name: "local name" });
    }
    (!name.contains('.')).then_some(Special { class: Class::Local, name: "single-label name" })
}

//! Names that are special regardless of their addresses. Comparison ignores case and a trailing dot.

use super::{Class, Special};

/// Cloud metadata services, which hand out credentials.
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

/// Top-level labels that are resolved locally or not in the public DNS.
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

/// The normalized name: lower case, without a trailing dot.
pub(crate) fn normal(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

/// Whether a name equals `suffix` or ends with `.suffix`. Both must be normalized.
pub(crate) fn is_within(name: &str, suffix: &str) -> bool {
    name.strip_suffix(suffix).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

/// The class of a name; none if its addresses must decide.
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

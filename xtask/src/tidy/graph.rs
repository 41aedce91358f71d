//! Crates that must not be anywhere in the resolved graph, and sources that cannot be trusted to stay.

use super::{Tree, Violation};
use crate::metadata::{Metadata, Package};

const RULE: &str = "bans";
const LOCK: &str = "Cargo.lock";

/// Nowhere in the graph.
const BANNED: &[(&str, &str)] = &[
    ("serde_yaml", "unmaintained"),
    ("daemonize", "unmaintained"),
    ("backoff", "unmaintained"),
    ("instant", "unmaintained: std::time::Instant"),
    ("openssl-sys", "TLS is rustls: a C library of the system breaks the single binary"),
    ("native-tls", "TLS is rustls: a C library of the system breaks the single binary"),
];

/// Not in our own manifests; what others do with them is theirs.
const BANNED_FOR_US: &[(&str, &str)] = &[("lazy_static", "std::sync::LazyLock"), ("once_cell", "std::sync::OnceLock")];

/// Holds the resolved graph against the bans and says who pulls a banned crate in.
pub(crate) fn bans(metadata: &Metadata, tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for package in &metadata.packages {
        let line = || tree.line_of(LOCK, &format!("name = \"{}\"", package.name));
        if let Some((name, why)) = BANNED.iter().find(|(name, _)| *name == package.name) {
            let reason = format!("{name} is banned ({why}); pulled in by {}", pullers(metadata, package));
            violations.push(Violation::new(LOCK, line(), RULE, reason));
        }
        if package.source.as_deref().is_some_and(|source| source.starts_with("git+")) {
            let reason = format!("{} comes from git; pulled in by {}", package.name, pullers(metadata, package));
            violations.push(Violation::new(LOCK, line(), RULE, reason));
        }
    }
    for member in metadata.members() {
        let manifest = metadata.manifest_of(member);
        for dependency in &member.dependencies {
            if let Some((name, instead)) = BANNED_FOR_US.iter().find(|(name, _)| *name == dependency.name) {
                let reason = format!("{name} is not for our own crates: {instead}");
                violations.push(Violation::new(&manifest, tree.line_of(&manifest, name), RULE, reason));
            }
        }
    }
    violations
}

/// The packages right above one, by name and version.
fn pullers(metadata: &Metadata, package: &Package) -> String {
    let above = metadata.resolve.nodes.iter().filter(|node| node.dependencies.contains(&package.id));
    let named = above.filter_map(|node| metadata.packages.iter().find(|other| other.id == node.id));
    let mut names: Vec<String> = named.map(|other| format!("{} {}", other.name, other.version)).collect();
    names.sort();
    if names.is_empty() { "nobody".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
#[path = "graph_tests.rs"]
mod tests;

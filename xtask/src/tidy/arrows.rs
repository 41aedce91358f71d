//! The house plan: which of our crates may name which, and which foreign crates each must never know. `HOUSE` is the
//! plan's only copy in code; it is held against what the manifests declare and against what the sources name.
//! Tests are free: the plan is about the product.

use super::files::is_test;
use super::source::{Line, words};
use super::{Tree, Violation};
use crate::metadata::{Metadata, Package};

const RULE: &str = "arrows";

/// One room of the house.
struct Room {
    name: &'static str,
    /// Our crates that it may name; any other is behind its back.
    may_name: &'static [&'static str],
    /// Foreign crates that would bring it a concern of another room.
    never_knows: &'static [&'static str],
}

const HOUSE: &[Room] = &[
    Room {
        name: "openfang-types",
        may_name: &[],
        never_knows: &["tokio", "axum", "hyper", "clap", "rusqlite", "reqwest"],
    },
    Room { name: "openfang-egress", may_name: &["openfang-types"], never_knows: &["axum", "clap", "rusqlite"] },
    Room { name: "openfang-store", may_name: &["openfang-types"], never_knows: &["axum", "hyper", "reqwest", "clap"] },
    Room {
        name: "openfang-mcp",
        may_name: &["openfang-egress", "openfang-types"],
        never_knows: &["axum", "clap", "rusqlite", "reqwest"],
    },
    Room {
        name: "openfang-a2a",
        may_name: &["openfang-egress", "openfang-types"],
        never_knows: &["axum", "clap", "rusqlite", "reqwest"],
    },
    Room {
        name: "openfang-model",
        may_name: &["openfang-egress", "openfang-types"],
        never_knows: &["axum", "clap", "rusqlite", "reqwest"],
    },
    Room {
        name: "openfang-runtime",
        may_name: &[
            "openfang-mcp",
            "openfang-a2a",
            "openfang-model",
            "openfang-egress",
            "openfang-store",
            "openfang-types",
        ],
        never_knows: &["axum", "clap", "rusqlite"],
    },
    Room {
        name: "openfang-kernel",
        may_name: &[
            "openfang-runtime",
            "openfang-mcp",
            "openfang-a2a",
            "openfang-model",
            "openfang-egress",
            "openfang-store",
            "openfang-types",
        ],
        never_knows: &["axum", "clap"],
    },
    // The runtime and the store are not further right for the api: a handler that reaches past the kernel
    // skips access and audit.
    Room {
        name: "openfang-api",
        may_name: &["openfang-kernel", "openfang-mcp", "openfang-a2a", "openfang-egress", "openfang-types"],
        never_knows: &["clap", "rusqlite", "reqwest"],
    },
    Room {
        name: "openfang-cli",
        may_name: &[
            "openfang-api",
            "openfang-kernel",
            "openfang-runtime",
            "openfang-mcp",
            "openfang-a2a",
            "openfang-egress",
            "openfang-store",
            "openfang-types",
        ],
        never_knows: &["axum", "rusqlite", "reqwest"],
    },
];

/// Crates that exist for development: they may name every room, and no room may name them.
const DEV_ONLY: &[&str] = &["openfang-testkit", "openfang-e2e", "openfang-bench", "xtask"];

/// Foreign crates with one owner in the whole workspace.
const SOLE_OWNERS: &[(&str, &str)] =
    &[("axum", "openfang-api"), ("clap", "openfang-cli"), ("clap_complete", "openfang-cli")];

/// Holds the plan against the manifests.
pub(crate) fn declared(metadata: &Metadata, tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for member in metadata.members() {
        let manifest = metadata.manifest_of(member);
        if room(&member.name).is_none() && !DEV_ONLY.contains(&member.name.as_str()) {
            violations.push(Violation::new(&manifest, 1, RULE, format!("{} is not in the house plan", member.name)));
        }
        for dependency in member.product_dependencies() {
            if let Some(reason) = refusal(&member.name, dependency) {
                violations.push(Violation::new(&manifest, tree.line_of(&manifest, dependency), RULE, reason));
            }
        }
    }
    violations
}

/// Holds the plan against the sources: a path or a `use` of one of our crates.
pub(crate) fn named_in_source(path: &str, lines: &[Line], metadata: &Metadata) -> Vec<Violation> {
    let Some(owner) = owner_of(path, metadata).filter(|_| !is_test(path)) else { return Vec::new() };
    let mut violations = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        for word in words(&line.code).filter(|word| word.starts_with("openfang_")) {
            let named = word.replace('_', "-");
            if is_ours(&named)
                && named != owner.name
                && let Some(reason) = refusal(&owner.name, &named)
            {
                violations.push(Violation::new(path, index + 1, RULE, reason));
            }
        }
    }
    violations
}

/// Why a crate may not name another, if it may not.
fn refusal(from: &str, to: &str) -> Option<String> {
    if let Some((_, owner)) = SOLE_OWNERS.iter().find(|(name, owner)| *name == to && *owner != from) {
        return Some(format!("{from} may not depend on {to}: its sole owner is {owner}"));
    }
    let room = room(from)?;
    if DEV_ONLY.contains(&to) {
        return Some(format!("{from} may not name {to}: it is for development only"));
    }
    if is_ours(to) && !room.may_name.contains(&to) {
        return Some(format!("{from} may not name {to}: {}", permitted(room)));
    }
    room.never_knows.contains(&to).then(|| format!("{from} must never know {to}"))
}

fn permitted(room: &Room) -> String {
    if room.may_name.is_empty() {
        "it names none of ours".to_owned()
    } else {
        format!("only {}", room.may_name.join(", "))
    }
}

fn room(name: &str) -> Option<&'static Room> {
    HOUSE.iter().find(|room| room.name == name)
}

fn is_ours(name: &str) -> bool {
    room(name).is_some() || DEV_ONLY.contains(&name)
}

/// The member in whose directory a file lies; the deepest one, should one hold another.
fn owner_of<'a>(path: &str, metadata: &'a Metadata) -> Option<&'a Package> {
    let inside = |member: &&Package| {
        path.strip_prefix(&metadata.directory_of(member))
            .is_some_and(|rest| rest.starts_with('/'))
    };
    metadata.members().filter(inside).max_by_key(|member| metadata.directory_of(member).len())
}

#[cfg(test)]
#[path = "arrows_tests.rs"]
mod tests;

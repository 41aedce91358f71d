//! Dependencies that nothing uses. What a manifest declares is named in a source of its package, or it is not needed. A
//! dependency of the product that only tests name belongs to the tests.

use std::collections::HashSet;

use super::files::is_test;
use super::source::{self, words};
use super::{Tree, Violation};
use crate::metadata::{Dependency, Kind, Metadata, Package};

const RULE: &str = "unused";

/// The names in the sources of a package.
#[derive(Default)]
struct Named {
    product: HashSet<String>,
    tests: HashSet<String>,
}

/// Holds what the manifests declare against what the sources name.
pub(crate) fn dependencies(metadata: &Metadata, tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for member in metadata.members() {
        let (manifest, named) = (metadata.manifest_of(member), named_in(metadata, member, tree));
        for dependency in &member.dependencies {
            if let Some(reason) = refusal(dependency, &named) {
                violations.push(Violation::new(&manifest, tree.line_of(&manifest, &dependency.name), RULE, reason));
            }
        }
    }
    violations.sort();
    violations.dedup();
    violations
}

fn refusal(dependency: &Dependency, named: &Named) -> Option<String> {
    let name = &dependency.name;
    let word = dependency.rename.as_ref().unwrap_or(name).replace('-', "_");
    if named.product.contains(&word) {
        return None;
    }
    match (named.tests.contains(&word), dependency.kind) {
        (true, Some(Kind::Dev)) => None,
        (true, _) => Some(format!("only tests use {name}: it is a dev-dependency")),
        (false, _) => Some(format!("nothing uses {name}")),
    }
}

fn named_in(metadata: &Metadata, member: &Package, tree: &Tree) -> Named {
    let mut named = Named::default();
    let directories = metadata.source_directories(member);
    for file in tree.rust() {
        let is_inside =
            |directory: &String| file.path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'));
        if !directories.iter().any(is_inside) {
            continue;
        }
        let into = if is_test(&file.path) { &mut named.tests } else { &mut named.product };
        for line in source::lines(&file.text) {
            into.extend(path_starts(&line.code).map(str::to_owned));
        }
    }
    named
}

/// The names that a path or a macro may begin with, or that a `use` brings in whole.
fn path_starts(code: &str) -> impl Iterator<Item = &str> {
    let mut before = "";
    words(code).filter(move |word| {
        let is_used = before == "use";
        before = word;
        let at = word.as_ptr().addr() - code.as_ptr().addr();
        let after = &code[at + word.len()..];
        is_used || ((after.starts_with("::") || after.starts_with('!')) && !code[..at].ends_with("::"))
    })
}

#[cfg(test)]
#[path = "unused_tests.rs"]
mod tests;

//! The licences that may be in the product, and whether an SPDX expression can be satisfied from them:
//! `A OR B` lets us choose, `A AND B` binds us to both, `A WITH exception` only ever permits more than `A`.
//! The old `A/B` means `A OR B`.

use super::{Tree, Violation};
use crate::metadata::Metadata;

const RULE: &str = "licences";
const LOCK: &str = "Cargo.lock";

const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Holds every package of the graph against the list.
pub(crate) fn check(metadata: &Metadata, tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for package in &metadata.packages {
        let reason = match package.license.as_deref() {
            None => "says no licence".to_owned(),
            Some(expression) => match is_allowed(expression) {
                Some(true) => continue,
                Some(false) => format!("is under {expression}, which the list does not allow"),
                None => format!("has a licence that is no SPDX expression: {expression}"),
            },
        };
        let line = tree.line_of(LOCK, &format!("name = \"{}\"", package.name));
        violations.push(Violation::new(LOCK, line, RULE, format!("{} {} {reason}", package.name, package.version)));
    }
    violations
}

/// Whether an expression can be satisfied from the list; `None` when it cannot be read.
fn is_allowed(expression: &str) -> Option<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut tokens = Tokens { rest: spaced.split_whitespace().collect() };
    let allowed = any(&mut tokens)?;
    tokens.rest.is_empty().then_some(allowed)
}

struct Tokens<'a> {
    rest: std::collections::VecDeque<&'a str>,
}

impl<'a> Tokens<'a> {
    fn take(&mut self) -> Option<&'a str> {
        self.rest.pop_front()
    }

    fn take_if(&mut self, wanted: &str) -> bool {
        let found = self.rest.front() == Some(&wanted);
        if found {
            self.rest.pop_front();
        }
        found
    }
}

/// `all (OR all)*`
fn any(tokens: &mut Tokens<'_>) -> Option<bool> {
    let mut allowed = all(tokens)?;
    while tokens.take_if("OR") {
        allowed |= all(tokens)?;
    }
    Some(allowed)
}

/// `term (AND term)*`
fn all(tokens: &mut Tokens<'_>) -> Option<bool> {
    let mut allowed = term(tokens)?;
    while tokens.take_if("AND") {
        allowed &= term(tokens)?;
    }
    Some(allowed)
}

/// `( any )`, or a licence with an exception or without.
fn term(tokens: &mut Tokens<'_>) -> Option<bool> {
    let token = tokens.take()?;
    match token {
        "(" => {
            let allowed = any(tokens)?;
            tokens.take_if(")").then_some(allowed)
        }
        ")" | "OR" | "AND" | "WITH" => None,
        licence => {
            if tokens.take_if("WITH") {
                tokens
                    .take()
                    .filter(|exception| !matches!(*exception, "(" | ")" | "OR" | "AND" | "WITH"))?;
            }
            Some(ALLOWED.contains(&licence))
        }
    }
}

#[cfg(test)]
#[path = "licences_tests.rs"]
mod tests;

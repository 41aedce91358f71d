//! Rules about a file as a whole: module docs, length, layout.

use super::Violation;

const RULE_DOCS: &str = "docs";
const RULE_LENGTH: &str = "length";
const RULE_LAYOUT: &str = "layout";

/// Licence lines or attributes may stand above the module docs, but not much of them.
const DOCS_WITHIN_LINES: usize = 3;
const MAX_LINES: usize = 500;
const MAX_TEST_LINES: usize = 800;
const LONG_LINES: usize = 300;

/// A file opens by saying what it is.
pub(crate) fn module_docs(path: &str, text: &str) -> Option<Violation> {
    let documented = text.lines().take(DOCS_WITHIN_LINES).any(|line| line.starts_with("//!"));
    (!documented).then(|| Violation::new(path, 1, RULE_DOCS, "no `//!` module docs within the first 3 lines"))
}

/// A file fits into one head.
pub(crate) fn length(path: &str, text: &str) -> Option<Violation> {
    let max = if is_test(path) { MAX_TEST_LINES } else { MAX_LINES };
    let lines = text.lines().count();
    (lines > max)
        .then(|| Violation::new(path, max + 1, RULE_LENGTH, format!("{lines} lines, at most {max}: split by concept")))
}

/// Allowed, but worth a look.
pub(crate) fn long(path: &str, text: &str) -> Option<Violation> {
    let lines = text.lines().count();
    let long = !is_test(path) && (LONG_LINES + 1..=MAX_LINES).contains(&lines);
    long.then(|| Violation::new(path, LONG_LINES + 1, RULE_LENGTH, format!("{lines} lines, aim for {LONG_LINES}")))
}

/// `x.rs` is the map, `x/` the territory.
pub(crate) fn layout(path: &str) -> Option<Violation> {
    let is_mod_rs = path.rsplit('/').next() == Some("mod.rs");
    is_mod_rs.then(|| Violation::new(path, 1, RULE_LAYOUT, "no mod.rs: call it after its directory and put it beside"))
}

/// Whether a path holds tests rather than the product.
pub(crate) fn is_test(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or_default();
    name.ends_with("_tests.rs") || name == "tests.rs" || parts.any(|part| part == "tests")
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;

//! A value that goes out of scope begins nothing: `Drop` gives back what was taken. Work has a name, and somebody who calls it.

use super::Violation;
use super::files::is_test;
use super::source::Line;

const RULE: &str = "drops";

/// What begins work, or waits for it.
const WORK: &[&str] = &["spawn(", "spawn_blocking(", "block_on(", "fs::write(", ".commit(", ".append("];

/// No implementation of `Drop` in the product begins work.
pub(crate) fn work(path: &str, lines: &[Line]) -> Vec<Violation> {
    if !path.starts_with("crates/") || is_test(path) {
        return Vec::new();
    }
    let mut violations = Vec::new();
    let mut is_drop = false;
    for (index, line) in lines.iter().enumerate() {
        is_drop |= line.code.starts_with("impl") && line.code.contains(" Drop for ");
        if let Some(work) = WORK.iter().find(|work| is_drop && line.code.contains(**work)) {
            let work = work.trim_matches(['.', '(']);
            let reason = format!("{work} in Drop: give it a method that somebody calls");
            violations.push(Violation::new(path, index + 1, RULE, reason));
        }
        if line.code == "}" {
            is_drop = false;
        }
    }
    violations
}

#[cfg(test)]
#[path = "drops_tests.rs"]
mod tests;

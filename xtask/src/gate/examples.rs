//! Whether a source has examples that rustdoc would compile. Building the doc tests of a workspace that has none
//! takes longer than looking.

use crate::tidy::source;

/// Fences with one of these words are not compiled.
const NOT_COMPILED: &[&str] =
    &["text", "ignore", "toml", "json", "sh", "bash", "console", "http", "sql", "yaml", "markdown", "mermaid"];

/// Whether the docs of a source hold an example.
pub(crate) fn has_any(text: &str) -> bool {
    let mut open = false;
    for line in source::lines(text) {
        let doc = line.comment.strip_prefix("///").or_else(|| line.comment.strip_prefix("//!"));
        let Some(doc) = doc.map(str::trim_start) else {
            open = false;
            continue;
        };
        let Some(info) = doc.strip_prefix("```") else { continue };
        if !open && is_compiled(info) {
            return true;
        }
        open = !open;
    }
    false
}

fn is_compiled(info: &str) -> bool {
    !info.split(',').any(|word| NOT_COMPILED.contains(&word.trim()))
}

#[cfg(test)]
#[path = "examples_tests.rs"]
mod tests;

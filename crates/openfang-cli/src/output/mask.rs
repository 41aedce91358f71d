//! Hides values in a line of somebody's settings: a preview may be pasted into an issue.

/// Parts of names whose values are secrets.
const SECRET_NAMES: [&str; 8] = ["key", "token", "secret", "password", "passwd", "auth", "credential", "cookie"];

/// The line with `"..."` in the place of a value that follows such a name.
pub(super) fn masked(line: &str) -> String {
    let Some(at) = line.find([':', '=']) else { return line.to_owned() };
    let (name, value) = line.split_at(at + 1);
    let lower = name.to_lowercase();
    let is_text = value.trim_start().starts_with(['"', '\'']);
    if !is_text || !SECRET_NAMES.iter().any(|secret| lower.contains(secret)) {
        return line.to_owned();
    }
    let ending = if value.trim_end().ends_with(',') { "," } else { "" };
    format!("{name} \"...\"{ending}")
}

#[cfg(test)]
#[path = "mask_tests.rs"]
mod tests;

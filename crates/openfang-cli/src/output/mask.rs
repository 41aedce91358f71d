//! Hides values in a line of somebody's settings: a preview may be pasted into an issue.

/// Parts of names whose values are secrets.
const SECRET_NAMES: [&str; 8] = ["key", "token", "secret", "password", "passwd", "auth", "credential", "cookie"];

/// The line with `...` in the place of every text that is the value of such a name: `"TOKEN": "x"`, `token = 'x'`,
/// `"--token", "x"`, `"TOKEN=x"`. A file may have all of its names on one line.
pub(super) fn masked(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    // What stands before the next text, and whether that names a secret.
    let (mut rest, mut word, mut is_secret) = (line, String::new(), false);
    while let Some(c) = rest.chars().next() {
        if c == '"' || c == '\'' {
            let (text, after) = quoted(rest, c);
            let inner = text.trim_matches(c);
            let is_name = after.trim_start().starts_with([':', '=']);
            if is_secret && !is_name {
                shown.push_str(&format!("{c}...{c}"));
            } else if let Some((name, _)) = inner.split_once('=').filter(|(name, _)| names_secret(name)) {
                shown.push_str(&format!("{c}{name}=...{c}"));
            } else {
                shown.push_str(text);
            }
            let is_option = inner.starts_with('-') && !inner.contains('=') && after.trim_start().starts_with(',');
            is_secret = (is_name || (is_option && !is_secret)) && names_secret(inner);
            word.clear();
            rest = after;
            continue;
        }
        match c {
            '=' | ':' if !word.is_empty() => is_secret = names_secret(&std::mem::take(&mut word)),
            // A list or an object is no text: its own names decide.
            '{' | '[' | '}' | ']' => is_secret = false,
            c if c.is_alphanumeric() || matches!(c, '_' | '-' | '.') => word.push(c),
            _ => {}
        }
        shown.push(c);
        rest = &rest[c.len_utf8()..];
    }
    shown
}

fn names_secret(name: &str) -> bool {
    let lower = name.to_lowercase();
    SECRET_NAMES.iter().any(|secret| lower.contains(secret))
}

/// The text at the start with its quotes, and what follows it. One that is not closed goes to the end.
fn quoted(line: &str, quote: char) -> (&str, &str) {
    let mut is_escaped = false;
    for (at, c) in line.char_indices().skip(1) {
        if c == quote && !is_escaped {
            return line.split_at(at + c.len_utf8());
        }
        is_escaped = c == '\\' && !is_escaped && quote == '"';
    }
    (line, "")
}

#[cfg(test)]
#[path = "mask_tests.rs"]
mod tests;

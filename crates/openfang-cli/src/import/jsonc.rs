//! JSON with comments and trailing commas, as editors write it.

use serde_json::Value;

/// Parses the text. The error does not quote it, because it may contain secrets.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let plain = plain(text.strip_prefix('\u{feff}').unwrap_or(text));
    serde_json::from_str(&plain).map_err(|error| format!("invalid JSON in line {}", error.line()))
}

/// Replaces comments and trailing commas by blanks. Line breaks are kept.
fn plain(text: &str) -> String {
    let mut out: Vec<char> = Vec::with_capacity(text.len());
    let mut comma = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                comma = None;
                out.push(c);
                while let Some(c) = chars.next() {
                    out.push(c);
                    match c {
                        '\\' => out.extend(chars.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '/' if chars.peek() == Some(&'/') => while chars.next_if(|c| *c != '\n').is_some() {},
            '/' if chars.peek() == Some(&'*') => {
                chars.next();
                let mut last = ' ';
                for c in chars.by_ref() {
                    if c == '\n' {
                        out.push(c);
                    }
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
                out.push(' ');
            }
            ',' => {
                comma = Some(out.len());
                out.push(c);
            }
            '}' | ']' => {
                if let Some(comma) = comma.take() {
                    out[comma] = ' ';
                }
                out.push(c);
            }
            c => {
                if !c.is_whitespace() {
                    comma = None;
                }
                out.push(c);
            }
        }
    }
    out.into_iter().collect()
}

#[cfg(test)]
#[path = "jsonc_tests.rs"]
mod tests;

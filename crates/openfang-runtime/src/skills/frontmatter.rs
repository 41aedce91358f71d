//! The frontmatter of a `SKILL.md`: YAML between two lines of three hyphens.
//!
//! The parser has a budget: no anchors and so no bombs, no deep nesting, one document, no keys that come twice. Booleans are
//! those of YAML 1.2, because what clients are shown is compared with what they parse themselves.

use std::borrow::Cow;

use openfang_types::limits::SKILL_FRONTMATTER_MAX_BYTES;
use serde_json::{Map, Value};

/// The two parts of a `SKILL.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The members of the frontmatter, as they are written.
    pub members: Map<String, Value>,
    /// The text behind it.
    pub body: String,
    /// Whether a value had to be quoted before the text was YAML.
    pub is_repaired: bool,
}

/// Why a text is no `SKILL.md`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrontmatterError {
    #[error("it does not begin with a line `---`; write name and description between two such lines")]
    Missing,
    #[error("the frontmatter has no end; close it with a line `---`")]
    Unclosed,
    #[error("the frontmatter is larger than {SKILL_FRONTMATTER_MAX_BYTES} bytes")]
    TooLarge,
    #[error("the frontmatter is not YAML that can be used: {0}")]
    Yaml(String),
    #[error("the frontmatter is not a list of keys with values")]
    NoMembers,
}

/// Reads a `SKILL.md`. A byte order mark and line ends of Windows are fine.
pub fn read(text: &str) -> Result<Document, FrontmatterError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (yaml, body) = split(text)?;
    if yaml.len() > SKILL_FRONTMATTER_MAX_BYTES {
        return Err(FrontmatterError::TooLarge);
    }
    let yaml = without_carriage_returns(yaml);
    let (members, is_repaired) = match parse(&yaml) {
        Ok(members) => (members, false),
        Err(error) => match quoted_values(&yaml).as_deref().map(parse) {
            Some(Ok(members)) => (members, true),
            Some(Err(_)) | None => return Err(error),
        },
    };
    Ok(Document { members, body: without_carriage_returns(body).into_owned(), is_repaired })
}

/// The text between the two lines, and the text behind them. Only a whole line of three hyphens ends it.
fn split(text: &str) -> Result<(&str, &str), FrontmatterError> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if first.trim_end() != "---" || !first.ends_with('\n') {
        return Err(FrontmatterError::Missing);
    }
    let mut end = first.len();
    for line in lines {
        if line.trim_end() == "---" && line.starts_with("---") {
            return Ok((&text[first.len()..end], &text[end + line.len()..]));
        }
        end += line.len();
    }
    Err(FrontmatterError::Unclosed)
}

fn without_carriage_returns(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

fn parse(yaml: &str) -> Result<Map<String, Value>, FrontmatterError> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 4_000,
            max_aliases: 0,
            max_anchors: 0,
            max_depth: 16,
            max_documents: 1,
            max_nodes: 2_000,
            max_total_scalar_bytes: SKILL_FRONTMATTER_MAX_BYTES,
            max_merge_keys: 0,
        },
        strict_booleans: true,
        reject_unsupported_tags: true,
        with_snippet: false,
    };
    let value: Value = serde_saphyr::from_str_with_options(yaml, options)
        .map_err(|error| FrontmatterError::Yaml(error.to_string().chars().take(200).collect()))?;
    match value {
        Value::Object(members) => Ok(members),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(FrontmatterError::NoMembers)
        }
    }
}

/// The same with quotes around plain values that have a colon in them, as in `description: Use it so: first ...`. None where no
/// line has one.
fn quoted_values(yaml: &str) -> Option<String> {
    let mut is_changed = false;
    let lines = yaml.lines().map(|line| match line.split_once(": ") {
        Some((key, value)) if is_plain_key(key) && needs_quotes(value) => {
            is_changed = true;
            let value = value.trim_end().replace('\\', "\\\\").replace('"', "\\\"");
            format!("{key}: \"{value}\"")
        }
        Some(_) | None => line.to_owned(),
    });
    let quoted = lines.collect::<Vec<_>>().join("\n");
    is_changed.then_some(quoted)
}

fn is_plain_key(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

fn needs_quotes(value: &str) -> bool {
    value.contains(": ") && !value.starts_with(['"', '\'', '[', '{', '|', '>', '&', '*', '!'])
}

#[cfg(test)]
#[path = "frontmatter_tests.rs"]
mod tests;

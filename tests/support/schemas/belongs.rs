//! Members and codes that came with a revision, and must not be in a message of an older one. Only what the protocol
//! itself says is looked at: arguments, structured content, schemas and `_meta` belong to users.

use serde_json::Value;

use super::Revision;

/// Members with the revision that brought them.
const MEMBERS: &[(&str, Revision)] = &[
    ("resultType", Revision::R2026_07_28),
    ("ttlMs", Revision::R2026_07_28),
    ("cacheScope", Revision::R2026_07_28),
    ("inputRequests", Revision::R2026_07_28),
    ("inputResponses", Revision::R2026_07_28),
    ("requestState", Revision::R2026_07_28),
    ("icons", Revision::R2025_11_25),
    ("structuredContent", Revision::R2025_06_18),
    ("outputSchema", Revision::R2025_06_18),
    ("title", Revision::R2025_06_18),
];

/// Kinds of content with the revision that brought them.
const CONTENT: &[(&str, Revision)] = &[("resource_link", Revision::R2025_06_18), ("audio", Revision::R2025_03_26)];

/// Members whose values are the users' own.
const OPAQUE: &[&str] = &[
    "_meta",
    "arguments",
    "data",
    "experimental",
    "inputSchema",
    "metadata",
    "outputSchema",
    "requestedSchema",
    "structuredContent",
];

/// The params of a request or a notification.
pub(super) fn params(revision: Revision, params: &Value) -> Result<(), String> {
    walk(revision, "params", params)
}

/// A result. What a user answered to an elicitation is the user's own.
pub(super) fn result(revision: Revision, method: &str, result: &Value) -> Result<(), String> {
    if method == "elicitation/create" {
        let mut asked = result.clone();
        asked["content"] = Value::Null;
        return walk(revision, "result", &asked);
    }
    walk(revision, "result", result)
}

/// The codes that are given a meaning by some revisions only.
pub(super) fn error_code(revision: Revision, code: Option<i64>) -> Result<(), String> {
    let allowed = match code {
        Some(-32022..=-32020) => revision == Revision::R2026_07_28,
        Some(-32042) => revision == Revision::R2025_11_25,
        Some(-32002) => revision != Revision::R2026_07_28,
        Some(_) | None => true,
    };
    if allowed { Ok(()) } else { Err(format!("the error code {} does not belong", code.unwrap_or_default())) }
}

/// `parent` is the member that the value, or the list it is in, is under.
fn walk(revision: Revision, parent: &str, value: &Value) -> Result<(), String> {
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| walk(revision, parent, item)),
        Value::Object(members) => {
            content_kind(revision, value)?;
            members.iter().try_for_each(|(name, value)| {
                member(revision, parent, name)?;
                if OPAQUE.contains(&name.as_str()) { Ok(()) } else { walk(revision, name, value) }
            })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

fn member(revision: Revision, parent: &str, name: &str) -> Result<(), String> {
    let since = MEMBERS.iter().find(|(member, _)| *member == name).map(|(_, since)| *since);
    let since = match (parent, name) {
        // Tool annotations had a title before anything else had; content had annotations before tools had.
        ("annotations", "title") => None,
        ("tools", "annotations") => Some(Revision::R2025_03_26),
        _ => since,
    };
    match since {
        Some(since) if !revision.is_since(since) => {
            Err(format!("`{name}` in `{parent}` does not belong: it came with {}", since.name()))
        }
        _ => Ok(()),
    }
}

fn content_kind(revision: Revision, value: &Value) -> Result<(), String> {
    let kind = value["type"].as_str().unwrap_or_default();
    match CONTENT.iter().find(|(content, _)| *content == kind) {
        Some((_, since)) if !revision.is_since(*since) => {
            Err(format!("content of type `{kind}` does not belong: it came with {}", since.name()))
        }
        _ => Ok(()),
    }
}

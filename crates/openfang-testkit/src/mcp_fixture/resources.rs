//! The resources: two fixed ones, one that changes, and a template.

use std::sync::Arc;

use openfang_mcp::content::ResourceContents;
use openfang_mcp::error::McpError;
use openfang_mcp::host::ResourcePage;
use openfang_mcp::listing::{Listed, Listing};
use serde_json::json;

use super::answering::PNG;
use super::lists::{definition, entry};

/// The resource that changes.
pub(super) const WATCHED: &str = "test://watched-resource";
const TEXT: &str = "test://static-text";
const BINARY: &str = "test://static-binary";

/// The names and their further members.
const RESOURCES: &[(&str, &str)] = &[
    (
        "static-text",
        r#""uri":"test://static-text","title":"Static text","description":"A text.","mimeType":"text/plain","icons":[{"src":"https://example.com/icon.png"}]"#,
    ),
    ("static-binary", r#""uri":"test://static-binary","description":"A picture.","mimeType":"image/png""#),
    ("watched-resource", r#""uri":"test://watched-resource","description":"It changes.","mimeType":"text/plain""#),
];

/// The resources, all on one page.
pub(super) fn page(cursor: Option<&str>) -> Result<ResourcePage, McpError> {
    if cursor.is_some_and(|cursor| !cursor.is_empty()) {
        return Err(McpError::BadCursor);
    }
    let resources = RESOURCES.iter().map(|(name, members)| definition(name, members)).collect();
    Ok(ResourcePage { resources, next_cursor: None })
}

pub(super) fn templates() -> Arc<Listing> {
    let members = r#""uriTemplate":"test://template/{id}/data","description":"As many as one likes.","mimeType":"application/json""#;
    Arc::new(Listing::new(Listed::Templates, vec![entry("template", members)]))
}

/// The contents of a resource.
pub(super) fn contents(uri: &str, edition: u64) -> Result<ResourceContents, McpError> {
    match uri {
        TEXT => {
            let text = "This is the content of the static text resource.";
            Ok(ResourceContents::text(uri, "text/plain", text))
        }
        BINARY => Ok(ResourceContents::of(&[json!({ "uri": uri, "mimeType": "image/png", "blob": PNG })])),
        WATCHED => Ok(ResourceContents::text(uri, "text/plain", &format!("Edition {edition}."))),
        _ => {
            let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
            let id = id.filter(|id| !id.is_empty() && !id.contains('/'));
            let id = id.ok_or_else(|| McpError::unknown_resource(uri))?;
            let text = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            Ok(ResourceContents::text(uri, "application/json", &text.to_string()))
        }
    }
}

//! The URIs of the files of skills: one for each file, directories of them, and what a client is told of a file by its name.

use std::collections::BTreeMap;
use std::sync::Arc;

use openfang_mcp::McpError;
use openfang_mcp::listing::{Entry, Listed, Listing};
use openfang_mcp::skills::{SkillEntry, SkillResource, SkillResources};
use openfang_runtime::mcp_server::raw;
use openfang_runtime::skills::{ReadySkill, SKILL_FILE};
use openfang_types::ids::SkillName;
use serde_json::json;

pub(super) const SCHEME: &str = "skill://";
/// What the URIs of our own skills begin with.
pub(super) const OURS: &str = "skill://openfang/";
/// What a directory is, in the place of a media type.
const DIRECTORY: &str = "inode/directory";

/// What lies directly in a directory of a listed skill.
pub(super) fn directory(skills: &Listing, uri: &str) -> Result<Arc<Listing>, McpError> {
    let unknown = || McpError::no_directory(uri);
    let directory = format!("{}/", uri.trim_end_matches('/'));
    // The skill is at the directory or above it.
    let above = directory.match_indices('/').map(|(at, _)| &directory[..=at]);
    let entry = above
        .rev()
        .find_map(|place| skills.get(&format!("{place}{SKILL_FILE}")))
        .ok_or_else(unknown)?;
    let skill: SkillEntry = serde_json::from_str(&entry.json()).map_err(|_| McpError::Internal)?;
    let SkillResources::Listed(files) = skill.resources else { return Err(unknown()) };
    let mut children: BTreeMap<String, Entry> = BTreeMap::new();
    for SkillResource { uri: file, size, .. } in &files {
        let Some(below) = file.strip_prefix(&directory) else { continue };
        let (child, json) = match below.split_once('/') {
            Some((name, _)) => {
                let child = format!("{directory}{name}");
                let json = json!({ "uri": child, "name": name, "mimeType": DIRECTORY });
                (child, json)
            }
            None => {
                let json = json!({ "uri": file, "name": below, "mimeType": media_type(below), "size": size });
                (file.clone(), json)
            }
        };
        children.entry(child.clone()).or_insert_with(|| Entry::new(child, raw(&json)));
    }
    match children.is_empty() {
        true => Err(unknown()),
        false => Ok(Arc::new(Listing::new(Listed::Resources, children.into_values().collect()))),
    }
}

pub(super) fn entry_of(skill: &ReadySkill) -> SkillEntry {
    let files = skill.files.iter().map(|file| SkillResource {
        uri: uri_of(&skill.name, &file.path),
        digest: format!("sha256:{}", file.sha256),
        size: file.size,
    });
    SkillEntry {
        uri: uri_of(&skill.name, SKILL_FILE),
        frontmatter: skill.frontmatter.clone(),
        resources: SkillResources::Listed(files.collect()),
    }
}

/// The one spelling of the URI of a file.
pub(super) fn uri_of(skill: &SkillName, path: &str) -> String {
    let mut uri = format!("{OURS}{skill}/");
    for byte in path.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => uri.push(char::from(byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// The media type of a file, by the end of its name.
pub(super) fn media_type(path: &str) -> &'static str {
    let end = path.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
    match end.as_deref() {
        Some("md" | "markdown") => "text/markdown",
        Some("json") => "application/json",
        Some("yaml" | "yml") => "application/yaml",
        Some("html" | "htm") => "text/html",
        Some("csv") => "text/csv",
        Some("txt" | "py" | "sh" | "js" | "ts" | "toml" | "xml" | "sql" | "rs" | "go") => "text/plain",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("gif") => "image/gif",
        Some("svg") => "image/svg+xml",
        Some("pdf") => "application/pdf",
        Some(_) | None => "application/octet-stream",
    }
}

#[cfg(test)]
#[path = "skill_uris_tests.rs"]
mod tests;

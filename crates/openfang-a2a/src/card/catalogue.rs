//! The catalogue of a server: which agents it has, and where their cards are, in the format of AI Catalog 1.0. It says nothing
//! that the cards do not say to the same reader.

use std::sync::Arc;

use jiff::Timestamp;
use openfang_types::limits::{CATALOGUE_ENTRIES, CATALOGUE_TAGS};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::CardDocument;

/// The media type of an entry that is an agent card.
pub const AGENT_CARD_TYPE: &str = "application/a2a-agent-card+json";
/// The media type of an entry that is an MCP server.
pub const MCP_SERVER_TYPE: &str = "application/mcp-server-card+json";

/// The server that a catalogue is about.
#[derive(Debug, Clone)]
pub struct CatalogueHost {
    /// The address of the server, without a slash at its end.
    pub base: String,
    /// The version of the server.
    pub version: String,
    /// The path of the MCP endpoint, for readers who can use it.
    pub mcp: Option<String>,
}

/// An agent of a catalogue.
#[derive(Debug, Clone)]
pub struct CatalogueAgent {
    /// The name in the agent's path.
    pub name: String,
    /// The URL of the card.
    pub card_url: String,
    /// The card, as the same reader is shown it.
    pub card: Arc<CardDocument>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Catalogue<'a> {
    spec_version: &'static str,
    host: Host<'a>,
    entries: Vec<CatalogueEntry>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Host<'a> {
    display_name: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CatalogueEntry {
    identifier: String,
    display_name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<Timestamp>,
}

/// What is read of a card again.
#[derive(Deserialize)]
struct CardWords {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    skills: Vec<SkillWords>,
}

#[derive(Deserialize)]
struct SkillWords {
    name: String,
}

/// Writes a catalogue of these agents. `now` is when the server began to say so.
pub fn catalogue(host: &CatalogueHost, agents: &[CatalogueAgent], now: Timestamp) -> CardDocument {
    let domain = domain(&host.base);
    let mcp = host.mcp.as_ref().map(|path| CatalogueEntry {
        identifier: format!("urn:air:{domain}:mcp:openfang"),
        display_name: "OpenFang".to_owned(),
        kind: MCP_SERVER_TYPE,
        url: None,
        data: Some(json!({
            "name": "openfang",
            "version": host.version,
            "remotes": [{ "type": "streamable-http", "url": format!("{}{path}", host.base) }],
        })),
        description: "The agents and tools of this server over MCP.".to_owned(),
        tags: Vec::new(),
        version: host.version.clone(),
        updated_at: None,
    });
    let entries = agents.iter().filter_map(|agent| agent_entry(agent, domain)).chain(mcp);
    let document = Catalogue {
        spec_version: "1.0",
        host: Host { display_name: domain },
        entries: entries.take(CATALOGUE_ENTRIES).collect(),
    };
    CardDocument::of(&document, now)
}

fn agent_entry(agent: &CatalogueAgent, domain: &str) -> Option<CatalogueEntry> {
    let words: CardWords = serde_json::from_slice(&agent.card.body).ok()?;
    Some(CatalogueEntry {
        identifier: format!("urn:air:{domain}:agents:{}", agent.name),
        display_name: words.name,
        kind: AGENT_CARD_TYPE,
        url: Some(agent.card_url.clone()),
        data: None,
        description: words.description,
        tags: words.skills.into_iter().map(|skill| skill.name).take(CATALOGUE_TAGS).collect(),
        version: words.version,
        updated_at: Some(agent.card.last_modified),
    })
}

/// The host of a URL, without its port.
fn domain(base: &str) -> &str {
    let rest = base.split_once("://").map_or(base, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    match authority.strip_prefix('[').and_then(|bare| bare.split_once(']')) {
        Some((v6, _)) => v6,
        None => authority.split(':').next().unwrap_or_default(),
    }
}

#[cfg(test)]
#[path = "catalogue_tests.rs"]
mod tests;

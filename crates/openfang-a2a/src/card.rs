//! Agent cards: how agents describe themselves to clients of every version.
//!
//! [`AgentCard`] is the one model, in the shape of 1.0 with the additions older versions need. `render.rs` writes it in
//! one of the [`CardForm`]s, `sign.rs` signs it, `verify.rs` verifies it, and `document.rs` prepares it for serving.
//! `catalogue.rs` lists the cards of a server.

use std::collections::BTreeMap;

use openfang_types::agent::AgentManifest;
use openfang_types::ids::{AgentName, ToolName};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::server::OUTPUT_MODES;

pub use catalogue::{AGENT_CARD_TYPE, CatalogueAgent, CatalogueHost, MCP_SERVER_TYPE, catalogue};
pub use document::{CardDocument, listing};
pub use render::CardForm;
pub use sign::{CardKey, CardKeyError, CardSignature, SignError};
pub use verify::{CardKeys, SignatureHeader, VerifyError, verify};

pub(crate) mod canonical;
mod catalogue;
mod document;
mod members;
mod render;
mod sign;
mod verify;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCard {
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub description: String,
    pub url: String,
    /// The base URL of HTTP+JSON.
    pub http_json_url: String,
    /// The version of this server.
    pub version: String,
    /// The optional features of the agent.
    pub capabilities: AgentCapabilities,
    /// The skills clients can ask for.
    pub skills: Vec<AgentSkill>,
    /// The media types it reads.
    pub default_input_modes: Vec<String>,
    /// The media types it writes.
    pub default_output_modes: Vec<String>,
    /// The accepted security schemes. A client needs any one of them. Empty means no credential is required.
    pub security: Vec<SecurityScheme>,
    pub signatures: Vec<CardSignature>,
}

/// The optional features of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCapabilities {
    /// Streams events while a task runs.
    pub streaming: bool,
    /// Pushes events to a URL.
    pub push_notifications: bool,
    /// Lists the past states of a task. Removed in 1.0.
    pub state_transition_history: bool,
    /// Shows an authenticated caller its own card.
    pub extended_agent_card: bool,
    /// The extensions, by URI, that a request must name.
    pub required_extensions: Vec<String>,
    /// The tools of the agent with their schemas, for clients that know [`TOOLS_EXTENSION`].
    pub tools: BTreeMap<String, SkillSchemas>,
}

/// The extension that describes skills as tools: its parameters have the schemas of each. A message with one data part
/// `{tool, arguments}` calls the tool.
pub const TOOLS_EXTENSION: &str = "urn:openfang:a2a:tools:1";

/// What a skill takes and returns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillSchemas {
    pub input_schema: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
}

impl Default for AgentCapabilities {
    /// All features, and no extension.
    fn default() -> Self {
        Self {
            streaming: true,
            push_notifications: true,
            state_transition_history: true,
            extended_agent_card: true,
            required_extensions: Vec::new(),
            tools: BTreeMap::new(),
        }
    }
}

/// A skill of an agent: a tool it may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSkill {
    /// The name of the tool.
    pub id: String,
    /// The name shown to people.
    pub name: String,
    pub description: String,
    pub tags: Vec<String>,
    /// Example messages for the skill.
    pub examples: Vec<String>,
}

/// A way to authenticate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecurityScheme {
    Bearer,
    /// The session cookie of a login.
    Cookie {
        /// The name of the cookie.
        name: String,
    },
}

/// The URLs of an agent, how to authenticate there, and the features available there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub url: String,
    /// The base URL of HTTP+JSON.
    pub http_json_url: String,
    /// The accepted security schemes. Empty by default.
    pub security: Vec<SecurityScheme>,
    /// The available features. All by default.
    pub capabilities: AgentCapabilities,
}

impl Endpoint {
    /// The endpoint that all agents share.
    pub fn shared(base: &str, listen_path: &str) -> Self {
        let url = format!("{base}{listen_path}");
        let (security, capabilities) = Default::default();
        Self { http_json_url: format!("{url}/rest"), url, security, capabilities }
    }

    /// The endpoint of a single agent.
    pub fn of(agent: &AgentName, base: &str, listen_path: &str) -> Self {
        let url = format!("{base}{listen_path}/agents/{agent}");
        Self { http_json_url: url.clone(), url, ..Self::shared(base, listen_path) }
    }
}

/// The card of an agent. Each of these tools becomes a skill with the tool's description.
///
/// No member that the protocol requires is left empty. Empty values are not part of the signed form, and readers
/// disagree on whether required members may be missing. So an agent without visible tools lists itself as a skill.
pub fn build_agent_card(
    manifest: &AgentManifest,
    tools: &[(ToolName, Option<String>)],
    endpoint: Endpoint,
) -> AgentCard {
    let name = manifest.name.to_string();
    let description = said(&manifest.description).unwrap_or_else(|| format!("The agent {name}"));
    let mut skills: Vec<_> = tools.iter().map(|(tool, about)| tool_skill(tool, about.as_deref())).collect();
    // A model does more than its tools.
    if skills.is_empty() || manifest.model.provider.has_model() {
        let itself = AgentSkill {
            id: name.clone(),
            name: name.clone(),
            description: description.clone(),
            tags: vec!["agent".to_owned()],
            examples: Vec::new(),
        };
        skills.insert(0, itself);
    }
    skills.iter_mut().for_each(|skill| skill.tags.extend(manifest.tags.iter().cloned()));
    AgentCard { name, description, skills, ..blank(endpoint) }
}

/// The card of a server that offers no agent. It has no skills and must not be signed.
pub fn placeholder_card(endpoint: Endpoint) -> AgentCard {
    blank(endpoint)
}

fn blank(endpoint: Endpoint) -> AgentCard {
    let modes = || OUTPUT_MODES.map(str::to_owned).to_vec();
    AgentCard {
        name: "openfang".to_owned(),
        description: "An OpenFang server that offers no agent here".to_owned(),
        url: endpoint.url,
        http_json_url: endpoint.http_json_url,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        capabilities: endpoint.capabilities,
        skills: Vec::new(),
        default_input_modes: modes(),
        default_output_modes: modes(),
        security: endpoint.security,
        signatures: Vec::new(),
    }
}

fn tool_skill(tool: &ToolName, about: Option<&str>) -> AgentSkill {
    AgentSkill {
        id: tool.to_string(),
        name: tool.as_str().replace('_', " "),
        description: about.and_then(said).unwrap_or_else(|| format!("Can use the {tool} tool")),
        tags: vec!["tool".to_owned()],
        examples: Vec::new(),
    }
}

/// The text, unless it is blank.
fn said(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
#[path = "card_tests.rs"]
mod tests;

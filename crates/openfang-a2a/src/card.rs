//! Agent cards: what an agent says about itself, to clients of every version.
//!
//! [`AgentCard`] is the one model, shaped as in 1.0, with what older versions need. `render.rs` writes it in one of the
//! [`CardForm`]s, `sign.rs` signs it, `document.rs` is a card as it is served.

use openfang_types::agent::AgentManifest;
use openfang_types::ids::{AgentName, ToolName};

use crate::server::OUTPUT_MODES;

pub use document::{CardDocument, listing};
pub use render::CardForm;
pub use sign::{CardKey, CardKeyError, CardSignature, SignError};

mod canonical;
mod document;
mod render;
mod sign;

/// What an agent says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCard {
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Where JSON-RPC is posted to.
    pub url: String,
    /// What the paths of HTTP+JSON lie below.
    pub http_json_url: String,
    /// The version of what answers.
    pub version: String,
    /// What it can do beyond answering.
    pub capabilities: AgentCapabilities,
    /// What it can be asked for.
    pub skills: Vec<AgentSkill>,
    /// Media types that it reads.
    pub default_input_modes: Vec<String>,
    /// Media types that it writes.
    pub default_output_modes: Vec<String>,
    /// The ways to be let in, any one of them; none: nothing is asked for.
    pub security: Vec<SecurityScheme>,
    /// Who vouches for it.
    pub signatures: Vec<CardSignature>,
}

/// What an agent can do beyond answering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCapabilities {
    /// Tell what happens while it happens.
    pub streaming: bool,
    /// Tell it to an address.
    pub push_notifications: bool,
    /// Tell which states a task went through; gone in 1.0.
    pub state_transition_history: bool,
    /// Show a caller that is known a card of its own.
    pub extended_agent_card: bool,
    /// Extensions, by URI, without which it does not answer.
    pub required_extensions: Vec<String>,
}

impl Default for AgentCapabilities {
    /// All of them, and nothing is required.
    fn default() -> Self {
        Self {
            streaming: true,
            push_notifications: true,
            state_transition_history: true,
            extended_agent_card: true,
            required_extensions: Vec::new(),
        }
    }
}

/// Something that an agent can be asked for: a tool that it may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSkill {
    /// The name of the tool.
    pub id: String,
    /// The same for people.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Keywords.
    pub tags: Vec<String>,
    /// Messages that ask for it.
    pub examples: Vec<String>,
}

/// A way to be let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecurityScheme {
    /// `Authorization: Bearer <key>`.
    Bearer,
    /// The cookie of a login.
    Cookie {
        /// What it is called.
        name: String,
    },
}

/// Where an agent is reached, what it takes to be let in, and what can be asked for there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Where JSON-RPC is posted to.
    pub url: String,
    /// What the paths of HTTP+JSON lie below.
    pub http_json_url: String,
    /// The ways to be let in; none at first.
    pub security: Vec<SecurityScheme>,
    /// What can be asked for there; everything at first.
    pub capabilities: AgentCapabilities,
}

impl Endpoint {
    /// The endpoint that all agents share.
    pub fn shared(base: &str, listen_path: &str) -> Self {
        let url = format!("{base}{listen_path}");
        let (security, capabilities) = Default::default();
        Self { http_json_url: format!("{url}/rest"), url, security, capabilities }
    }

    /// The endpoint that is one agent's own.
    pub fn of(agent: &AgentName, base: &str, listen_path: &str) -> Self {
        let url = format!("{base}{listen_path}/agents/{agent}");
        Self { http_json_url: url.clone(), url, ..Self::shared(base, listen_path) }
    }
}

/// The card of an agent: each of these tools, with what it says about itself, is a skill.
///
/// No member that the protocol requires is left empty: what is empty drops out of what is signed, and the readers of the
/// protocol disagree on whether it may. So an agent that shows no tools has itself as a skill.
pub fn build_agent_card(
    manifest: &AgentManifest,
    tools: &[(ToolName, Option<String>)],
    endpoint: Endpoint,
) -> AgentCard {
    let name = manifest.name.to_string();
    let description = said(&manifest.description).unwrap_or_else(|| format!("The agent {name}"));
    let mut skills: Vec<_> = tools.iter().map(|(tool, about)| tool_skill(tool, about.as_deref())).collect();
    if skills.is_empty() {
        skills.push(AgentSkill {
            id: name.clone(),
            name: name.clone(),
            description: description.clone(),
            tags: vec!["agent".to_owned()],
            examples: Vec::new(),
        });
    }
    AgentCard { name, description, skills, ..blank(endpoint) }
}

/// The card of a house in which nobody answers. It has no skills, and is not to be signed.
pub fn placeholder_card(endpoint: Endpoint) -> AgentCard {
    blank(endpoint)
}

fn blank(endpoint: Endpoint) -> AgentCard {
    let modes = || OUTPUT_MODES.map(str::to_owned).to_vec();
    AgentCard {
        name: "openfang".to_owned(),
        description: "An OpenFang server; no agent of it is offered here".to_owned(),
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

/// The text, if it says anything.
fn said(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
#[path = "card_tests.rs"]
mod tests;

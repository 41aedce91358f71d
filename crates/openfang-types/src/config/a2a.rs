//! `[a2a]`: whether agents are offered over A2A, where, and what strangers are shown of them.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConfigProblem;
use crate::capability::Glob;

/// Agents over A2A, under `[a2a]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct A2aConfig {
    /// Whether the A2A routes are there.
    pub enabled: bool,
    /// The path they are below.
    pub listen_path: String,
    /// Patterns of the agents whose cards anybody may read.
    pub public_agents: Vec<Glob>,
    /// Patterns of the tools that those cards show to anybody.
    pub public_skills: Vec<Glob>,
    /// Whether streams are offered.
    pub streaming: bool,
    /// Whether push notifications are offered.
    pub push_notifications: bool,
    /// Whether callers with a credential are offered a card of what they may use.
    pub extended_card: bool,
    /// Extensions, by URI, that every client must name in the header `A2A-Extensions`.
    pub required_extensions: Vec<String>,
    /// A private key (PEM, P-256 or Ed25519) that cards are signed with; a path as seen from the config file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card_key: Option<PathBuf>,
    /// Agents elsewhere.
    pub external_agents: Vec<ExternalAgent>,
}

/// An agent elsewhere, under `[[a2a.external_agents]]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExternalAgent {
    /// What it is called here.
    pub name: String,
    /// Where its card is published.
    pub url: String,
}

/// The tools that do nothing but show that the house is there.
const STARTER_TOOLS: [&str; 5] = ["get_greeting", "current_time", "is_admin", "get_counter", "add_numbers"];

impl Default for A2aConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            listen_path: "/a2a".to_owned(),
            public_agents: vec![Glob::any()],
            public_skills: STARTER_TOOLS.iter().filter_map(|name| name.parse().ok()).collect(),
            streaming: true,
            push_notifications: true,
            extended_card: true,
            required_extensions: Vec::new(),
            card_key: None,
            external_agents: Vec::new(),
        }
    }
}

/// The first segments of paths that are taken.
const TAKEN: [&str; 7] = ["api", "mcp", "sse", "messages", "health", "metrics", ".well-known"];

pub(super) fn problems(a2a: &A2aConfig) -> Vec<ConfigProblem> {
    let mut problems = Vec::new();
    let mut say = |key: &str, why: String| problems.push(ConfigProblem { key: key.to_owned(), why });
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~');
    let segments = a2a.listen_path.strip_prefix('/').map(|path| path.split('/').collect::<Vec<_>>());
    let is_path = segments
        .as_ref()
        .is_some_and(|segments| segments.iter().all(|one| !one.is_empty() && one.chars().all(plain)));
    if !is_path {
        let why = format!("{:?} is not a path such as /a2a, without a slash at its end", a2a.listen_path);
        say("a2a.listen_path", why);
    } else if let Some(taken) = segments.and_then(|all| all.first().copied()).filter(|one| TAKEN.contains(one)) {
        say("a2a.listen_path", format!("/{taken} is taken; use another path"));
    }
    for agent in &a2a.external_agents {
        if !agent.url.starts_with("http://") && !agent.url.starts_with("https://") {
            say("a2a.external_agents.url", format!("{:?} is not an http or https address", agent.url));
        }
    }
    problems
}

//! `[a2a]`: whether agents are offered over A2A, where, and what strangers are shown of them.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConfigProblem;
use super::external_agents::{self, ExternalAgent};
use crate::capability::Glob;

/// Agents over A2A, under `[a2a]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct A2aConfig {
    /// Whether the A2A routes are enabled.
    pub enabled: bool,
    /// The path prefix of the A2A routes.
    pub listen_path: String,
    /// Patterns of the agents with public cards.
    pub public_agents: Vec<Glob>,
    /// Patterns of the tools in public cards.
    pub public_skills: Vec<Glob>,
    /// Whether streaming is offered.
    pub streaming: bool,
    /// Whether push notifications are offered.
    pub push_notifications: bool,
    /// Whether callers with a credential can get a card of the tools that they may use.
    pub extended_card: bool,
    /// URIs of extensions that every client must name in the header `A2A-Extensions`.
    pub required_extensions: Vec<String>,
    /// The private key that signs cards (PEM, P-256 or Ed25519); a path relative to the config file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card_key: Option<PathBuf>,
    /// A2A agents of other servers.
    pub external_agents: Vec<ExternalAgent>,
}

/// Demo tools, which are public by default.
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

/// First path segments that other routes use.
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
    problems.extend(external_agents::problems(&a2a.external_agents));
    problems
}

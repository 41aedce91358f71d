//! How external agents are doing: what `GET /api/a2a/agents` and `openfang a2a list` show.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{AgentName, ToolName};

/// Where an external agent stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExternalState {
    /// Known, and not looked for: it is when it is first used.
    Configured,
    /// Its card is being fetched for the first time.
    Discovering,
    Ready,
    /// Its card could not be fetched again; the last one is in use.
    Stale,
    /// Usable, with something that the operator should know.
    Degraded,
    /// Not usable; it is tried again.
    Failed,
    /// Its card changed, and the operator has not accepted that yet.
    Quarantined,
}

impl ExternalState {
    /// The word used in JSON and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Configured => "configured",
            Self::Discovering => "discovering",
            Self::Ready => "ready",
            Self::Stale => "stale",
            Self::Degraded => "degraded",
            Self::Failed => "failed",
            Self::Quarantined => "quarantined",
        }
    }
}

/// How an external agent is doing. The members that other programs know come first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalAgentStatus {
    pub name: AgentName,
    /// The configured URL, without what may be secret in it.
    pub url: String,
    /// What the agent says it is for, or what the configuration says.
    pub description: String,
    pub skills: Vec<ExternalSkill>,
    /// The version that the agent gives itself.
    pub version: String,
    pub state: ExternalState,
    /// Why it stands there, where there is something to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The tool that calls it.
    pub tool: ToolName,
    /// What the agent calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card_name: Option<String>,
    /// The version of A2A that is spoken with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// The endpoint that is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The state of the card's signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// Addresses of the card that were corrected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<String>,
    /// Whether its results count as the operator's own.
    pub trusted: bool,
    /// Whether strangers are shown it over A2A.
    pub public: bool,
}

/// A skill of an external agent, in its own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalSkill {
    pub id: String,
    pub name: String,
    pub description: String,
}

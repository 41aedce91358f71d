//! `[[a2a.external_agents]]`: A2A agents of other servers, which can be used like local agents.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::mcp_servers::{OnChange, is_default, own_reference};
use super::secret_refs::secret_references;
use super::{ConfigProblem, is_origin};
use crate::ids::{AgentName, ToolName};
use crate::limits::{EXTERNAL_AGENTS, EXTERNAL_IDLE_SECS, EXTERNAL_MAX_LIVE, EXTERNAL_MAX_SECS, EXTERNAL_TIMEOUT_SECS};
use crate::secret::Secret;
use crate::taint::DataClass;

/// An agent of another server, under `[[a2a.external_agents]]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExternalAgent {
    /// The name of the agent here. Its tool is `a2a_{name}`.
    pub name: AgentName,
    /// The URL of the server, of the card or of the endpoint; `${VAR}` is expanded.
    pub url: String,
    /// The endpoint, instead of the one that the card names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The protocol version: `auto`, `1.0`, `0.3`, `0.2`, `0.1` or `openfang`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub protocol: A2aProtocol,
    /// Headers of every request to the origin of `url` and to `origins`; `${VAR}` is expanded.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, Secret>,
    /// Other origins that the card may lead to, such as `https://agents.example.org`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub origins: Vec<String>,
    /// Timeout until the first byte of an answer, in seconds.
    #[serde(default = "timeout_secs")]
    pub timeout_secs: u64,
    /// How long a task may go on without a sign of life, in seconds.
    #[serde(default = "idle_secs")]
    pub idle_secs: u64,
    /// How long a task may take, in seconds. Time in which a person is asked does not count.
    #[serde(default = "max_secs")]
    pub max_secs: u64,
    /// Whether results count as the operator's own, without the label `untrusted-agent`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub trusted: bool,
    /// How far results may go: `internal` (to places that the operator or the user chose), `private` (nowhere else without an
    /// approval) or `public` (anywhere).
    #[serde(default, skip_serializing_if = "is_default")]
    pub data: DataClass,
    /// The description that models are shown instead of the card's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// How the agent's skills are shown: `list` in the description of its tool, `tools` as tools `a2a_{name}_{skill}` if
    /// the card has their schemas (`urn:openfang:a2a:tools:1`), or `hide`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub skills: ShownSkills,
    /// Whether the agent is shown to strangers over A2A, where `public_agents` matches.
    #[serde(default, skip_serializing_if = "is_default")]
    pub public: bool,
    /// What happens when the text of the card changes: `warn`, or `quarantine` until `openfang a2a accept`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_change: OnChange,
    /// Whether the signature of the card is verified: `off`, `if-signed` or `required`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub verify: VerifyCard,
    /// The keys that card signatures are verified with (JWKS); a path relative to the config file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<PathBuf>,
    /// How many messages may be under way to the agent.
    #[serde(default = "max_live")]
    pub max_live: usize,
    /// URIs of A2A extensions that requests declare.
    #[serde(default, skip_serializing_if = "is_default")]
    pub extensions: Vec<String>,
    /// Whether the agent may push changes of its tasks to this server. Used if `public_url` is set, the agent can push, and it
    /// has no streams. A push only makes OpenFang look at the task earlier.
    #[serde(default, skip_serializing_if = "is_default")]
    pub push: bool,
    /// Whether the agent recognizes a message that it is sent twice.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resend: bool,
}

/// The protocol that an external agent speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum A2aProtocol {
    /// The version is detected.
    #[default]
    #[serde(rename = "auto")]
    Auto,
    #[serde(rename = "1.0")]
    V10,
    #[serde(rename = "0.3")]
    V03,
    #[serde(rename = "0.2")]
    V02,
    #[serde(rename = "0.1")]
    V01,
    /// The routes that OpenFang documents: `/a2a/tasks/send` and its sisters.
    #[serde(rename = "openfang")]
    OpenFang,
}

/// How the skills of an external agent are shown to models.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ShownSkills {
    /// In the description of the agent's tool.
    #[default]
    List,
    /// As tools of their own if the card has their schemas, else in the description.
    Tools,
    /// Skills are not shown at all.
    Hide,
}

/// Whether the signature of a card is verified.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VerifyCard {
    Off,
    /// A card without a signature is accepted.
    #[default]
    IfSigned,
    /// A card without a signature is refused.
    Required,
}

/// Names that tools of every home have: `a2a_send` and `a2a_discover`.
const TAKEN_NAMES: [&str; 2] = ["send", "discover"];

impl ExternalAgent {
    /// An agent with default settings.
    pub const fn new(name: AgentName, url: String) -> Self {
        Self {
            name,
            url,
            endpoint: None,
            protocol: A2aProtocol::Auto,
            headers: BTreeMap::new(),
            origins: Vec::new(),
            timeout_secs: EXTERNAL_TIMEOUT_SECS,
            idle_secs: EXTERNAL_IDLE_SECS,
            max_secs: EXTERNAL_MAX_SECS,
            trusted: false,
            data: DataClass::Internal,
            description: String::new(),
            skills: ShownSkills::List,
            public: false,
            on_change: OnChange::Warn,
            verify: VerifyCard::IfSigned,
            keys: None,
            max_live: EXTERNAL_MAX_LIVE,
            extensions: Vec::new(),
            push: false,
            resend: false,
        }
    }

    /// The name of the agent's tool.
    #[expect(clippy::expect_used, reason = "an agent name with a prefix is a valid tool name")]
    pub fn tool_name(&self) -> ToolName {
        external_tool_name(&self.name)
            .parse()
            .expect("an agent name with a prefix is a valid tool name")
    }

    /// The timeout until the first byte of an answer.
    pub const fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_secs)
    }

    /// How long a task may go on without a sign of life.
    pub const fn idle(&self) -> Duration {
        Duration::from_secs(self.idle_secs)
    }

    /// How long a task may take.
    pub const fn longest(&self) -> Duration {
        Duration::from_secs(self.max_secs)
    }

    /// Whether the entry uses environment variables of this machine.
    pub fn names_variables(&self) -> bool {
        self.texts().any(|text| text.contains("${"))
    }

    /// The names of the stored secrets that the entry refers to.
    pub fn secrets(&self) -> BTreeSet<&str> {
        secret_references(self.texts())
    }

    /// A variable of OpenFang itself that the entry uses. One of these is the `api_key`, which no agent may have.
    pub fn own_variable(&self) -> Option<&str> {
        self.texts().find_map(|text| text.split("${").skip(1).find_map(own_reference))
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        let values = self.headers.values().map(Secret::expose);
        [self.url.as_str()].into_iter().chain(self.endpoint.as_deref()).chain(values)
    }
}

/// The name of the tool of an external agent.
pub fn external_tool_name(agent: &AgentName) -> String {
    format!("a2a_{}", agent.folded())
}

/// The problems that the types cannot detect, each with its key path.
pub(super) fn problems(agents: &[ExternalAgent]) -> Vec<ConfigProblem> {
    let mut problems = Vec::new();
    let mut say = |index: usize, key: &str, why: String| {
        problems.push(ConfigProblem { key: format!("a2a.external_agents[{index}].{key}"), why });
    };
    let mut names = HashSet::new();
    for (index, agent) in agents.iter().enumerate() {
        if TAKEN_NAMES.contains(&agent.name.as_str()) {
            say(index, "name", format!("{} is taken by the tool a2a_{0}; use another name", agent.name));
        } else if !names.insert(agent.name.folded()) {
            say(index, "name", format!("an agent {} already exists", agent.name));
        }
        for (key, url) in [("url", Some(&agent.url)), ("endpoint", agent.endpoint.as_ref())] {
            let is_url = |url: &&String| ["http://", "https://", "${"].iter().any(|begin| url.starts_with(begin));
            if url.is_some_and(|url| !is_url(&url)) {
                say(index, key, "must begin with http:// or https://".to_owned());
            }
        }
        if let Some(origin) = agent.origins.iter().find(|origin| !is_origin(origin)) {
            say(index, "origins", format!("{origin:?} is not an origin such as https://agents.example.org"));
        }
        for (key, seconds) in
            [("timeout_secs", agent.timeout_secs), ("idle_secs", agent.idle_secs), ("max_secs", agent.max_secs)]
        {
            if !(1..=7 * 86_400).contains(&seconds) {
                say(index, key, "must be between 1 second and 7 days".to_owned());
            }
        }
        if !(1..=10_000).contains(&agent.max_live) {
            say(index, "max_live", "must be between 1 and 10,000".to_owned());
        }
        if let Some(variable) = agent.own_variable() {
            say(index, "headers", format!("{variable} is a variable of OpenFang itself, which no agent may have"));
        }
        if agent.keys.is_some() && agent.verify == VerifyCard::Off {
            say(index, "keys", "are not used with verify = \"off\"".to_owned());
        }
    }
    if agents.len() > EXTERNAL_AGENTS {
        say(EXTERNAL_AGENTS, "name", format!("there are more than {EXTERNAL_AGENTS} external agents"));
    }
    problems
}

const fn timeout_secs() -> u64 {
    EXTERNAL_TIMEOUT_SECS
}

const fn idle_secs() -> u64 {
    EXTERNAL_IDLE_SECS
}

const fn max_secs() -> u64 {
    EXTERNAL_MAX_SECS
}

const fn max_live() -> usize {
    EXTERNAL_MAX_LIVE
}

#[cfg(test)]
#[path = "external_agents_tests.rs"]
mod tests;

//! What is in force: read together, judged together, replaced together. A request takes one and keeps it.

use std::collections::BTreeMap;
use std::sync::Arc;

use openfang_egress::http::HttpDoor;
use openfang_runtime::answerer::remote::ExternalAgents;
use openfang_types::config::{Config, ConfigProblem, ExternalAgent, McpServerConfigEntry};
use openfang_types::ids::AgentName;
use openfang_types::settings_status::FailedAgent;

use super::admin_key::AdminKey;
use super::agents::{self, Agent, LoadedAgents};
use super::home::Home;

/// What is in force.
pub(crate) struct Settings {
    config: Arc<Config>,
    agents: BTreeMap<AgentName, Arc<Agent>>,
    failed_agents: Vec<FailedAgent>,
    admin_key: Arc<AdminKey>,
    /// The way to URLs, as `[egress]` wants it.
    http: HttpDoor,
}

/// An agent that is to answer where none is named must be there. One that cannot be used as it is written is there.
pub(crate) fn no_default(settings: &Settings, home: &Home) -> Option<ConfigProblem> {
    let name = settings.config.default_agent.as_ref()?;
    let is_failed = settings.failed_agents.iter().any(|failed| failed.name == name.as_str());
    if is_failed || settings.agents.contains_key(name) {
        return None;
    }
    let known: Vec<&str> = settings.agents.keys().map(AgentName::as_str).collect();
    let known = if known.is_empty() { "there are none".to_owned() } else { format!("there are {}", known.join(", ")) };
    let why = format!("there is no agent {name} below {}; {known}", home.agents().display());
    Some(ConfigProblem { key: "default_agent".to_owned(), why })
}

impl Settings {
    pub(crate) fn new(config: Config, agents: LoadedAgents, admin_key: Arc<AdminKey>, http: HttpDoor) -> Self {
        let LoadedAgents { agents, failed } = agents;
        Self { config: Arc::new(config), agents, failed_agents: failed, admin_key, http }
    }

    pub(crate) const fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// The agents, by name.
    pub(crate) const fn agents(&self) -> &BTreeMap<AgentName, Arc<Agent>> {
        &self.agents
    }

    /// The agents that cannot be used as they are written, and why.
    pub(crate) fn failed_agents(&self) -> &[FailedAgent] {
        &self.failed_agents
    }

    pub(crate) const fn admin_key(&self) -> &Arc<AdminKey> {
        &self.admin_key
    }

    /// The way to URLs.
    pub(crate) const fn http(&self) -> &HttpDoor {
        &self.http
    }

    /// The same with another list of external agents, which was written to the file already.
    pub(crate) fn with_external(
        &self,
        peers: &Arc<dyn ExternalAgents>,
        edit: impl FnOnce(&mut Vec<ExternalAgent>),
    ) -> Self {
        let mut config = Config::clone(&self.config);
        edit(&mut config.a2a.external_agents);
        let local = self.agents.iter().filter(|(_, agent)| !agent.is_external());
        let local = local.map(|(name, agent)| (name.clone(), Arc::clone(agent))).collect();
        let failed = self
            .failed_agents
            .iter()
            .filter(|failed| !self.config.a2a.external_agents.iter().any(|entry| entry.name.as_str() == failed.name));
        let mut loaded = LoadedAgents { agents: local, failed: failed.cloned().collect() };
        agents::add_external(&mut loaded, &config.a2a.external_agents, peers, &self.agents);
        Self {
            config: Arc::new(config),
            agents: loaded.agents,
            failed_agents: loaded.failed,
            admin_key: Arc::clone(&self.admin_key),
            http: self.http.clone(),
        }
    }

    /// The same with another list of MCP servers, which was written to the file already.
    pub(crate) fn with_servers(&self, edit: impl FnOnce(&mut Vec<McpServerConfigEntry>)) -> Self {
        let mut config = Config::clone(&self.config);
        edit(&mut config.mcp_servers);
        Self {
            config: Arc::new(config),
            agents: self.agents.clone(),
            failed_agents: self.failed_agents.clone(),
            admin_key: Arc::clone(&self.admin_key),
            http: self.http.clone(),
        }
    }
}

//! What is in force: read together, judged together, replaced together. A request takes one and keeps it.

use std::collections::BTreeMap;
use std::sync::Arc;

use openfang_egress::http::HttpDoor;
use openfang_runtime::answerer::remote::ExternalAgents;
use openfang_types::agent::AgentSummary;
use openfang_types::config::{Config, ConfigProblem, ExternalAgent, McpServerConfigEntry, NamedProfile, Profile};
use openfang_types::ids::{AgentName, ProfileName};
use openfang_types::nearest::nearest;
use openfang_types::principal::Principal;
use openfang_types::settings_status::FailedAgent;

use super::admin_key::AdminKey;
use super::agents::{self, Agent, LoadedAgents};
use super::home::Home;
use crate::KernelError;
use crate::outward::HttpDoors;

/// What is in force.
pub(crate) struct Settings {
    config: Arc<Config>,
    agents: BTreeMap<AgentName, Arc<Agent>>,
    failed_agents: Vec<FailedAgent>,
    admin_key: Arc<AdminKey>,
    /// The ways to URLs, as `[egress]` and `[web]` want them.
    http: HttpDoors,
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
    pub(crate) fn new(config: Config, agents: LoadedAgents, admin_key: Arc<AdminKey>, http: HttpDoors) -> Self {
        let LoadedAgents { agents, failed } = agents;
        Self { config: Arc::new(config), agents, failed_agents: failed, admin_key, http }
    }

    pub(crate) const fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// A profile of the configuration.
    pub(crate) fn profile(&self, name: &ProfileName) -> Result<Profile, KernelError> {
        let profiles = &self.config.profiles;
        profiles.get(name).cloned().ok_or_else(|| {
            let nearest = nearest(name.as_str(), profiles.keys().map(ProfileName::as_str));
            KernelError::UnknownProfile { name: name.clone(), nearest: nearest.and_then(|known| known.parse().ok()) }
        })
    }

    /// A principal, narrowed by a profile that it cannot do without. If the profile is gone, nothing is left.
    pub(crate) fn narrowed_to(&self, principal: Principal, name: &ProfileName) -> Principal {
        let profile = self.config.profiles.get(name).cloned().unwrap_or_else(Profile::nothing);
        principal.narrowed_by(Arc::new(NamedProfile { name: name.clone(), profile }))
    }

    /// The agents, by name.
    pub(crate) const fn agents(&self) -> &BTreeMap<AgentName, Arc<Agent>> {
        &self.agents
    }

    /// An agent that this principal may talk to; any other is as unknown as one that there is not.
    pub(crate) fn agent(&self, principal: &Principal, name: &AgentName) -> Result<Arc<Agent>, KernelError> {
        let known = self.agents.get(name).filter(|agent| agent.is_visible_to(principal));
        known.cloned().ok_or_else(|| KernelError::UnknownAgent(name.clone()))
    }

    /// The agent of that name, whoever may talk to it.
    pub(crate) fn any_agent(&self, name: &AgentName) -> Result<Arc<Agent>, KernelError> {
        self.agents.get(name).cloned().ok_or_else(|| KernelError::UnknownAgent(name.clone()))
    }

    /// The agents this principal may talk to, by name.
    pub(crate) fn visible_agents(&self, principal: &Principal) -> Vec<AgentSummary> {
        let visible = self.agents.values().filter(|agent| agent.is_visible_to(principal));
        let summary = |agent: &Arc<Agent>| AgentSummary {
            name: agent.manifest.name.clone(),
            description: agent.manifest.description.clone(),
            is_external: agent.is_external(),
        };
        visible.map(summary).collect()
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
        &self.http.own
    }

    /// The way to the web, for tools.
    pub(crate) const fn web(&self) -> &HttpDoor {
        &self.http.web
    }

    /// All ways to URLs.
    pub(crate) const fn http_doors(&self) -> &HttpDoors {
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

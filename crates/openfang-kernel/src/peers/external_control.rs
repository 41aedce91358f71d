//! Control of the external agents: who may look, who may change, and what a change is: the file, the audit log and the agents
//! in force, in this order.
//!
//! URLs that callers name are treated as strangers' URLs and get no configured credential, unless the caller proved to be
//! on this machine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use openfang_a2a::AgentCard;
use openfang_a2a::client::{RemoteAgent, RemoteSettings};
use openfang_runtime::answerer::remote::ExternalAgents;
use openfang_runtime::pipeline::Pipeline;
use openfang_store::{ChangeAction, ChangeTarget};
use openfang_types::a2a_status::ExternalAgentStatus;
use openfang_types::config::ExternalAgent;
use openfang_types::ids::AgentName;
use openfang_types::principal::{AdminProof, PrincipalKind};
use openfang_types::secret::{REDACTED, Secret};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::change::{Change, ChangeRecorder};
use crate::peers::external::{ExternalPeers, ExternalReach, KnownAgent};
use crate::peers::lending::Lending;
use crate::settings::LiveSettings;
use crate::settings::config_edit::{self, Edit, EditError, Existing};
use crate::settings::home::Home;
use crate::{Caller, KernelError};

pub use crate::peers::external::CardChange;
pub use openfang_a2a::client::{ListedAgent, listed_agents};

/// An external agent, as it is configured and as it is doing.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalAgentDetails {
    /// As it is configured, without secrets.
    pub configured: ExternalAgent,
    /// How it is doing.
    pub agent: ExternalAgentStatus,
    /// Its card, as it was received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<Box<RawValue>>,
    /// The change of its card that waits for the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<CardChange>,
}

/// An agent that was found at a URL.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DiscoveredAgent {
    /// The URL that was asked for.
    pub url: String,
    /// Its card, as it was received; none for an endpoint without one.
    pub agent: Option<Box<RawValue>>,
    /// The endpoint that would be used.
    pub endpoint: String,
    /// The version of A2A that is spoken there.
    pub protocol: String,
    /// Addresses of the card that were corrected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<String>,
}

/// What control of the external agents is made with.
pub(crate) struct ExternalParts {
    pub(crate) settings: Arc<LiveSettings>,
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) changes: ChangeRecorder,
    pub(crate) home: Home,
    pub(crate) lending: Arc<Lending>,
}

/// Changes the external agents. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ExternalControl {
    peers: Arc<ExternalPeers>,
    settings: Arc<LiveSettings>,
    pipeline: Arc<Pipeline>,
    changes: ChangeRecorder,
    config_path: PathBuf,
}

impl ExternalControl {
    /// Control of these agents, from when they are opened.
    pub(crate) fn new(peers: Arc<ExternalPeers>, parts: ExternalParts) -> Self {
        let ExternalParts { settings, pipeline, changes, home, lending } = parts;
        let config_path = home.config();
        peers.open(ExternalReach::new(&settings, &pipeline, home, lending), settings.current().config());
        Self { peers, settings, pipeline, changes, config_path }
    }

    /// The agents that this controls.
    pub(crate) const fn peers(&self) -> &Arc<ExternalPeers> {
        &self.peers
    }

    /// The external agents whose cards are known, with their cards.
    pub(crate) fn cards(&self) -> Vec<(String, AgentCard)> {
        let card = |agent: &Arc<KnownAgent>| {
            let card = agent.accepted_card()?;
            Some((agent.entry().name.to_string(), AgentCard::from(&*card)))
        };
        self.peers.all().iter().filter_map(card).collect()
    }

    /// The external agents that this caller may talk to, and how they are doing.
    pub(crate) fn statuses(&self, caller: &Caller) -> Vec<ExternalAgentStatus> {
        let (all, settings) = (self.peers.all(), self.settings.current());
        let visible = all.iter().filter(|agent| settings.agent(&caller.principal, &agent.entry().name).is_ok());
        visible.map(|agent| agent.status()).collect()
    }

    pub(crate) fn details(&self, caller: &Caller, name: &AgentName) -> Result<ExternalAgentDetails, KernelError> {
        may_look(caller)?;
        Ok(details(&*self.known(name)?))
    }

    /// Writes an external agent into the configuration and looks for it. `own` is the address of this server.
    pub(crate) async fn add(
        &self,
        caller: &Caller,
        (entry, existing): (ExternalAgent, Existing),
        own: &str,
    ) -> Result<ExternalAgentDetails, KernelError> {
        let name = entry.name.clone();
        let is_there = self.peers.get(&name).is_some();
        let is_local = !is_there && self.settings.current().agents().contains_key(&name);
        let allowed = may_change(caller).and_then(|()| match existing {
            _ if is_local => Err(KernelError::AgentExists(name.clone())),
            Existing::Keep if is_there => Err(KernelError::AgentExists(name.clone())),
            _ if is_own_url(&entry.url, own) => Err(KernelError::OwnAgent(name.clone())),
            _ if entry.names_variables() => may_use_variables(caller),
            Existing::Keep | Existing::Replace => Ok(()),
        });
        let this = self.clone();
        let work = async move {
            let to_write = entry.clone();
            let write = move |path: &Path| config_edit::rewrite(path, &[Edit::AddAgent(&to_write, existing)]);
            let put = |agents: &mut Vec<ExternalAgent>| match agents.iter_mut().find(|held| held.name == entry.name) {
                Some(held) => *held = entry.clone(),
                None => agents.push(entry.clone()),
            };
            this.edit(write, put).await?;
            let agent = this.known(&entry.name)?;
            this.peers.refresh(&agent).await;
            Ok(details(&agent))
        };
        self.changes.make(of_agent(caller, ChangeAction::Add, &name), allowed, work).await
    }

    /// Takes an external agent out of the configuration.
    pub(crate) async fn remove(&self, caller: &Caller, name: &AgentName) -> Result<(), KernelError> {
        let (this, gone) = (self.clone(), name.clone());
        let allowed = may_change(caller).and_then(|()| self.known(name).map(drop));
        let work = async move {
            let to_cut = gone.clone();
            let write = move |path: &Path| config_edit::rewrite(path, &[Edit::RemoveAgent(&to_cut)]);
            this.edit(write, |agents| agents.retain(|held| held.name != gone)).await
        };
        self.changes.make(of_agent(caller, ChangeAction::Remove, name), allowed, work).await
    }

    /// Fetches the card of an external agent now and says how the agent is doing.
    pub(crate) async fn test(&self, caller: &Caller, name: &AgentName) -> Result<ExternalAgentDetails, KernelError> {
        self.with_known(caller, ChangeAction::Test, name, |_, _| true).await
    }

    /// Takes the changed card of an external agent, which can be used again then.
    pub(crate) async fn accept(&self, caller: &Caller, name: &AgentName) -> Result<ExternalAgentDetails, KernelError> {
        self.with_known(caller, ChangeAction::Accept, name, ExternalPeers::accept).await
    }

    /// Does something to an agent that is known. If it says so, the card is fetched then.
    async fn with_known(
        &self,
        caller: &Caller,
        action: ChangeAction,
        name: &AgentName,
        work: impl FnOnce(&ExternalPeers, &Arc<KnownAgent>) -> bool + Send + 'static,
    ) -> Result<ExternalAgentDetails, KernelError> {
        let known = may_change(caller).and_then(|()| self.known(name));
        let (allowed, agent) = match known {
            Ok(agent) => (Ok(()), Some(agent)),
            Err(error) => (Err(error), None),
        };
        let (peers, unknown) = (Arc::clone(&self.peers), name.clone());
        let work = async move {
            let agent = agent.ok_or(KernelError::UnknownAgent(unknown))?;
            if work(&peers, &agent) {
                peers.refresh(&agent).await;
            }
            Ok(details(&agent))
        };
        self.changes.make(of_agent(caller, action, name), allowed, work).await
    }

    /// What is at a URL that the operator names on this machine.
    pub(crate) async fn discover(&self, caller: &Caller, url: &str) -> Result<DiscoveredAgent, KernelError> {
        may_use_variables(caller)?;
        let settings =
            RemoteSettings { redactor: self.pipeline.sensitive().redactor().clone(), ..RemoteSettings::operator(url) };
        let unusable = |error: &dyn std::fmt::Display| KernelError::AgentUnreachable(error.to_string());
        let http = self.settings.current().http().clone();
        let remote = RemoteAgent::new(http, settings).map_err(|error| unusable(&error))?;
        let found = remote.discover().await.map_err(|error| unusable(&error))?;
        Ok(DiscoveredAgent {
            url: url.to_owned(),
            agent: found.card.as_ref().map(|card| card.document.clone()),
            endpoint: found.interface.url.clone(),
            protocol: found.interface.dialect.to_string(),
            repairs: found.repairs.iter().map(ToString::to_string).collect(),
        })
    }

    /// One edit of the file at a time. What is in force follows it.
    async fn edit(
        &self,
        edit: impl FnOnce(&Path) -> Result<(), EditError> + Send + 'static,
        follow: impl FnOnce(&mut Vec<ExternalAgent>) + Send,
    ) -> Result<(), KernelError> {
        let _alone = self.settings.alone().await;
        let path = self.config_path.clone();
        let edited = tokio::task::spawn_blocking(move || edit(&path)).await;
        let edited = edited.unwrap_or_else(|_| Err(EditError::Unwritable("the edit failed; see the log".to_owned())));
        edited.map_err(|error| match error {
            EditError::AgentExists(name) => KernelError::AgentExists(name),
            EditError::UnknownAgent(name) => KernelError::UnknownAgent(name),
            error => KernelError::ConfigEdit(error),
        })?;
        let peers = Arc::clone(&self.peers) as Arc<dyn ExternalAgents>;
        self.settings.take_over_external(&peers, follow);
        let settings = self.settings.current();
        self.peers.follow(&settings.config().a2a.external_agents, false);
        self.pipeline.catalog().announce();
        Ok(())
    }

    fn known(&self, name: &AgentName) -> Result<Arc<KnownAgent>, KernelError> {
        self.peers.get(name).ok_or_else(|| KernelError::UnknownAgent(name.clone()))
    }
}

/// Whether a URL is that of this server, by its name for itself or by its port on this machine.
fn is_own_url(url: &str, own: &str) -> bool {
    let origin = |url: &str| {
        let (scheme, rest) = url.split_once("://")?;
        Some(format!("{scheme}://{}", rest.split(['/', '?']).next().unwrap_or_default()))
    };
    let (named, ours) = (origin(url), origin(own));
    let port = ours.as_deref().and_then(|ours| ours.rsplit_once(':')).map(|(_, port)| port.to_owned());
    let is_here = |origin: &str| {
        let host = origin.split_once("://").map_or(origin, |(_, host)| host);
        ["127.0.0.1:", "localhost:", "[::1]:"]
            .iter()
            .any(|near| host.strip_prefix(near).is_some_and(|named| Some(named) == port.as_deref()))
    };
    named.is_some() && (named == ours || named.as_deref().is_some_and(is_here))
}

fn details(agent: &KnownAgent) -> ExternalAgentDetails {
    let mut configured = agent.entry().clone();
    configured
        .headers
        .values_mut()
        .for_each(|value| *value = Secret::new(REDACTED.to_owned()));
    let agent_status = agent.status();
    configured.url.clone_from(&agent_status.url);
    let card = agent.discovery().and_then(|known| known.card.as_ref().map(|card| card.document.clone()));
    ExternalAgentDetails { configured, agent: agent_status, card, waiting: agent.change() }
}

fn of_agent<'a>(caller: &'a Caller, action: ChangeAction, name: &AgentName) -> Change<'a> {
    Change { caller, action, target: ChangeTarget::A2aAgent { name: name.clone() } }
}

fn may_look(caller: &Caller) -> Result<(), KernelError> {
    match caller.principal.standing() {
        PrincipalKind::Admin(_) | PrincipalKind::Local => Ok(()),
        PrincipalKind::User(_) => Err(KernelError::NotPermitted("only the admin can look at external agents")),
    }
}

fn may_change(caller: &Caller) -> Result<(), KernelError> {
    match caller.principal.standing() {
        PrincipalKind::Admin(_) => Ok(()),
        PrincipalKind::Local | PrincipalKind::User(_) => Err(KernelError::NotPermitted(
            "only the admin can change external agents; send the api_key, or use the command line of the server's machine",
        )),
    }
}

fn may_use_variables(caller: &Caller) -> Result<(), KernelError> {
    match caller.principal.standing() {
        PrincipalKind::Admin(AdminProof::DaemonToken | AdminProof::InProcess) => Ok(()),
        PrincipalKind::Admin(AdminProof::ApiKey) | PrincipalKind::Local | PrincipalKind::User(_) => {
            Err(KernelError::NotPermitted(
                "an agent that uses environment variables, or any URL, can be named on the command line of the server's machine only",
            ))
        }
    }
}

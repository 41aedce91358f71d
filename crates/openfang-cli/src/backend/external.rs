//! The backend that manages external agents: the daemon, or a kernel in this process.

use http::Method;
use openfang_kernel::config_edit::Existing;
use openfang_kernel::external_control::{DiscoveredAgent, ExternalAgentDetails};
use openfang_types::a2a_status::ExternalAgentStatus;
use openfang_types::config::ExternalAgent;
use openfang_types::ids::AgentName;
use openfang_types::secret::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Backend, DaemonBackend, InProcess};
use crate::error::CliError;
use crate::session::Session;

/// The backend that manages external agents.
pub(crate) enum ExternalAgents {
    Daemon(DaemonBackend),
    InProcess(InProcess),
}

#[derive(Deserialize)]
struct ListResponse {
    agents: Vec<ExternalAgentStatus>,
}

#[derive(Deserialize)]
struct RemoveResponse {}

impl ExternalAgents {
    /// Opens the daemon, or else a kernel in this process, which looks for an agent on first use.
    pub(crate) async fn open(session: &Session) -> Result<Self, CliError> {
        Ok(match Backend::open(session).await? {
            Backend::Daemon(daemon) => Self::Daemon(daemon),
            Backend::InProcess(here) => Self::InProcess(here),
        })
    }

    pub(crate) const fn is_daemon(&self) -> bool {
        matches!(self, Self::Daemon(_))
    }

    pub(crate) async fn list(&self) -> Result<Vec<ExternalAgentStatus>, CliError> {
        match self {
            Self::Daemon(daemon) => Ok(daemon.get::<ListResponse>("/api/a2a/agents").await?.agents),
            Self::InProcess(here) => Ok(here.kernel.external_agents(&here.caller)),
        }
    }

    pub(crate) async fn show(&self, name: &AgentName) -> Result<ExternalAgentDetails, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.get(&format!("/api/a2a/agents/{name}")).await,
            Self::InProcess(here) => here.said(here.kernel.external_agent(&here.caller, name)),
        }
    }

    pub(crate) async fn discover(&self, url: &str) -> Result<DiscoveredAgent, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.post("/api/a2a/discover", &json!({ "url": url })).await,
            Self::InProcess(here) => here.said(here.kernel.discover_agent(&here.caller, url).await),
        }
    }

    pub(crate) async fn add(&self, entry: ExternalAgent, existing: Existing) -> Result<ExternalAgentDetails, CliError> {
        match self {
            Self::Daemon(daemon) => {
                let path = format!("/api/a2a/agents?replace={}", existing == Existing::Replace);
                daemon.post_in_confidence(&path, &with_secrets(&entry), &json!(entry)).await
            }
            Self::InProcess(here) => here.said(here.kernel.add_external_agent(&here.caller, entry, existing).await),
        }
    }

    pub(crate) async fn remove(&self, name: &AgentName) -> Result<(), CliError> {
        match self {
            Self::Daemon(daemon) => {
                let path = format!("/api/a2a/agents/{name}");
                let removed = daemon.ask::<RemoveResponse>(Method::DELETE, &path, None).await;
                removed.map(|RemoveResponse {}| ())
            }
            Self::InProcess(here) => here.said(here.kernel.remove_external_agent(&here.caller, name).await),
        }
    }

    pub(crate) async fn test(&self, name: &AgentName) -> Result<ExternalAgentDetails, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.post(&format!("/api/a2a/agents/{name}/test"), &json!({})).await,
            Self::InProcess(here) => here.said(here.kernel.test_external_agent(&here.caller, name).await),
        }
    }

    pub(crate) async fn accept(&self, name: &AgentName) -> Result<ExternalAgentDetails, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.post(&format!("/api/a2a/agents/{name}/approve"), &json!({})).await,
            Self::InProcess(here) => here.said(here.kernel.accept_external_agent(&here.caller, name).await),
        }
    }
}

/// The entry with its secrets, as the daemon needs it.
fn with_secrets(entry: &ExternalAgent) -> Value {
    let mut body = json!(entry);
    if !entry.headers.is_empty() {
        let exposed = |(name, value): (&String, &Secret)| (name.clone(), Value::from(value.expose()));
        body["headers"] = entry.headers.iter().map(exposed).collect();
    }
    body
}

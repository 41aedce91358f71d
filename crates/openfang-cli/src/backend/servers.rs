//! The backend that manages MCP servers: the daemon, which is connected to them, or a kernel in this process, which
//! knows only the file.

use http::Method;
use openfang_kernel::config_edit::Existing;
use openfang_kernel::mcp_control::{McpServerDetails, McpServerView, McpServers, McpTested, shown};
use openfang_types::api::{AcceptedTools, LogLines, Removal};
use openfang_types::config::{EnvEntry, McpServerConfigEntry, McpServerSettings, McpTransportEntry};
use openfang_types::ids::ServerName;
use openfang_types::mcp_status::McpReview;
use openfang_types::secret::Secret;
use serde_json::{Value, json};

use super::{Backend, DaemonBackend, InProcess};
use crate::error::CliError;
use crate::session::Session;

/// The backend that manages MCP servers.
pub(crate) enum Servers {
    Daemon(DaemonBackend),
    InProcess(InProcess),
}

impl Servers {
    /// Opens the daemon, or else a kernel in this process, which connects to a server on first use.
    pub(crate) async fn open(session: &Session) -> Result<Self, CliError> {
        Ok(match Backend::open(session).await? {
            Backend::Daemon(daemon) => Self::Daemon(daemon),
            Backend::InProcess(here) => Self::InProcess(here),
        })
    }

    pub(crate) const fn is_daemon(&self) -> bool {
        matches!(self, Self::Daemon(_))
    }

    pub(crate) async fn list(&self) -> Result<McpServers, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.get("/api/mcp/servers").await,
            Self::InProcess(here) => here.said(here.kernel.mcp_servers(&here.caller)),
        }
    }

    pub(crate) async fn show(&self, name: &ServerName) -> Result<McpServerDetails, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.get(&format!("/api/mcp/servers/{name}")).await,
            Self::InProcess(here) => here.said(here.kernel.mcp_server_details(&here.caller, name)),
        }
    }

    /// What of a server waits to be accepted.
    pub(crate) async fn review(&self, name: &ServerName) -> Result<McpReview, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.get(&format!("/api/mcp/servers/{name}/review")).await,
            Self::InProcess(here) => here.said(here.kernel.mcp_review(&here.caller, name)),
        }
    }

    pub(crate) async fn add(
        &self,
        entry: McpServerConfigEntry,
        existing: Existing,
    ) -> Result<McpServerDetails, CliError> {
        match self {
            Self::Daemon(daemon) => {
                let path = format!("/api/mcp/servers?replace={}", existing == Existing::Replace);
                daemon.post_in_confidence(&path, &with_secrets(&entry), &json!(shown(&entry))).await
            }
            Self::InProcess(here) => here.said(here.kernel.add_mcp_server(&here.caller, entry, existing).await),
        }
    }

    pub(crate) async fn set(
        &self,
        name: &ServerName,
        settings: &McpServerSettings,
    ) -> Result<McpServerDetails, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.post(&format!("/api/mcp/servers/{name}/settings"), &json!(settings)).await,
            Self::InProcess(here) => here.said(here.kernel.set_mcp_server(&here.caller, name, settings.clone()).await),
        }
    }

    pub(crate) async fn remove(&self, name: &ServerName) -> Result<(), CliError> {
        match self {
            Self::Daemon(daemon) => {
                let path = format!("/api/mcp/servers/{name}");
                daemon.ask::<Removal<ServerName>>(Method::DELETE, &path, None).await.map(drop)
            }
            Self::InProcess(here) => here.said(here.kernel.remove_mcp_server(&here.caller, name).await),
        }
    }

    pub(crate) async fn test(&self, name: &ServerName) -> Result<McpTested, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.post(&format!("/api/mcp/servers/{name}/test"), &json!({})).await,
            Self::InProcess(here) => here.said(here.kernel.test_mcp_server(&here.caller, name).await),
        }
    }
}

/// Requests that only a daemon can serve, because only a daemon is connected.
impl DaemonBackend {
    pub(crate) async fn restart_server(&self, name: &ServerName) -> Result<McpServerView, CliError> {
        self.post(&format!("/api/mcp/servers/{name}/restart"), &json!({})).await
    }

    pub(crate) async fn accept_tools(&self, name: &ServerName, tool: Option<&str>) -> Result<Vec<String>, CliError> {
        let body = tool.map_or_else(|| json!({}), |tool| json!({ "tool": tool }));
        let response: AcceptedTools = self.post(&format!("/api/mcp/servers/{name}/approve"), &body).await?;
        Ok(response.approved)
    }

    pub(crate) async fn server_log(&self, name: &ServerName) -> Result<Vec<String>, CliError> {
        Ok(self.get::<LogLines>(&format!("/api/mcp/servers/{name}/log")).await?.lines)
    }
}

/// The entry with its secrets, as the daemon needs it.
fn with_secrets(entry: &McpServerConfigEntry) -> Value {
    let mut body = json!(entry);
    body["env"] = entry.env.iter().map(EnvEntry::expose).collect();
    match &entry.transport {
        McpTransportEntry::Stdio { .. } => {}
        McpTransportEntry::Sse { headers, .. } | McpTransportEntry::Http { headers, .. } => {
            let exposed = |(name, value): (&String, &Secret)| (name.clone(), Value::from(value.expose()));
            body["transport"]["headers"] = headers.iter().map(exposed).collect();
        }
    }
    body
}

#[cfg(test)]
#[path = "servers_tests.rs"]
mod tests;

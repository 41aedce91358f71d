//! `[[mcp_servers]]`: the MCP servers that this house connects to.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::secret_refs::secret_references;
use crate::ids::ServerName;
use crate::limits::{MCP_STARTUP_SECS, MCP_TIMEOUT_SECS};
use crate::secret::Secret;
use crate::taint::DataClass;

pub(super) use problems::problems;
pub use sandbox::McpSandbox;
pub use selection::{McpServerSettings, ToolPattern, ToolPatternError, ToolSelection};
pub(super) use variables::own_reference;
pub use variables::{EnvEntry, is_own_variable};

mod problems;
mod sandbox;
mod selection;
mod variables;

/// The settings of one MCP server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McpServerConfigEntry {
    /// The name of the server. Its tools are listed as `mcp_{name}_{tool}`.
    pub name: ServerName,
    /// The transport of the server.
    pub transport: McpTransportEntry,
    /// Whether the server is used. A disabled server is not connected, and nothing of it is listed.
    #[serde(default = "enabled", skip_serializing_if = "is_true")]
    pub enabled: bool,
    /// Timeout of a call without progress, in seconds.
    #[serde(default = "timeout_secs")]
    pub timeout_secs: u64,
    /// Timeout of the start and of the first lists, in seconds.
    #[serde(default = "startup_timeout_secs")]
    pub startup_timeout_secs: u64,
    /// Environment variables of the process: `NAME` is inherited, `NAME=value` is set; `${VAR}` in a value is expanded.
    #[serde(default)]
    pub env: Vec<EnvEntry>,
    /// The working directory of the process, an absolute path; `${VAR}` is expanded. If absent: `servers/` of the home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What the process may read, write and reach. If absent: all that the user of OpenFang may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<McpSandbox>,
    /// The tools that are listed, by the server's own names. If absent: all tools.
    #[serde(default, skip_serializing_if = "ToolSelection::is_everything")]
    pub tools: ToolSelection,
    /// The protocol: `auto`, `legacy` (2025-11-25 and earlier) or `modern` (2026-07-28).
    #[serde(default, skip_serializing_if = "is_default")]
    pub protocol: McpProtocol,
    /// Whether results count as the operator's own, and annotations of tools are believed. What such a server says may lead
    /// to any call without a question.
    #[serde(default, skip_serializing_if = "is_default")]
    pub trusted: bool,
    /// How far results may go: `internal` (to places that the operator or the user chose), `private` (nowhere else without an
    /// approval) or `public` (anywhere).
    #[serde(default, skip_serializing_if = "is_default")]
    pub data: DataClass,
    /// Whether the server may ask its callers: for input, for their model, for their directories.
    #[serde(default, skip_serializing_if = "is_default")]
    pub interactive: bool,
    /// When the audit row of a call is written to disk: `after` or `before` the call.
    #[serde(default, skip_serializing_if = "is_default")]
    pub audit: McpAudit,
    /// What happens when the definition of a tool changes: `warn`, or `quarantine` until `openfang mcp accept`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_change: OnChange,
    /// What happens with tools that a known server did not have before: `list`, or `hold` until `openfang mcp accept`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub new_tools: NewTools,
}

/// The transport of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub enum McpTransportEntry {
    /// A program that uses standard input and output.
    Stdio {
        /// The program: a path, or a name that is searched in PATH.
        command: String,
        /// The arguments; `${VAR}` is expanded.
        #[serde(default)]
        args: Vec<String>,
    },
    /// A URL; the transport is detected.
    Sse {
        /// The URL; `${VAR}` is expanded.
        url: String,
        /// Headers of every request; `${VAR}` is expanded.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<String, Secret>,
    },
    /// A URL; the transport is detected.
    Http {
        /// The URL; `${VAR}` is expanded.
        url: String,
        /// Headers of every request; `${VAR}` is expanded.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<String, Secret>,
    },
}

/// The era of the protocol that a server speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum McpProtocol {
    /// The era is detected.
    #[default]
    Auto,
    /// 2025-11-25 and earlier, with a handshake.
    Legacy,
    /// 2026-07-28, without a handshake.
    Modern,
}

/// When the audit row of a call is written to disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum McpAudit {
    /// Soon after the call; the call does not wait.
    #[default]
    After,
    /// Before the call is made.
    Before,
}

/// The reaction to a changed definition of a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnChange {
    /// The change is logged and audited.
    #[default]
    Warn,
    /// The tool is disabled until the change is accepted.
    Quarantine,
}

/// The reaction to tools that a known server did not have before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NewTools {
    /// The tools are listed.
    #[default]
    List,
    /// The tools wait until the operator accepts them.
    Hold,
}

impl McpServerConfigEntry {
    /// A server with default settings.
    pub const fn new(name: ServerName, transport: McpTransportEntry) -> Self {
        Self {
            name,
            transport,
            enabled: true,
            timeout_secs: MCP_TIMEOUT_SECS,
            startup_timeout_secs: MCP_STARTUP_SECS,
            env: Vec::new(),
            cwd: None,
            sandbox: None,
            tools: ToolSelection::EVERYTHING,
            protocol: McpProtocol::Auto,
            trusted: false,
            data: DataClass::Internal,
            interactive: false,
            audit: McpAudit::After,
            on_change: OnChange::Warn,
            new_tools: NewTools::List,
        }
    }

    /// The names of the stored secrets that the entry refers to.
    pub fn secrets(&self) -> BTreeSet<&str> {
        let values = self.env.iter().filter_map(EnvEntry::value);
        match &self.transport {
            McpTransportEntry::Stdio { .. } => secret_references(values),
            McpTransportEntry::Sse { url, headers } | McpTransportEntry::Http { url, headers } => {
                secret_references([url.as_str()].into_iter().chain(headers.values().map(Secret::expose)))
            }
        }
    }

    /// A variable of OpenFang itself that the entry uses or sets. No server may have one: it could be the `api_key`, and an
    /// OpenFang that the server starts would read it as a setting.
    pub fn own_variable(&self) -> Option<&str> {
        let named = self.env.iter().map(EnvEntry::name);
        let mut texts: Vec<&str> = self.env.iter().filter_map(EnvEntry::value).chain(self.cwd.as_deref()).collect();
        match &self.transport {
            McpTransportEntry::Stdio { command, args } => {
                texts.push(command);
                texts.extend(args.iter().map(String::as_str));
            }
            McpTransportEntry::Sse { url, headers } | McpTransportEntry::Http { url, headers } => {
                texts.push(url);
                texts.extend(headers.values().map(Secret::expose));
            }
        }
        named
            .into_iter()
            .find(|name| is_own_variable(name))
            .or_else(|| texts.into_iter().find_map(|text| text.split("${").skip(1).find_map(own_reference)))
    }

    /// Whether a connection that was made for the other entry can serve this one: they differ only in what is listed.
    pub fn connects_like(&self, other: &Self) -> bool {
        let tools = other.tools.clone();
        self.enabled && Self { tools, ..self.clone() } == *other
    }

    /// The timeout of a call without progress.
    pub const fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_secs)
    }

    /// The timeout of the start.
    pub const fn startup_timeout(&self) -> Duration {
        Duration::from_secs(self.startup_timeout_secs)
    }
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

const fn enabled() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_true(value: &bool) -> bool {
    *value
}

const fn timeout_secs() -> u64 {
    MCP_TIMEOUT_SECS
}

const fn startup_timeout_secs() -> u64 {
    MCP_STARTUP_SECS
}

#[cfg(test)]
#[path = "mcp_servers_tests.rs"]
mod tests;

//! What was changed, and how: users, keys, settings, MCP servers, the home.

use std::fmt;

use openfang_types::ids::{KeyId, Owner, ServerName};
use serde::{Deserialize, Serialize};

use super::subject::cut;

/// What a change does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeAction {
    /// Something new is added, or takes the place of another of the same name.
    Add,
    /// Something is removed.
    Remove,
    /// A setting gets another value.
    Set,
    /// A user's grants are replaced.
    SetGrants,
    /// A user's password is replaced or removed.
    SetPassword,
    /// A key is created.
    Create,
    /// A key is revoked.
    Revoke,
    /// An MCP server is connected to again.
    Restart,
    /// An MCP server is connected to again, to see whether that works.
    Test,
    /// The operator accepts a changed definition, or that a part of the home is lost.
    Accept,
}

/// What a change is made to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ChangeTarget {
    /// A user.
    User {
        /// The user's name.
        name: Owner,
    },
    /// A key.
    Key {
        /// Its id.
        id: KeyId,
        /// The user that it belongs to, where the change names one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        user: Option<Owner>,
    },
    /// A setting of the configuration.
    Config {
        /// Its dotted name.
        key: String,
    },
    /// An MCP server.
    McpServer {
        /// Its name.
        name: ServerName,
    },
    /// One tool of an MCP server.
    McpTool {
        /// The server's name.
        server: ServerName,
        /// The tool, by its name on that server.
        tool: String,
    },
    /// A part of the home directory.
    Home {
        /// Which part.
        part: HomePart,
    },
}

/// A part of the home directory that can be lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HomePart {
    /// `home.json`.
    Record,
    /// `data/secret.key`.
    SecretKey,
    /// `data/openfang.db`.
    Database,
    /// The users in the database.
    Users,
    /// `api_key` in `config.toml`.
    ApiKey,
}

impl ChangeTarget {
    /// One tool of an MCP server, whose own name for the tool is cut to a fixed length.
    pub fn mcp_tool(server: ServerName, tool: &str) -> Self {
        Self::McpTool { server, tool: cut(tool) }
    }
}

impl ChangeAction {
    /// The verb that people read.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Remove => "remove",
            Self::Set => "set",
            Self::SetGrants => "set grants of",
            Self::SetPassword => "set password of",
            Self::Create => "create",
            Self::Revoke => "revoke",
            Self::Restart => "restart",
            Self::Test => "test",
            Self::Accept => "accept",
        }
    }
}

impl HomePart {
    /// The word that rows and commands use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::SecretKey => "secret_key",
            Self::Database => "database",
            Self::Users => "users",
            Self::ApiKey => "api_key",
        }
    }
}

impl fmt::Display for ChangeTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User { name } => write!(f, "user {name}"),
            Self::Key { id, user: Some(user) } => write!(f, "key {id} of {user}"),
            Self::Key { id, user: None } => write!(f, "key {id}"),
            Self::Config { key } => write!(f, "setting {key}"),
            Self::McpServer { name } => write!(f, "MCP server {name}"),
            Self::McpTool { server, tool } => write!(f, "tool {tool} of MCP server {server}"),
            Self::Home { part } => write!(f, "loss of {}", part.as_str()),
        }
    }
}

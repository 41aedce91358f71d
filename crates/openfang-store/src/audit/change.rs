//! What was changed, and how: users, keys, secrets, settings, MCP servers, external agents, the home.

use std::fmt;

use openfang_types::ids::{AgentName, KeyId, Owner, SecretName, ServerName, SkillName};
use serde::{Deserialize, Serialize};

use super::subject::cut;

/// The action of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeAction {
    /// Adds something, or replaces something with the same name.
    Add,
    Remove,
    Set,
    /// Replaces a user's grants.
    SetGrants,
    /// Replaces or removes a user's password.
    SetPassword,
    Create,
    Revoke,
    /// Reconnects an MCP server.
    Restart,
    /// Reconnects an MCP server as a test.
    Test,
    /// Accepts a changed definition, or the loss of a part of the home.
    Accept,
    /// Gives a secret to its first user.
    Bind,
    /// Gives a secret to one more user.
    Allow,
    /// Trusts the files of a skill as they are, or a directory in which skills are looked for.
    Trust,
    /// Lets agents activate a skill.
    Enable,
    Disable,
}

/// The target of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ChangeTarget {
    User {
        name: Owner,
    },
    Key {
        id: KeyId,
        /// The user it belongs to, if the change names one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        user: Option<Owner>,
    },
    /// A setting of the configuration.
    Config {
        key: String,
    },
    McpServer {
        name: ServerName,
    },
    /// One tool of an MCP server.
    McpTool {
        server: ServerName,
        /// The tool, by its name on the server.
        tool: String,
    },
    /// An A2A agent of another server.
    A2aAgent {
        name: AgentName,
    },
    /// A secret that the home stores.
    Secret {
        name: SecretName,
        /// Who is given it, if the change is about that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        user: Option<String>,
    },
    /// A skill, found or installed.
    Skill {
        name: SkillName,
        /// The digest of its files, if the change is about certain ones.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<String>,
    },
    /// A project directory in which skills are looked for.
    SkillProject {
        path: String,
    },
    /// A part of the home directory.
    Home {
        part: HomePart,
    },
}

/// A part of the home directory that can be lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HomePart {
    Record,
    SecretKey,
    Database,
    /// The users in the database.
    Users,
    ApiKey,
}

impl ChangeTarget {
    /// A project directory. Its path is cut to a fixed length.
    pub fn skill_project(path: &str) -> Self {
        Self::SkillProject { path: cut(path) }
    }

    /// One tool of an MCP server. The server chooses the tool's name, so it is cut to a fixed length.
    pub fn mcp_tool(server: ServerName, tool: &str) -> Self {
        Self::McpTool { server, tool: cut(tool) }
    }
}

impl ChangeAction {
    /// The verb in messages.
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
            Self::Bind => "bind",
            Self::Allow => "allow",
            Self::Trust => "trust",
            Self::Enable => "enable",
            Self::Disable => "disable",
        }
    }
}

impl HomePart {
    /// The name in rows and commands.
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
            Self::A2aAgent { name } => write!(f, "external agent {name}"),
            Self::Secret { name, user: Some(user) } => write!(f, "secret {name} for {user}"),
            Self::Secret { name, user: None } => write!(f, "secret {name}"),
            Self::Skill { name, digest: Some(digest) } => {
                write!(f, "skill {name} ({})", &digest[..digest.len().min(12)])
            }
            Self::Skill { name, digest: None } => write!(f, "skill {name}"),
            Self::SkillProject { path } => write!(f, "skills of the project {path}"),
            Self::Home { part } => write!(f, "loss of {}", part.as_str()),
        }
    }
}

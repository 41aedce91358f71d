//! What an audit row is about: a tool call, a change, a login, a changed definition, a reload, or the log itself.
//!
//! Each kind has its own members. In a row, `subject.kind` names the kind:
//!
//! ```json
//! {"kind":"call","tool":"add_numbers","arguments":{"sha256":"9f86d081..."}}
//! {"kind":"change","action":"create","target":{"kind":"key","id":"4f1c0a9d27be","user":"bob@example.org"}}
//! {"kind":"definition","server":"github","tool":"search"}
//! ```
//!
//! A subject is built by its constructor where its text comes from outside, so that every row is bounded.

use std::fmt;

use openfang_types::ids::{ApprovalId, ServerName, ToolName};
use openfang_types::limits::{AUDIT_NAME_CHARS, AUDIT_RELOAD_KEYS};
use serde::{Deserialize, Serialize};

use super::{ChangeAction, ChangeTarget};

/// What an audit row is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum AuditSubject {
    /// A tool was called.
    Call {
        tool: ToolName,
        /// What it was called with. Rows of earlier versions do not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments: Option<AuditArguments>,
    },
    /// A user, a key, a setting, an MCP server or the home was changed.
    Change { action: ChangeAction, target: ChangeTarget },
    /// A user logged in, or tried to.
    Login,
    /// A user logged out.
    Logout,
    /// An MCP server changed the definition of one of its tools.
    Definition {
        server: ServerName,
        /// The tool, by its name on the server.
        tool: String,
    },
    /// A call that waits for a person was asked about, approved or denied.
    Approval {
        id: ApprovalId,
        step: ApprovalStep,
        /// The tool of the call.
        tool: ToolName,
    },
    /// The configuration and the agents were reloaded.
    Reload {
        /// The names of the changed settings and agents.
        changed: Vec<String>,
        /// The number of further names.
        #[serde(default, skip_serializing_if = "is_zero")]
        left_out: usize,
    },
    /// The conversation of an agent was compacted.
    Compact {
        /// About how many tokens it took.
        before: u64,
        /// About how many it takes now.
        after: u64,
    },
    /// The audit log itself; the outcome has the details.
    Log,
    /// A row of an earlier version, which wrote every subject as a tool name. Such rows are never written.
    #[serde(skip)]
    Former {
        /// The kind of the row.
        kind: SubjectKind,
        /// The name as it was written.
        name: ToolName,
    },
}

/// What a row says about the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditArguments {
    /// The SHA-256 of the arguments as JSON, byte for byte as the caller wrote them.
    pub sha256: String,
    /// The arguments themselves, if the operator wants to have them (`[audit] arguments`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What happened to a call that waits for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalStep {
    Ask,
    Approve,
    Deny,
}

impl ApprovalStep {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Approve => "approve",
            Self::Deny => "deny",
        }
    }
}

/// The kinds of subjects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SubjectKind {
    Call,
    /// Changes of users, keys, settings, MCP servers and the home.
    Change,
    Login,
    Logout,
    /// Changed definitions of tools.
    Definition,
    /// Calls that wait for a person.
    Approval,
    /// Reloads of the configuration.
    Reload,
    /// Rows about conversations that were compacted.
    Compact,
    /// Rows about the audit log itself.
    Log,
}

impl AuditSubject {
    /// A call whose arguments are not recorded.
    pub const fn call(tool: ToolName) -> Self {
        Self::Call { tool, arguments: None }
    }

    /// A changed tool definition. The server chooses the tool's name, so it is cut to a fixed length.
    pub fn definition(server: ServerName, tool: &str) -> Self {
        Self::Definition { server, tool: cut(tool) }
    }

    /// A reload. Names beyond [`AUDIT_RELOAD_KEYS`] are counted.
    pub fn reload<'a>(changed: impl IntoIterator<Item = &'a str>) -> Self {
        let mut names = changed.into_iter();
        let changed = names.by_ref().take(AUDIT_RELOAD_KEYS).map(cut).collect();
        Self::Reload { changed, left_out: names.count() }
    }

    pub const fn kind(&self) -> SubjectKind {
        match self {
            Self::Call { .. } => SubjectKind::Call,
            Self::Change { .. } => SubjectKind::Change,
            Self::Login => SubjectKind::Login,
            Self::Logout => SubjectKind::Logout,
            Self::Definition { .. } => SubjectKind::Definition,
            Self::Approval { .. } => SubjectKind::Approval,
            Self::Reload { .. } => SubjectKind::Reload,
            Self::Compact { .. } => SubjectKind::Compact,
            Self::Log => SubjectKind::Log,
            Self::Former { kind, .. } => *kind,
        }
    }

    /// The tool, where the subject is a call.
    pub const fn tool(&self) -> Option<&ToolName> {
        match self {
            Self::Call { tool, .. } => Some(tool),
            Self::Change { .. }
            | Self::Login
            | Self::Logout
            | Self::Definition { .. }
            | Self::Approval { .. }
            | Self::Reload { .. }
            | Self::Compact { .. }
            | Self::Log
            | Self::Former { .. } => None,
        }
    }
}

impl SubjectKind {
    pub const ALL: [Self; 9] = [
        Self::Call,
        Self::Change,
        Self::Login,
        Self::Logout,
        Self::Definition,
        Self::Approval,
        Self::Reload,
        Self::Compact,
        Self::Log,
    ];

    /// The name in rows and commands.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Change => "change",
            Self::Login => "login",
            Self::Logout => "logout",
            Self::Definition => "definition",
            Self::Approval => "approval",
            Self::Reload => "reload",
            Self::Compact => "compact",
            Self::Log => "log",
        }
    }

    /// The kind with this name.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// The subject in a few words, without its kind.
impl fmt::Display for AuditSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call { tool, .. } => write!(f, "{tool}"),
            Self::Change { action, target } => write!(f, "{} {target}", action.as_str()),
            Self::Login => f.write_str("login"),
            Self::Logout => f.write_str("logout"),
            Self::Definition { server, tool } => write!(f, "tool {tool} of MCP server {server}"),
            Self::Approval { id, step, tool } => write!(f, "{} {tool}, approval {id}", step.as_str()),
            Self::Reload { changed, left_out } => {
                f.write_str(if changed.is_empty() { "configuration" } else { "configuration: " })?;
                f.write_str(&changed.join(", "))?;
                if *left_out > 0 { write!(f, " and {left_out} more") } else { Ok(()) }
            }
            Self::Compact { before, after } => write!(f, "conversation, {before} to {after} tokens"),
            Self::Log => f.write_str("audit log"),
            Self::Former { name, .. } => write!(f, "{name}"),
        }
    }
}

pub(super) fn cut(text: &str) -> String {
    text.chars().take(AUDIT_NAME_CHARS).collect()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

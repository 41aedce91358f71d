//! The answers of the HTTP API: the server writes them, and the command line reads them.
//!
//! Members are camelCase, except those of an agent's manifest, which are spelled as the operator writes them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::{AgentManifest, AgentSummary};
use crate::ids::ToolName;
use crate::settings_status::FailedAgent;
use crate::task::{Message, Task};
use crate::tool::ToolDefinition;

pub use approvals::{ApprovalDecision, ApprovalList, ApprovalView, DecisionKind};
pub use events::{EventList, EventView};
pub use policy::{PolicyCase, PolicyCases, PolicyReport, PolicyResult, PolicyVerdict};
pub use schedules::{ScheduleAction, ScheduleChange, ScheduleStatus};

mod approvals;
mod events;
mod policy;
mod schedules;
pub use models::{
    KeyView, LocalServer, ModelList, ModelTest, ModelView, PriceView, ProviderView, UsageBy, UsageRow, UsageView,
};

mod models;

/// The agents that the caller may talk to.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentList {
    pub agents: Vec<AgentSummary>,
    /// Agents with an invalid definition; for the admin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedAgent>,
}

/// An agent and the tools it can use.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentView {
    pub agent: Arc<AgentManifest>,
    pub tools: Vec<ToolName>,
}

/// The tools that the caller may use.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolList {
    pub tools: Vec<ToolDefinition>,
}

/// What a message led to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Reply {
    Task(Box<Task>),
    /// An answer that needed no task.
    Message(Message),
}

/// One task of the caller.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskView {
    pub task: Task,
}

/// A page of the caller's tasks.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskPage {
    pub tasks: Vec<Task>,
    /// Leads to the next page; empty on the last one.
    #[serde(default)]
    pub next_page_token: String,
    /// How many there are on all pages.
    pub total: usize,
}

/// All users, by name.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserList<User> {
    pub users: Vec<User>,
}

/// The keys of users.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyList<Key> {
    pub keys: Vec<Key>,
}

/// Something that was removed, by its name.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Removal<Name> {
    pub removed: Name,
}

/// The tools of an MCP server whose changed definitions were accepted.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedTools {
    pub approved: Vec<String>,
}

/// The last lines of the log of an MCP server.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogLines {
    pub lines: Vec<String>,
}

#[cfg(test)]
#[path = "api_tests.rs"]
mod tests;

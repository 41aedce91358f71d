//! What the kernel cannot do, by what its caller can do about it.

use std::fmt;

use openfang_runtime::answerer::Refusal;
use openfang_runtime::pipeline::ToolError;
use openfang_store::StoreError;
use openfang_types::event::Seq;
use openfang_types::ids::{AgentName, ProfileName, ServerName, TaskId, ToolName};
use openfang_types::task::TaskState;

use crate::access::users::UserError;
use crate::access::vault::VaultError;
use crate::approvals::ApprovalError;
use crate::change::ChangeError;
use crate::peers::skill_control::SkillError;
use crate::schedules::ScheduleError;
use crate::settings::config_edit::EditError;

/// Why a request was not carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KernelError {
    /// There is none, or the caller may not talk to it: the two look the same.
    #[error("there is no agent {0}")]
    UnknownAgent(AgentName),
    /// There is none, or the caller may not use it: the two look the same.
    #[error("there is no tool {0}")]
    UnknownTool(ToolName),
    /// The tool asks for something, and whoever called cannot be asked.
    #[error(
        "{0} needs input, but this interface cannot ask for it; call it over MCP, through an agent, or on the command line"
    )]
    NobodyToAsk(ToolName),
    /// There is none, or it is somebody else's: the two look the same.
    #[error("there is no task {0}")]
    UnknownTask(TaskId),
    /// The message cannot be taken.
    #[error("the message was rejected: {0}")]
    InvalidMessage(String),
    /// The agent makes no task of the message.
    #[error("the message was rejected: {0}")]
    RefusedByAgent(Refusal),
    /// Agents called agents too often.
    #[error("agents may call agents {limit} deep, and this message would be one more; answer with what you have")]
    TooDeep {
        /// How deep they may go.
        limit: u8,
    },
    /// The push configuration cannot be taken.
    #[error("invalid push configuration: {field} {why}")]
    InvalidPush {
        /// Which member, as a dotted path.
        field: &'static str,
        /// What is wrong and what would be right.
        why: String,
    },
    /// The task has ended; a new message makes a new task.
    #[error("task {id} is {state} and accepts no more messages; send the message without a task id")]
    TaskEnded { id: TaskId, state: TaskState },
    /// The task is being worked on.
    #[error("task {id} is {state}; wait until it asks for input, or cancel it")]
    TaskBusy { id: TaskId, state: TaskState },
    /// The task has ended already.
    #[error("task {id} is already {state} and cannot be canceled")]
    NotCancelable { id: TaskId, state: TaskState },
    /// The token was not made by this server for this caller.
    #[error("the page token is not valid; start again without one")]
    InvalidPageToken,
    /// A stream cannot begin after an event that has not happened.
    #[error("task {id} has no such event; its last event is {last}")]
    NoSuchEvent { id: TaskId, last: Seq },
    /// The owner has as many open streams as one may have.
    #[error("{limit} streams are already open; close one first")]
    TooManyStreams {
        /// How many one may have.
        limit: usize,
    },
    /// Too much of large requests and answers is under way.
    #[error("too many large requests and responses are in flight; read the pending responses, then retry")]
    TooMuch,
    /// There is no MCP server of that name.
    #[error("there is no MCP server {name}{}", did_you_mean(nearest.as_ref()))]
    UnknownServer {
        name: ServerName,
        /// The one that was probably meant.
        nearest: Option<ServerName>,
    },
    /// There is no profile of that name.
    #[error("there is no profile {name}{}", did_you_mean(nearest.as_ref()))]
    UnknownProfile {
        name: ProfileName,
        /// The one that was probably meant.
        nearest: Option<ProfileName>,
    },
    /// There is no such model, or no way to it.
    #[error("{0}")]
    UnknownModel(String),
    /// The model gave no answer.
    #[error("the model gave no answer: {0}")]
    ModelFailed(String),
    /// There is an MCP server of that name.
    #[error("an MCP server {0} already exists; replace it with `--replace`, or choose another name")]
    ServerExists(ServerName),
    /// The MCP server is switched off.
    #[error("the MCP server {0} is disabled")]
    ServerDisabled(ServerName),
    /// The server is this OpenFang.
    #[error("{0} is this OpenFang itself; its tools are already available here")]
    OwnServer(ServerName),
    /// There is an agent of that name.
    #[error("an agent {0} already exists; replace it with `--replace`, or choose another name")]
    AgentExists(AgentName),
    /// The agent is one of this OpenFang.
    #[error("{0} would be an agent of this OpenFang itself, which is available here already")]
    OwnAgent(AgentName),
    /// There is no agent at a URL, or it cannot be used.
    #[error("{0}")]
    AgentUnreachable(String),
    /// The server does not come from the file.
    #[error("the MCP server {0} is not in config.toml but in an environment variable; remove it there")]
    NotInFile(ServerName),
    /// The caller may not do that.
    #[error("{0}")]
    NotPermitted(&'static str),
    /// A change was allowed and not made to its end.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// The configuration was not changed.
    #[error("config.toml was not changed: {0}")]
    ConfigEdit(EditError),
    /// The files of the home were not taken over.
    #[error("the settings were not reloaded, and nothing changed: {0}")]
    SettingsRejected(String),
    /// Something about users, their keys or their logins.
    #[error(transparent)]
    User(#[from] UserError),
    /// Something about stored secrets.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// Something about calls that wait for a person.
    #[error(transparent)]
    Approval(#[from] ApprovalError),
    /// A schedule was not changed.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// Something about skills went wrong.
    #[error(transparent)]
    Skill(#[from] SkillError),
    /// The credential is worth nothing any more.
    #[error("the credential was revoked; log in again, or use another key")]
    Revoked,
    /// The tool was not called, or broke.
    #[error(transparent)]
    Tool(#[from] ToolError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl KernelError {
    /// The word for API errors and metrics.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::UnknownAgent(_) => "unknown_agent",
            Self::UnknownTool(_) => "unknown_tool",
            Self::NobodyToAsk(_) => "nobody_to_ask",
            Self::UnknownTask(_) => "unknown_task",
            Self::InvalidMessage(_) => "invalid_message",
            Self::RefusedByAgent(_) => "refused_by_agent",
            Self::TooDeep { .. } => "too_deep",
            Self::InvalidPush { .. } => "invalid_push_config",
            Self::TaskEnded { .. } => "task_ended",
            Self::TaskBusy { .. } => "task_busy",
            Self::NotCancelable { .. } => "not_cancelable",
            Self::InvalidPageToken => "invalid_page_token",
            Self::NoSuchEvent { .. } => "no_such_event",
            Self::TooManyStreams { .. } => "too_many_streams",
            Self::TooMuch => "too_much",
            Self::UnknownServer { .. } => "unknown_server",
            Self::UnknownModel(_) => "unknown_model",
            Self::ModelFailed(_) => "model_failed",
            Self::ServerExists(_) => "server_exists",
            Self::UnknownProfile { .. } => "unknown_profile",
            Self::ServerDisabled(_) => "server_disabled",
            Self::OwnServer(_) => "own_server",
            Self::AgentExists(_) => "agent_exists",
            Self::OwnAgent(_) => "own_agent",
            Self::AgentUnreachable(_) => "agent_unreachable",
            Self::NotInFile(_) => "not_in_file",
            Self::NotPermitted(_) => "not_permitted",
            Self::Change(ChangeError::Unrecorded { .. }) => "unrecorded",
            Self::Change(ChangeError::Broke(_)) => "panicked",
            Self::ConfigEdit(EditError::Changed) => "config_changed",
            Self::ConfigEdit(EditError::Unwritable(_)) => "config_unwritable",
            Self::ConfigEdit(_) => "config_refused",
            Self::SettingsRejected(_) => "config_rejected",
            Self::User(error) => error.reason(),
            Self::Vault(error) => error.reason(),
            Self::Approval(error) => error.reason(),
            Self::Schedule(error) => error.reason(),
            Self::Skill(error) => error.reason(),
            Self::Revoked => "revoked",
            Self::Tool(error) => error.reason(),
            Self::Store(StoreError::TooManyLive { .. }) => "too_many_live_tasks",
            Self::Store(StoreError::TooManyPushes { .. }) => "too_many_push_configs",
            Self::Store(StoreError::OwnerFull { .. }) => "owner_storage_full",
            Self::Store(StoreError::Unavailable { .. }) => "store_unavailable",
            Self::Store(_) => "store",
        }
    }

    /// Whether the caller keeps as much as one owner may keep. Waiting does not help.
    pub const fn is_storage_full(&self) -> bool {
        matches!(self, Self::Store(StoreError::OwnerFull { .. }))
    }

    /// Whether a limit of the caller's own was reached, so that waiting helps.
    pub const fn is_limit(&self) -> bool {
        matches!(
            self,
            Self::TooManyStreams { .. }
                | Self::TooMuch
                | Self::User(UserError::Busy)
                | Self::Store(StoreError::TooManyLive { .. } | StoreError::TooManyPushes { .. })
        )
    }
}

fn did_you_mean<T: fmt::Display>(nearest: Option<&T>) -> String {
    nearest.map(|name| format!(" (did you mean {name}?)")).unwrap_or_default()
}

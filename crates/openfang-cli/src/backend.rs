//! The backend of a command: the daemon of the home if one is running, else a kernel in this process.
//!
//! Both return the same types and use the same store. Only work that must outlive the command
//! ([`DaemonBackend::submit`]) needs the daemon.

use std::collections::BTreeMap;
use std::sync::Arc;

use openfang_kernel::config_file::UsableConfig;
use openfang_kernel::home::FirstRun;
use openfang_kernel::{AgentSummary, Explanation, GrantMeaning};
use openfang_types::call::AskedBack;
use openfang_types::content::ToolOutput;
use openfang_types::event::TaskEvent;
use openfang_types::ids::{AgentName, ContextId, Owner, TaskId, ToolName};
use openfang_types::limits::MCP_INPUT_ROUNDS;
use openfang_types::settings_status::FailedAgent;
use openfang_types::task::{Message, Part, Task, TaskState};
use openfang_types::tool::ToolDefinition;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::error::CliError;
use crate::registry::encoded;
use crate::remote::RemoteServer;
use crate::session::Session;
use crate::talk::Talk;

pub(crate) use daemon::{DaemonBackend, refusal, refusal_in, typed};
pub(crate) use external::ExternalAgents;
pub(crate) use following::Following;
pub(crate) use in_process::InProcess;
pub(crate) use servers::Servers;

pub(crate) use openfang_types::api::{AgentView, Reply};

mod approvals;
mod daemon;
mod events;
mod external;
mod following;
mod in_process;
mod link;
mod models;
mod schedules;
mod secrets;
mod servers;
mod skills;
mod users;

/// The backend that runs a command.
pub(crate) enum Backend {
    Daemon(DaemonBackend),
    InProcess(InProcess),
}

/// A message to an agent.
#[derive(Debug, Clone)]
pub(crate) struct Outgoing {
    pub(crate) agent: AgentName,
    pub(crate) parts: Vec<Part>,
    /// The task to continue.
    pub(crate) task: Option<TaskId>,
    /// The conversation to go on with.
    pub(crate) context: Option<ContextId>,
    /// The model that answers instead of the agent's, as PROVIDER/MODEL.
    pub(crate) model: Option<String>,
}

impl Outgoing {
    /// A message of one text.
    pub(crate) fn text(agent: AgentName, text: impl Into<String>) -> Self {
        Self { agent, parts: vec![Part::text(text)], task: None, context: None, model: None }
    }
}

/// A filter and a limit for a list of tasks.
#[derive(Debug, Clone)]
pub(crate) struct TaskQuery {
    pub(crate) agent: Option<AgentName>,
    pub(crate) state: Option<TaskState>,
    pub(crate) context: Option<ContextId>,
    pub(crate) limit: usize,
}

/// A call of a tool.
pub(crate) struct CallOf<'a> {
    pub(crate) name: &'a ToolName,
    pub(crate) arguments: Map<String, Value>,
    /// Fires when the call is to stop.
    pub(crate) cancel: CancellationToken,
}

/// Answers to questions of a call, and the state that came with the questions.
pub(crate) type Answered = (BTreeMap<String, Box<RawValue>>, String);

/// What came of a call.
pub(crate) enum Called {
    Done(ToolOutput),
    Asks(AskedBack),
}

/// The answers of somebody who does not answer.
fn canceled(asked: &AskedBack) -> BTreeMap<String, Box<RawValue>> {
    let cancel = to_raw_value(&json!({ "action": "cancel" })).unwrap_or_else(|_| RawValue::NULL.to_owned());
    asked.questions.keys().map(|key| (key.clone(), cancel.clone())).collect()
}

/// Tasks, and how many there are in all.
#[derive(Debug, Serialize)]
pub(crate) struct TaskListing {
    pub(crate) tasks: Vec<Task>,
    pub(crate) total: usize,
}

/// An item of a stream of events.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StreamUpdate {
    /// The task as it stands.
    Task(Box<Task>),
    /// The next thing that happened to it.
    Event(Box<TaskEvent>),
    /// An answer that needed no task.
    Message(Message),
    /// The daemon stops, and nothing works on the task.
    Shutdown {},
}

impl Backend {
    /// Opens the server of `--url`, the daemon, or else a kernel in this process. Prints a hint if that created the home.
    pub(crate) async fn open(session: &Session) -> Result<Self, CliError> {
        if let Some(origin) = &session.remote {
            return Ok(Self::Daemon(DaemonBackend::remote(RemoteServer::open(session, origin)?)));
        }
        if !session.in_process
            && let Some(daemon) = session.daemon().await?
        {
            return Ok(Self::Daemon(DaemonBackend::new(daemon)));
        }
        let (home, first_run) = session.home_to_work_on()?;
        if first_run == FirstRun::Yes {
            let root = session.home.root().display();
            session
                .output
                .note(&format!("first run: created {root} with config.toml and the agent starter"));
        }
        let UsableConfig { config, failed_servers } = session.usable_config(&[])?;
        for failed in &failed_servers {
            session
                .output
                .complaint(&format!("skipping the MCP server {}: {}", failed.name, failed.reason));
        }
        Ok(Self::InProcess(InProcess::start(session, home, config)?))
    }

    /// Asks in the place of a user from now on, or again as the operator. Only the admin may.
    pub(crate) async fn in_place_of(&mut self, user: Option<&Owner>) -> Result<(), CliError> {
        match self {
            Self::Daemon(daemon) => {
                daemon.user = user.cloned();
                Ok(())
            }
            Self::InProcess(kernel) => kernel.in_place_of(user).await,
        }
    }

    /// What a grant names, with the tools and agents that there are now.
    pub(crate) async fn grant_meaning(&self, grant: &str) -> Result<GrantMeaning, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.get(&format!("/api/grants?grant={}", encoded(grant))).await,
            Self::InProcess(kernel) => {
                kernel.acquaint().await;
                kernel.said(kernel.kernel.grant_meaning(&kernel.caller, grant))
            }
        }
    }

    pub(crate) async fn agents(&self) -> Result<Vec<AgentSummary>, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.agents().await,
            Self::InProcess(kernel) => Ok(kernel.agents()),
        }
    }

    /// The agents that cannot be used as they are written.
    pub(crate) async fn failed_agents(&self) -> Result<Vec<FailedAgent>, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.failed_agents().await,
            Self::InProcess(kernel) => Ok(kernel.failed_agents()),
        }
    }

    pub(crate) async fn agent(&self, name: &AgentName) -> Result<AgentView, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.agent(name).await,
            Self::InProcess(kernel) => {
                kernel.acquaint().await;
                kernel.agent(name)
            }
        }
    }

    /// The tools that the caller may call, or those that an agent can use.
    pub(crate) async fn tools(&self, through: Option<&AgentName>) -> Result<Vec<ToolDefinition>, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.tools(through).await,
            Self::InProcess(kernel) => {
                kernel.acquaint().await;
                kernel.tools(through)
            }
        }
    }

    pub(crate) async fn tool(&self, name: &ToolName) -> Result<ToolDefinition, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.tool(name).await,
            Self::InProcess(kernel) => {
                kernel.acquaint().await;
                kernel.tool(name)
            }
        }
    }

    /// Calls a tool. `talk` hears how the call goes, and answers what the tool asks.
    pub(crate) async fn call_tool(&self, call: &CallOf<'_>, talk: &Arc<Talk>) -> Result<ToolOutput, CliError> {
        let mut answered = None;
        for _ in 0..MCP_INPUT_ROUNDS {
            let asked = match self.call_once(call, answered.take(), talk).await? {
                Called::Done(output) => return Ok(output),
                Called::Asks(asked) => asked,
            };
            let answers = tokio::select! {
                answers = talk.ask(call.name, &asked.questions) => answers,
                () = call.cancel.cancelled() => Err(CliError::Answer { why: "the call was canceled".to_owned() }),
            };
            match answers {
                Ok(answers) => answered = Some((answers, asked.state)),
                Err(error) => {
                    // The tool waits for an answer, and gets one; what it makes of that is of no interest any more.
                    let _ = self.call_once(call, Some((canceled(&asked), asked.state)), talk).await;
                    return Err(error);
                }
            }
        }
        Err(CliError::Answer { why: format!("{} asked {MCP_INPUT_ROUNDS} times", call.name) })
    }

    async fn call_once(
        &self,
        call: &CallOf<'_>,
        answered: Option<Answered>,
        talk: &Arc<Talk>,
    ) -> Result<Called, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.call_tool(call, answered, talk).await,
            Self::InProcess(kernel) => kernel.call_tool(call, answered, talk).await,
        }
    }

    /// Sends a message and waits until the task has ended or asks for something.
    pub(crate) async fn send(&self, message: Outgoing) -> Result<Reply, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.send(message).await,
            Self::InProcess(kernel) => kernel.send(message).await,
        }
    }

    /// Sends a message and follows its stream.
    pub(crate) async fn send_streaming(&self, message: Outgoing) -> Result<Following, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.send_streaming(message).await,
            Self::InProcess(kernel) => kernel.send_streaming(message).await,
        }
    }

    /// The caller's own tasks, latest change first, at most `limit`.
    pub(crate) async fn tasks(&self, wanted: &TaskQuery) -> Result<TaskListing, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.tasks(wanted).await,
            Self::InProcess(kernel) => kernel.tasks(wanted).await,
        }
    }

    pub(crate) async fn task(&self, id: TaskId) -> Result<Task, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.task(id).await,
            Self::InProcess(kernel) => kernel.task(id).await,
        }
    }

    pub(crate) async fn cancel(&self, id: TaskId) -> Result<Task, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.cancel(id).await,
            Self::InProcess(kernel) => kernel.cancel(id).await,
        }
    }

    /// Takes over the tasks of processes that died. A daemon does that by itself.
    pub(crate) async fn take_over_tasks(&self) -> Result<(), CliError> {
        match self {
            Self::Daemon(_) => Ok(()),
            Self::InProcess(kernel) => kernel.take_over_tasks().await,
        }
    }

    /// Follows a task to its end.
    pub(crate) async fn follow(&self, id: TaskId) -> Result<Following, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.follow(id).await,
            Self::InProcess(kernel) => kernel.follow(id).await,
        }
    }

    pub(crate) async fn explain(&self, agent: &AgentName, tool: &ToolName) -> Result<Explanation, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.explain(agent, tool).await,
            Self::InProcess(kernel) => {
                kernel.acquaint().await;
                kernel.explain(agent, tool)
            }
        }
    }
}

#[cfg(test)]
#[path = "backend_tests.rs"]
mod tests;

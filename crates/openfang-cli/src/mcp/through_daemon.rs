//! Calls of an IDE, carried out by the daemon over its API.

use std::sync::Arc;

use futures_util::stream;
use openfang_egress::daemon::DaemonError;
use openfang_kernel::AgentSummary;
use openfang_kernel::mcp::serving::{HouseError, HouseReply, LogLevel, Sending, Ticks};
use openfang_types::content::ToolOutput;
use openfang_types::ids::{AgentName, TaskId, ToolName};
use openfang_types::task::Task;
use openfang_types::tool::ToolDefinition;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{McpBackend, Missed};
use crate::backend::{DaemonBackend, Following, Outgoing, Shown};
use crate::error::CliError;

impl DaemonBackend {
    pub(super) async fn mcp_agents(&self) -> Result<Vec<AgentSummary>, Missed> {
        self.agents().await.map_err(missed)
    }

    pub(super) async fn mcp_tools(&self, through: Option<&AgentName>) -> Result<Vec<ToolDefinition>, Missed> {
        self.tools(through).await.map_err(missed)
    }

    pub(super) async fn mcp_call(&self, name: &ToolName, arguments: Map<String, Value>) -> Result<ToolOutput, Missed> {
        self.call_tool(name, arguments).await.map_err(missed)
    }

    pub(super) async fn mcp_task(&self, id: TaskId) -> Result<Task, Missed> {
        self.task(id).await.map_err(missed)
    }

    pub(super) async fn mcp_tasks(&self, page: Option<&str>) -> Result<(Vec<Task>, Option<String>), Missed> {
        self.task_page(page).await.map_err(missed)
    }

    /// Sends a message and reports what comes of it; a canceled call cancels its task.
    pub(super) async fn mcp_send(
        self: &Arc<Self>,
        sending: Sending<'_>,
        tracker: &TaskTracker,
    ) -> Result<HouseReply, Missed> {
        let Sending { agent, text, task, reporter } = sending;
        let outgoing = Outgoing { agent: agent.clone(), text: text.to_owned(), task };
        let mut following = self.send_streaming(outgoing).await.map_err(missed)?;
        let done = CancellationToken::new();
        let _done = done.clone().drop_guard();
        let mut known: Option<TaskId> = None;
        let mut told = 0.0;
        loop {
            let shown = match following.next().await {
                Ok(shown) => shown,
                Err(error) => return Err(lost_on_the_way(error, known)),
            };
            let said = match shown {
                None => break,
                Some(Shown::Message(message)) => return Ok(HouseReply::Message(message)),
                Some(Shown::Shutdown {}) => return Err(lost_on_the_way(stopping(), known)),
                Some(Shown::Task(task)) => {
                    if known.replace(task.id).is_none() {
                        self.cancel_with(task.id, reporter.cancel().clone(), done.clone(), tracker);
                    }
                    task.status.state.to_string()
                }
                Some(Shown::Event(event)) => event.body.name().to_owned(),
            };
            told += 1.0;
            reporter.progress(told, None, Some(&said));
            reporter.log(LogLevel::Debug, agent.as_str(), &json!({ "task": known, "says": said }));
        }
        let id = known.ok_or_else(|| Missed::UnderWay("the daemon did not say which task it began".to_owned()))?;
        self.task(id)
            .await
            .map(|task| HouseReply::Task(Box::new(task)))
            .map_err(|error| lost_on_the_way(error, known))
    }

    /// Cancels the task when the call is canceled before it is done.
    fn cancel_with(
        self: &Arc<Self>,
        id: TaskId,
        cancel: CancellationToken,
        done: CancellationToken,
        tracker: &TaskTracker,
    ) {
        let daemon = Arc::clone(self);
        tracker.spawn(async move {
            let is_canceled = tokio::select! {
                biased;
                () = cancel.cancelled() => true,
                () = done.cancelled() => cancel.is_cancelled(),
            };
            if is_canceled && let Err(error) = daemon.cancel(id).await {
                tracing::debug!(%id, %error, "the task was not canceled");
            }
        });
    }
}

fn stopping() -> CliError {
    CliError::Answer { why: "it stops".to_owned() }
}

/// The call was under way: it may have had its effect, so it is not made again.
fn lost_on_the_way(error: CliError, task: Option<TaskId>) -> Missed {
    match (missed(error), task) {
        (Missed::Answered(error), _) => Missed::Answered(error),
        (Missed::NotBegun | Missed::UnderWay(_), Some(id)) => Missed::UnderWay(format!(
            "the daemon went away during the call, and its answer is lost; task {id} may go on when it is back: read \
             openfang://tasks/{id}, or call again"
        )),
        (Missed::NotBegun | Missed::UnderWay(_), None) => Missed::UnderWay(
            "the daemon went away during the call, and its answer is lost; look before you call again".to_owned(),
        ),
    }
}

fn missed(error: CliError) -> Missed {
    match error {
        CliError::Daemon(DaemonError::Unreachable { .. } | DaemonError::Unproved { .. }) => Missed::NotBegun,
        CliError::Daemon(error) => Missed::UnderWay(format!(
            "the daemon went away during the call, and its answer is lost ({error}); look before you call again"
        )),
        CliError::Refused(refusal) => Missed::Answered(match refusal.code.as_str() {
            "unknown_agent" | "unknown_tool" | "unknown_task" => HouseError::Unknown,
            "invalid_page_token" => HouseError::BadPage,
            "canceled" => HouseError::Canceled,
            _ => HouseError::Refused(refusal.message),
        }),
        error => Missed::Answered(HouseError::Refused(error.to_string())),
    }
}

/// Ticks whenever something happens to a task of the daemon's.
pub(super) fn ticks(backend: Arc<McpBackend>, id: TaskId) -> Ticks {
    enum State {
        Opening(Arc<McpBackend>, TaskId),
        Open(Following),
    }
    Box::pin(stream::unfold(State::Opening(backend, id), |state| async move {
        let mut following = match state {
            State::Open(following) => following,
            State::Opening(backend, id) => {
                let McpBackend::Daemon(daemon) = &*backend else { return None };
                let mut following = daemon.follow(id).await.ok()?;
                // The task as it stands is no change.
                following.next().await.ok()??;
                following
            }
        };
        match following.next().await {
            Ok(Some(Shown::Event(_) | Shown::Task(_))) => Some(((), State::Open(following))),
            Ok(Some(Shown::Message(_) | Shown::Shutdown {}) | None) | Err(_) => None,
        }
    }))
}

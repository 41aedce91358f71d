//! Calls of an IDE, carried out by the daemon over its API.

use std::sync::Arc;

use futures_util::stream;
use openfang_egress::daemon::DaemonError;
use openfang_kernel::AgentSummary;
use openfang_kernel::mcp::serving::{Entry, HouseError, HouseReply, LogLevel, Sending, Ticks, entry};
use openfang_types::call::Outcome;
use openfang_types::content::ToolOutput;
use openfang_types::ids::{AgentName, TaskId, ToolName};
use openfang_types::task::{Part, Task};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{McpBackend, Missed};
use crate::backend::{DaemonBackend, Following, Outgoing, Shown};
use crate::error::CliError;

impl DaemonBackend {
    pub(super) async fn mcp_agents(&self) -> Result<Vec<AgentSummary>, Missed> {
        self.agents().await.map_err(missed)
    }

    pub(super) async fn mcp_tools(&self, through: Option<&AgentName>) -> Result<Vec<Entry>, Missed> {
        Ok(self.tools(through).await.map_err(missed)?.iter().map(entry).collect())
    }

    pub(super) async fn mcp_call(
        &self,
        name: &ToolName,
        arguments: Option<&RawValue>,
    ) -> Result<Outcome<ToolOutput>, Missed> {
        let arguments = arguments.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
        self.call_tool(name, arguments).await.map(Outcome::Done).map_err(missed)
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
        let Sending { agent, parts, task, reporter } = sending;
        let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
        let outgoing = Outgoing { agent: agent.clone(), text: texts.join("\n"), task };
        let (tell, mut told) = mpsc::channel(1);
        // By itself, so that a call that is canceled before its task is known still finds out which task to cancel.
        tracker.spawn(Arc::clone(self).follow_sent(outgoing, reporter.cancel().clone(), tell));
        let mut known: Option<TaskId> = None;
        let mut steps = 0.0;
        while let Some(shown) = told.recv().await {
            let said = match shown {
                Err(error) if known.is_none() => return Err(missed(error)),
                Err(error) => return Err(lost_on_the_way(error, known)),
                Ok(Shown::Message(message)) => return Ok(HouseReply::Message(message)),
                Ok(Shown::Shutdown {}) => return Err(lost_on_the_way(stopping(), known)),
                Ok(Shown::Task(task)) => {
                    known = Some(task.id);
                    task.status.state.to_string()
                }
                Ok(Shown::Event(event)) => event.body.name().to_owned(),
            };
            steps += 1.0;
            reporter.progress(steps, None, Some(&said));
            reporter.log(LogLevel::Debug, Some(agent.as_str()), &json!({ "task": known, "says": said }));
        }
        let id = known.ok_or_else(|| Missed::UnderWay("the daemon did not say which task it began".to_owned()))?;
        let task = self.task(id).await.map_err(|error| lost_on_the_way(error, known))?;
        Ok(HouseReply::Task(Box::new(task)))
    }

    /// Sends a message and tells what comes of it, until its end; whoever stops listening, or cancels, cancels the task.
    async fn follow_sent(
        self: Arc<Self>,
        outgoing: Outgoing,
        cancel: CancellationToken,
        tell: mpsc::Sender<Result<Shown, CliError>>,
    ) {
        let mut following = match self.send_streaming(outgoing).await {
            Ok(following) => following,
            // Whoever asked may have gone.
            Err(error) => return drop(tell.send(Err(error)).await),
        };
        let mut known: Option<TaskId> = None;
        loop {
            let shown = tokio::select! {
                biased;
                () = cancel.cancelled(), if known.is_some() => break,
                shown = following.next() => shown,
            };
            let Some(shown) = shown.transpose() else { return };
            let is_last = shown.is_err();
            if let Ok(Shown::Task(task)) = &shown {
                known = Some(task.id);
            }
            let is_heard = tell.send(shown).await.is_ok();
            if is_last {
                return;
            }
            if !is_heard && known.is_some() {
                break;
            }
        }
        if let Some(id) = known
            && let Err(error) = self.cancel(id).await
        {
            tracing::debug!(%id, %error, "the task was not canceled");
        }
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

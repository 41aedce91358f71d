//! What the host wants of the kernel: who sees what, calls, messages, tasks, and what changes.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use openfang_mcp::McpError;
use openfang_mcp::host::{Call, TaskChoice, Ticks};
use openfang_mcp::listing::Entry;
use openfang_mcp::meta::LogLevel;
use openfang_mcp::server::Reporter;
use openfang_runtime::catalog::CatalogEntry;
use openfang_runtime::context::{Patience, WayBack};
use openfang_runtime::external_tools;
use openfang_runtime::pipeline::{ToolCall, ToolError};
use openfang_store::KeptResult;
use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::event::{EventBody, Seq, StreamItem, Until};
use openfang_types::ids::{AgentName, ResultId, TaskId, ToolName};
use openfang_types::limits::{CALL_TASK_GRACE, Limits, MCP_PROGRESS_CHARS};
use openfang_types::task::{Message, Origin, Part, Task, TaskParts, TaskState};
use serde_json::json;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::agents::outcome as outcome_of_agent;
use super::host::KernelHost;
use crate::doors::Doors;
use crate::settings::Settings;
use crate::settings::agents;
use crate::tasks::ask::AgentAnswer;
use crate::tasks::list::TaskFilter;
use crate::tasks::log::Visibility;
use crate::tasks::streams::{Begin, Follow, TaskStream};
use crate::tasks::{Incoming, Intake, Tasks};
use crate::{Caller, KernelError, Reply, Way};

/// A tool call of a client.
pub(super) struct ToolRequest<'a> {
    pub(super) name: &'a ToolName,
    pub(super) arguments: Option<&'a RawValue>,
    /// The way back to the client.
    pub(super) back: WayBack,
    /// Fires when the client cancels.
    pub(super) cancel: &'a CancellationToken,
}

/// A message on its way to an agent.
#[derive(Clone, Copy)]
pub(super) struct Sending<'a> {
    pub(super) agent: &'a AgentName,
    pub(super) parts: &'a [Part],
    /// The task that it continues.
    pub(super) task: Option<TaskId>,
    /// Hears how it goes, and stops it.
    pub(super) reporter: &'a Reporter,
    /// How long the client waits.
    pub(super) patience: &'a Patience,
}

/// Why the kernel did not do it, as a client may know it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum DoorError {
    /// There is none, or not for this caller: the two look the same.
    #[error("there is none")]
    Unknown,
    /// Refused or failed, in a sentence a model can act on.
    #[error("{0}")]
    Refused(String),
    /// The place in a list was not one that we named.
    #[error("the page is not valid")]
    BadPage,
    #[error("canceled")]
    Canceled,
    /// Too much is under way; waiting helps.
    #[error("{0}")]
    TooMuch(String),
}

impl From<DoorError> for McpError {
    fn from(error: DoorError) -> Self {
        match error {
            DoorError::Unknown => Self::InvalidParams("there is none of that name".to_owned()),
            DoorError::Refused(why) => Self::InvalidParams(why),
            DoorError::BadPage => Self::BadCursor,
            DoorError::Canceled => Self::Canceled,
            DoorError::TooMuch(why) => Self::TooMuch(why),
        }
    }
}

impl From<KernelError> for DoorError {
    fn from(error: KernelError) -> Self {
        match error {
            KernelError::UnknownAgent(_)
            | KernelError::UnknownTool(_)
            | KernelError::UnknownTask(_)
            | KernelError::Tool(ToolError::Unknown { .. }) => Self::Unknown,
            KernelError::Tool(ToolError::Cancelled(_)) => Self::Canceled,
            KernelError::InvalidPageToken => Self::BadPage,
            KernelError::TooMuch => Self::TooMuch(error.to_string()),
            error => Self::Refused(error.to_string()),
        }
    }
}

impl Doors {
    /// Ticks whenever there are other tools.
    pub(crate) fn tool_changes(&self) -> Ticks {
        let versions = self.inner.pipeline.catalog().changes();
        Box::pin(stream::unfold(versions, |mut versions| async move {
            versions.changed().await.ok()?;
            Some(((), versions))
        }))
    }

    pub(super) async fn call_tool(
        &self,
        caller: &Caller,
        request: ToolRequest<'_>,
    ) -> Result<Outcome<ToolOutput>, DoorError> {
        let ToolRequest { name, arguments, back, cancel } = request;
        let call = ToolCall { name: name.clone(), arguments: Arguments::written_by(arguments) };
        Ok(self.inner.calls.call_tool(caller, call, Way { back, cancel: cancel.clone() }).await?)
    }

    async fn send_reporting(&self, caller: &Caller, sending: Sending<'_>) -> Result<Reply, KernelError> {
        let Sending { agent, parts, task, reporter, patience } = sending;
        let is_heard = reporter.wants_progress() || reporter.hears(LogLevel::Debug);
        let incoming = Incoming {
            caller: caller.clone(),
            agent: agent.clone(),
            message: Message { task_id: task, ..self.inner.tasks.message_of_parts(None, parts.to_vec()) },
            labels: caller.entry_labels(),
            origin: Origin::OpenFang,
            peer_name: None,
            push: None,
            granted: None,
            cancel: reporter.cancel().clone(),
            // Who does not wait is told of the task at once.
            visibility: if is_heard || patience.hold.is_zero() { Visibility::Seen } else { Visibility::Unseen },
        };
        let report = async |id| {
            if is_heard {
                self.report(caller, id, &sending).await;
            }
        };
        match self.inner.tasks.ask(incoming, Some(patience), report).await? {
            AgentAnswer::Message(message) => Ok(Reply::Message(message)),
            AgentAnswer::Task(settled) => Ok(Reply::Task(Box::new(settled.task))),
        }
    }

    /// Tells what happens to a task until it has ended or asks for something.
    async fn report(&self, caller: &Caller, id: TaskId, sending: &Sending<'_>) {
        let follow = Follow { begin: Begin::After(0), until: Until::Settled };
        let Ok(mut stream) = self.inner.tasks.follow(caller, id, follow).await else { return };
        while let Ok(Some(StreamItem::Event(event))) = stream.next().await {
            let said = described(&event.body);
            sending.reporter.progress(progress_of(event.seq), None, Some(&said));
            let logged = json!({ "task": id, "event": event.body.name(), "says": said });
            sending.reporter.log(LogLevel::Debug, Some(sending.agent.as_str()), &logged);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "no task has so many events")]
const fn progress_of(seq: Seq) -> f64 {
    seq as f64
}

/// What an event means to somebody who waits.
fn described(event: &EventBody) -> String {
    match event {
        EventBody::Message(_) => "the message was taken".to_owned(),
        EventBody::Status(status) => match &status.message {
            Some(message) => message.joined_text().chars().take(MCP_PROGRESS_CHARS).collect(),
            None => status.state.to_string(),
        },
        EventBody::Artifact(update) => {
            format!(
                "artifact {}",
                update.artifact.name.as_deref().unwrap_or_else(|| update.artifact.artifact_id.as_str())
            )
        }
    }
}

impl KernelHost {
    pub(super) fn limits(&self) -> Limits {
        self.doors.inner.settings().config().limits.clone()
    }

    /// Callers with the same word are shown the same, as long as the number is the same.
    pub(super) fn audience(&self, caller: &Caller) -> (String, u64) {
        let inner = &self.doors.inner;
        // Both only ever grow, so whichever changes, the sum does.
        let version = inner.pipeline.catalog().version() + inner.upstreams.offerings().version();
        // The labels too: what they forbid for ever is not listed.
        let labels = caller.principal.entry_label();
        (format!("{} {:?} {labels:?}", caller.principal.audience(), caller.door), version)
    }

    /// The tools a caller may use, or those that an agent can use for it, as entries of a list.
    pub(super) fn usable_tools(&self, caller: &Caller, through: Option<&AgentName>) -> Result<Vec<Entry>, DoorError> {
        Ok(self.doors.inner.calls.usable_tools(caller, through)?.map(CatalogEntry::entry).collect())
    }

    /// External agents that a caller may use, all or one, as entries of a list.
    pub(super) fn external_agents(&self, caller: &Caller, only: Option<&AgentName>) -> Result<Vec<Entry>, DoorError> {
        let is_wanted = |tool: &CatalogEntry| {
            let traits = tool.traits();
            let agent = traits.as_ref().and_then(|traits| traits.origin.external_agent());
            agent.is_some_and(|agent| only.is_none_or(|only| only == agent))
        };
        let tools = self.doors.inner.calls.usable_tools(caller, None)?;
        Ok(tools.filter(is_wanted).map(CatalogEntry::entry).collect())
    }

    /// Sends a message and waits until its task has ended or asks for something.
    pub(super) async fn send(&self, caller: &Caller, sending: Sending<'_>) -> Result<Reply, DoorError> {
        Ok(self.doors.send_reporting(caller, sending).await?)
    }

    /// How long this client is kept waiting for an agent. From now on its time-out does not end the work.
    pub(super) fn patience(&self, call: Call<'_, Caller>) -> Patience {
        let stop = call.reporter.stop();
        stop.goes_on();
        let hold = match call.task {
            TaskChoice::Always => Duration::ZERO,
            TaskChoice::IfLong => CALL_TASK_GRACE,
            TaskChoice::Never => self.doors.inner.settings().config().mcp.hold(call.client_name.as_str()),
        };
        Patience { hold, left: stop.left().clone(), may_join: !call.may_be_task() }
    }

    /// Whether a tool is an agent of another server.
    pub(super) fn is_external_tool(&self, name: &ToolName) -> bool {
        let tool = || self.doors.inner.pipeline.catalog().get(name);
        name.as_str().starts_with("a2a_")
            && tool().is_some_and(|tool| tool.definition().origin.external_agent().is_some())
    }

    /// Whether an agent is one of another server.
    pub(super) fn is_external(&self, agent: &AgentName) -> bool {
        let settings = self.doors.inner.settings();
        settings.agents().get(agent).is_some_and(|agent| agent.answerer.is_remote())
    }

    /// Waits until one's own task has ended or asks for something, or the patience is over.
    pub(super) async fn settled_within(
        &self,
        caller: &Caller,
        id: TaskId,
        patience: &Patience,
    ) -> Result<Task, DoorError> {
        Ok(self.doors.inner.tasks.settled_within(caller, id, patience).await?.task)
    }

    /// Waits until one's own task has ended or asks for something.
    pub(super) async fn settled(&self, caller: &Caller, id: TaskId) -> Result<Task, DoorError> {
        Ok(self.doors.inner.tasks.settled(caller, id).await?.task)
    }

    /// Waits until the agent of one's own task goes on after a sign-in, and the task is settled.
    pub(super) async fn settled_after_sign_in(&self, caller: &Caller, id: TaskId) -> Result<Task, DoorError> {
        Ok(self.doors.inner.tasks.settled_after_sign_in(caller, id).await?.task)
    }

    /// The same for as long as the client waits, as the result of a call. The page is not shown a second time.
    pub(super) async fn after_sign_in(
        &self,
        call: Call<'_, Caller>,
        id: TaskId,
    ) -> Result<Outcome<ToolOutput>, DoorError> {
        let (caller, patience) = (self.doors.inner.caller_of(&call), self.patience(call));
        let settled = self.doors.inner.tasks.signed_in_within(&caller, id, Some(&patience)).await?;
        Ok(match settled.task.status.state {
            TaskState::AuthRequired => Outcome::Done(external_tools::result_of(&settled.task.agent, &settled.task)),
            _ => outcome_of_agent(self, call, &settled.task),
        })
    }

    /// Sends a message to a task, and does not wait for what comes of it.
    pub(super) async fn send_on(
        &self,
        caller: &Caller,
        agent: &AgentName,
        (task, part): (TaskId, Part),
    ) -> Result<(), DoorError> {
        let tasks = &self.doors.inner.tasks;
        let incoming = Incoming {
            caller: caller.clone(),
            agent: agent.clone(),
            message: Message { task_id: Some(task), ..tasks.message_of_parts(None, vec![part]) },
            labels: caller.entry_labels(),
            origin: Origin::OpenFang,
            peer_name: None,
            push: None,
            granted: None,
            cancel: CancellationToken::new(),
            visibility: Visibility::Seen,
        };
        if let Intake::Begun(work) = tasks.take(incoming).await? {
            drop(work.detach());
        }
        Ok(())
    }

    /// One's own task without what happened to it.
    pub(super) async fn task_head(&self, caller: &Caller, id: TaskId) -> Result<Task, DoorError> {
        Ok(self.doors.inner.tasks.head(caller, id).await?.task)
    }

    pub(super) async fn cancel_task(&self, caller: &Caller, id: TaskId) -> Result<Task, DoorError> {
        Ok(self.doors.inner.tasks.cancel_task(caller, id).await?)
    }

    /// A page of one's own tasks with these parts, and where the next one begins.
    pub(super) async fn tasks(
        &self,
        caller: &Caller,
        page: Option<&str>,
        parts: TaskParts,
    ) -> Result<(Vec<Task>, Option<String>), DoorError> {
        let page_token = page.map(str::to_owned);
        let filter = TaskFilter { page_token, parts, ..TaskFilter::default() };
        let listed = self.doors.inner.tasks.tasks(caller, filter).await?;
        Ok((listed.tasks, listed.next_page_token))
    }

    pub(super) async fn task(&self, caller: &Caller, id: TaskId) -> Result<Task, DoorError> {
        Ok(self.doors.inner.tasks.task(caller, id).await?)
    }

    /// What one of the caller's own results lost.
    pub(super) async fn result(&self, caller: &Caller, id: ResultId) -> Result<KeptResult, DoorError> {
        self.doors.inner.calls.kept_result(caller, id).await?.ok_or(DoorError::Unknown)
    }

    /// Ticks whenever there are other agents.
    pub(super) fn agent_changes(&self) -> Ticks {
        let settings = (self.doors.inner.settings.changes(), self.doors.inner.settings());
        Box::pin(stream::unfold(settings, |(mut changes, known)| async move {
            let is_other = |now: &Arc<Settings>| !agents::changes(known.agents(), now.agents()).is_empty();
            let now = Arc::clone(&*changes.wait_for(is_other).await.ok()?);
            Some(((), (changes, now)))
        }))
    }

    /// Ticks whenever something happens to one's own task.
    pub(super) fn follow(&self, caller: &Caller, id: TaskId) -> Ticks {
        enum State {
            Opening(Tasks, Caller, TaskId),
            Open(Box<TaskStream>),
        }
        let opening = State::Opening(self.doors.inner.tasks.clone(), caller.clone(), id);
        Box::pin(stream::unfold(opening, |state| async move {
            let mut stream = match state {
                State::Open(stream) => stream,
                State::Opening(tasks, caller, id) => {
                    let task = tasks.head(&caller, id).await.ok()?;
                    let follow = Follow { begin: Begin::After(task.seq), until: Until::Ended };
                    Box::new(tasks.follow(&caller, id, follow).await.ok()?)
                }
            };
            match stream.next().await {
                Ok(Some(item @ (StreamItem::Event(_) | StreamItem::Snapshot(..)))) => {
                    drop(item);
                    stream.rest();
                    Some(((), State::Open(stream)))
                }
                Ok(Some(StreamItem::Shutdown) | None) | Err(_) => None,
            }
        }))
    }

    /// Ticks at once, and whenever the status of one's own task changes.
    pub(super) fn follow_status(&self, caller: &Caller, id: TaskId) -> Ticks {
        let (tasks, caller) = (self.doors.inner.tasks.clone(), caller.clone());
        let opened = async move {
            let head = tasks.head(&caller, id).await.ok()?;
            let follow = Follow { begin: Begin::After(head.seq), until: Until::Ended };
            tasks.follow(&caller, id, follow).await.ok()
        };
        let ticks = |stream| stream::once(ready(())).chain(stream::unfold(stream, next_status));
        Box::pin(stream::once(opened).filter_map(ready).flat_map(ticks))
    }
}

/// Waits for the next status of a task.
async fn next_status(mut stream: TaskStream) -> Option<((), TaskStream)> {
    loop {
        let is_status = match stream.next().await {
            Ok(Some(StreamItem::Event(event))) => matches!(event.body, EventBody::Status(_)),
            Ok(Some(StreamItem::Snapshot(..))) => true,
            Ok(Some(StreamItem::Shutdown) | None) | Err(_) => return None,
        };
        stream.rest();
        if is_status {
            return Some(((), stream));
        }
    }
}

//! Who answers for an agent. An [`Answerer`] is given a turn, emits events while it works, and says how the turn ended.
//!
//! Blocking answers, streams and polls all read the events; there is no second loop for streaming. A tool call that needs
//! something from the caller ends the turn with a question; the next turn goes on with the same call.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use openfang_a2a::operation::PushNotificationConfig;
use openfang_store::RemoteRecord;
use openfang_types::agent::AgentManifest;
use openfang_types::call::{CallListener, InputRequired, Outcome, Resumed};
use openfang_types::content::ToolOutput;
use openfang_types::event::ArtifactUpdate;
use openfang_types::ids::{ArtifactId, ContextId, TaskId, ToolName};
use openfang_types::task::{Artifact, Message, Part, TaskState};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Notify;

use crate::catalog::Catalog;
use crate::context::{CallContext, WayBack};
use crate::pipeline::{Pipeline, ToolCall, ToolError};
pub use events::{EventSink, RunEvent, RunStopped, TextDelta};
pub use inbox::{Inbox, InboxMessage};
use reports::Reports;
use result_parts::parts_of;

pub mod direct;
mod events;
mod inbox;
pub mod model;
pub mod questions;
pub mod remote;
mod reports;
mod result_parts;
pub mod script;

/// Who answers for an agent.
pub trait Answerer: Send + Sync {
    /// An answer that needs no task, if this message gets one.
    fn plain_reply(&self, message: &Message) -> Option<Vec<Part>>;
    /// Why this message is not taken, if it is not: then there is no task either.
    fn refusal(&self, _: &Message) -> Option<Refusal> {
        None
    }
    /// What to do with a turn that a process began and did not live to end.
    fn recovery(&self, turn: &Turn<'_>, agent: &AgentManifest, catalog: &Catalog) -> Recovery;
    /// Whether somebody on another server does the work, who goes on when this process ends.
    fn is_remote(&self) -> bool {
        false
    }
    /// How long a turn may take; none: as long as any run.
    fn limit(&self) -> Option<Duration> {
        None
    }
    /// Whether a turn hears messages that arrive while it works, through its [`Inbox`].
    fn hears_messages(&self) -> bool {
        false
    }
    /// Whether a turn ends with the question when a person must decide on a call, and the next one goes on with the call.
    fn waits_for_approvals(&self) -> bool {
        false
    }
    /// Tells whoever works on another server that a task was stopped. None if there is nobody to tell.
    fn cancel(&self, _: RemoteRecord) -> Option<BoxFuture<'static, ()>> {
        None
    }
    /// Waits until whoever works on another server goes on after somebody signed in there. None if nobody does.
    fn signed_in(&self, _: RemoteRecord, _: Option<PushHint>) -> Option<BoxFuture<'static, SignIn>> {
        None
    }
    /// Whether whoever works on another server may be given a URL where changes are pushed to.
    fn takes_pushes(&self) -> bool {
        false
    }
    /// Works on a turn. Dropping the future stops the work.
    fn run<'a>(&'a self, run: &'a AgentRun<'a>, turn: &'a Turn<'a>) -> BoxFuture<'a, Result<Ending, RunStopped>>;
}

/// Why an agent takes no task from a message: an error of the protocol, whichever is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// A content type that the agent does not take.
    #[error("the agent does not take this type of content")]
    ContentTypeNotSupported,
    /// The message is not what the agent needs.
    #[error("the agent does not take this message")]
    InvalidParams,
    /// The agent does not do that.
    #[error("the agent does not do this")]
    UnsupportedOperation,
    /// The agent sends no push notifications for this.
    #[error("the agent sends no push notifications")]
    PushNotificationNotSupported,
    /// The message names a task that the agent does not know.
    #[error("the agent does not know the task")]
    TaskNotFound,
    #[error("the agent broke")]
    InternalError,
}

/// What an answerer works with.
pub struct AgentRun<'a> {
    /// The context its tool calls are made in; it has a run.
    pub cx: &'a CallContext,
    /// The agent it answers for.
    pub agent: &'a AgentManifest,
    /// The one way to tools.
    pub pipeline: &'a Arc<Pipeline>,
    /// Where its events go.
    pub events: &'a dyn EventSink,
}

/// Where an agent of another server may push the changes of a task. A push only wakes up whoever follows the task, and what
/// it says is not used.
#[derive(Debug, Clone)]
pub struct PushHint {
    /// The URL and the secret, as the agent is told.
    pub config: PushNotificationConfig,
    /// Notified by each push.
    pub wake: Arc<Notify>,
}

/// What came of waiting for somebody to sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignIn {
    /// The agent goes on, or does not know the task any more.
    Over,
    /// Nobody signed in for as long as is waited.
    GivenUp,
}

/// What to do with a turn whose process died.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// Work on it again; [`Turn::told`] says how far it had come.
    Resume,
    /// An effect may have happened, and must not happen twice.
    Fail,
}

/// What there is to work on.
pub struct Turn<'a> {
    /// The task that it is a turn of.
    pub task: TaskId,
    /// What was said before, oldest first.
    pub history: &'a [Message],
    /// The message to answer.
    pub message: &'a Message,
    /// The number of user messages so far, this one included.
    pub number: usize,
    /// How many steps of this turn were told by a process that died; 0 in a turn that begins.
    pub told: usize,
    /// Whether a process that died began the turn.
    pub is_resumed: bool,
    /// The call that asked for something at the end of the turn before.
    pub waiting: Option<&'a WaitingCall>,
    /// The remote side of the task, as the turn before or a process that died left it.
    pub remote: Option<&'a RemoteRecord>,
    /// The remote agent's name for the conversation, from an earlier task of it.
    pub remote_context: Option<&'a ContextId>,
    /// Where the remote agent may push changes, if it is to be told.
    pub push: Option<&'a PushHint>,
}

/// A tool call that waits for an answer of the caller. It does not outlive the process.
#[derive(Debug, Clone)]
pub struct WaitingCall {
    pub tool: ToolName,
    /// What the tool was given.
    pub arguments: Value,
    pub questions: InputRequired,
    /// Where the answerer goes on: the number of the step that made the call, and of its turn.
    pub place: (usize, usize),
}

/// How a turn ended.
#[derive(Debug, Clone)]
pub struct Ending {
    /// In which state; not submitted and not working.
    pub state: TaskState,
    /// What the agent says about it.
    pub parts: Vec<Part>,
    /// The call that the turn ended for, if it asks something.
    pub waiting: Option<Box<WaitingCall>>,
}

impl Ending {
    /// An ending with these words.
    pub const fn of_parts(state: TaskState, parts: Vec<Part>) -> Self {
        Self { state, parts, waiting: None }
    }

    /// An ending with a sentence.
    pub fn saying(state: TaskState, text: impl Into<String>) -> Self {
        Self::of_parts(state, vec![Part::text(text)])
    }

    /// Done, and the artifacts say the rest.
    pub const fn completed() -> Self {
        Self::of_parts(TaskState::Completed, Vec::new())
    }

    /// A question of a call, which waits for the answer.
    pub fn asking(call: WaitingCall) -> Self {
        let (state, parts) = questions::put(&call.questions);
        Self { state, parts, waiting: Some(Box::new(call)) }
    }
}

impl AgentRun<'_> {
    /// Calls a tool and tells what came of it as the artifact `{tool}-result` or `{tool}-error`.
    pub async fn call_tool(&self, call: ToolCall<'_>, number: usize) -> Result<Called, RunStopped> {
        self.call_with(call, number, None).await
    }

    /// Goes on with a call that asked something.
    pub async fn resume(&self, call: &WaitingCall, answers: Resumed, number: usize) -> Result<Called, RunStopped> {
        let again = ToolCall { name: call.tool.clone(), arguments: call.arguments.clone().into() };
        self.call_with(again, number, Some(answers)).await
    }

    async fn call_with(
        &self,
        call: ToolCall<'_>,
        number: usize,
        answers: Option<Resumed>,
    ) -> Result<Called, RunStopped> {
        let (tool, arguments) = (call.name.clone(), call.arguments.clone());
        let (called, kind, parts) = match self.reporting(call, answers).await? {
            Ok(Outcome::NeedsInput(questions)) => {
                let arguments = arguments.into_value().unwrap_or_default();
                let asks = WaitingCall { tool, arguments, questions, place: (0, number) };
                return Ok(Called::Asks(Box::new(asks)));
            }
            Ok(Outcome::Done(output)) if output.is_error => {
                (Called::Failed(output.joined_text()), "error", parts_of(&output))
            }
            Ok(Outcome::Done(output)) => {
                let parts = parts_of(&output);
                (Called::Answered(output), "result", parts)
            }
            Err(error) => {
                let text = error.to_string();
                (Called::Refused(error), "error", vec![Part::text(text)])
            }
        };
        let label = format!("{tool}-{kind}");
        let artifact = Artifact::of_parts(artifact_id(&format!("{label}-{number}")), Some(label), parts);
        self.events
            .emit(RunEvent::Artifact(ArtifactUpdate { artifact, append: false, last_chunk: true }))
            .await?;
        Ok(called)
    }

    /// Makes the call, and tells meanwhile how it goes.
    async fn reporting(
        &self,
        call: ToolCall<'_>,
        answers: Option<Resumed>,
    ) -> Result<Result<Outcome<ToolOutput>, ToolError>, RunStopped> {
        let reports = Arc::new(Reports::default());
        let back = WayBack {
            listener: Some(Arc::clone(&reports) as Arc<dyn CallListener>),
            client: questions::askable(),
            resumed: answers.map(Arc::new),
            ..WayBack::default()
        };
        let cx = CallContext { back, ..self.cx.clone() };
        // Polled together: the call may hold what telling needs.
        let telling = async {
            loop {
                let report = reports.next().await;
                if let Err(stopped) = self.events.emit(RunEvent::Working(vec![report])).await {
                    return stopped;
                }
            }
        };
        tokio::select! {
            biased;
            done = self.pipeline.execute(&cx, call) => Ok(done),
            stopped = telling => Err(stopped),
        }
    }
}

/// What came of a call.
#[derive(Debug)]
pub enum Called {
    Answered(ToolOutput),
    /// The tool ran and says that it failed.
    Failed(String),
    /// The call was not made, or broke off.
    Refused(ToolError),
    /// The tool needs something from the caller first.
    Asks(Box<WaitingCall>),
}

#[expect(clippy::expect_used, reason = "a tool name with a suffix is short, printable and not empty")]
fn artifact_id(text: &str) -> ArtifactId {
    text.parse().expect("an artifact id of a tool is valid")
}

/// Whether a call of this tool may be made once more without knowing whether it was made. A tool that is gone cannot
/// have an effect.
pub(crate) fn may_repeat(catalog: &Catalog, tool: &ToolName) -> bool {
    catalog.get(tool).is_none_or(|tool| {
        let annotations = tool.traits.annotations;
        annotations.read_only_hint || annotations.idempotent_hint
    })
}

/// The arguments a peer or script gave, or none.
pub(crate) fn arguments_or_empty(arguments: Option<&Value>) -> Value {
    arguments.cloned().unwrap_or_else(|| Value::Object(serde_json::Map::new()))
}

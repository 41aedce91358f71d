//! `a2a_send`: a message to an A2A agent, by its name here or at a URL.

use std::sync::Arc;

use openfang_a2a::client::{Outgoing, RemoteEvent};
use openfang_a2a::peer::PeerTask;
use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::ids::{AgentName, TaskName};
use openfang_types::taint::{DataClass, Label, Labels, SinkKind};
use openfang_types::task::{Message, Part, Role, TaskState};
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use openfang_types::trace::{HOPS, SpanId, TraceParent};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Tool, ToolFailure, ToolFuture, name, parse};
use crate::context::CallContext;
use crate::external_call::traced;
use crate::foreign_agents::{ForeignAgents, ForeignCalls, settings_for};
use crate::pipeline::Permit;

pub(super) struct A2aSend {
    pub(super) foreign: Arc<dyn ForeignAgents>,
    pub(super) calls: Arc<ForeignCalls>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// What to say to the agent. Leave it out to look at a task that was sent to `agent_url` before.
    #[serde(default)]
    message: Option<String>,
    /// The agent's name, as agent_list shows it.
    #[serde(default)]
    agent_name: Option<AgentName>,
    /// The agent's URL, if it has no name here.
    #[serde(default)]
    agent_url: Option<String>,
    /// The conversation at the agent's URL.
    #[serde(default)]
    session_id: Option<String>,
    /// The task at the agent's URL to look at.
    #[serde(default)]
    task: Option<String>,
}

impl Tool for A2aSend {
    fn definition(&self) -> ToolDefinition {
        let says = "Sends a message to an A2A agent, by its name here or at a URL, and returns its answer.";
        ToolDefinition::of::<Args>(name("a2a_send"), says, SinkKind::SendsOut, ToolAnnotations::ANYTHING)
            .running_an_agent()
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let Args { message, agent_name, agent_url, session_id, task } = parse(arguments)?;
            match (agent_name, agent_url, message, task) {
                (Some(agent), None, Some(message), None) => {
                    let reply = Arc::clone(&cx.agents).send(cx, &agent, message).await?;
                    let is_error = matches!(reply.state, TaskState::Failed | TaskState::Rejected | TaskState::Canceled);
                    let output = ToolOutput { is_error, ..ToolOutput::text(reply.text) };
                    let shown = json!({ "state": reply.state, "task": reply.task });
                    Ok(Outcome::Done(output.with_structured(&shown).labelled(&reply.labels)))
                }
                (None, Some(url), Some(message), None) => self.send_to(cx, &url, message, session_id).await,
                (None, Some(url), None, Some(task)) => self.look_at(cx, &url, &task).await,
                _ => Err(ToolFailure::new("give a message and either agent_name or agent_url; or agent_url and task")),
            }
        })
    }
}

impl A2aSend {
    async fn send_to(
        &self,
        cx: &CallContext,
        url: &str,
        text: String,
        session: Option<String>,
    ) -> Result<Outcome<ToolOutput>, ToolFailure> {
        let limit = cx.config.limits.agent_depth;
        if cx.hops >= limit {
            return Err(ToolFailure::new(format!(
                "agents may call agents {limit} deep, and this call would be one more; answer with what you have"
            )));
        }
        let owner = cx.principal.owner();
        let _room = self.calls.begin(owner)?;
        let agent = self.foreign.connect(settings_for(&cx.principal, url)).map_err(ToolFailure::new)?;
        let parent = TraceParent { trace: cx.trace, parent: SpanId::of_number(Uuid::new_v4().as_u64_pair().0) };
        let agent = traced(&agent, parent, cx.hops);
        let id = Uuid::new_v4().to_string().parse()?;
        let mut message = Message::of_parts(id, Role::User, vec![Part::text(text)]);
        message.context_id = session.map(|session| session.parse()).transpose()?;
        message.metadata.insert(HOPS.to_owned(), cx.hops.saturating_add(1).into());
        let mut follower = agent.send(Outgoing::new(message)).await.map_err(|error| refused(&error))?;
        loop {
            match follower.next().await.map_err(|error| refused(&error))? {
                Some(RemoteEvent::Known { task, .. }) => self.calls.remember(owner, url, task),
                Some(RemoteEvent::Replied(message)) => {
                    let shown = json!({ "id": message.message_id, "status": "completed" });
                    return Ok(Outcome::Done(
                        ToolOutput::text(message.joined_text()).with_structured(&shown).labelled(&labels()),
                    ));
                }
                Some(RemoteEvent::Asked(_) | RemoteEvent::Ended(_)) | None => break,
                Some(RemoteEvent::Status(_) | RemoteEvent::Artifact(_) | RemoteEvent::Message(_)) => {}
            }
        }
        let task = follower.task().ok_or_else(|| ToolFailure::new("the agent named no task"))?;
        Ok(Outcome::Done(output_of(task)))
    }

    async fn look_at(&self, cx: &CallContext, url: &str, task: &str) -> Result<Outcome<ToolOutput>, ToolFailure> {
        let owner = cx.principal.owner();
        let unknown = || ToolFailure::new("there is no such task that you sent to this URL");
        let task: TaskName = task.parse().map_err(|_| unknown())?;
        if !self.calls.knows(owner, url, &task) {
            return Err(unknown());
        }
        let _room = self.calls.begin(owner)?;
        let agent = self.foreign.connect(settings_for(&cx.principal, url)).map_err(ToolFailure::new)?;
        let found = agent.get_task(&task).await.map_err(|error| refused(&error))?;
        Ok(Outcome::Done(output_of(&found)))
    }
}

fn labels() -> Labels {
    const SOURCE: &str = "an A2A agent at a URL";
    Labels::one(Label::UntrustedAgent, SOURCE).joined(&DataClass::Internal.labels(SOURCE))
}

fn refused(error: &openfang_a2a::client::ClientError) -> ToolFailure {
    ToolFailure::new(error.to_string()).labelled(labels())
}

fn output_of(task: &PeerTask) -> ToolOutput {
    let said = task.status.message.iter().flat_map(|message| &message.parts);
    let parts: Vec<&Part> = task.artifacts.iter().flat_map(|artifact| &artifact.parts).chain(said).collect();
    let text: Vec<&str> = parts.iter().filter_map(|part| part.as_text()).collect();
    let is_error = matches!(task.status.state, TaskState::Failed | TaskState::Rejected | TaskState::Canceled);
    let shown = shown(task);
    ToolOutput { is_error, ..ToolOutput::text(text.join("\n")) }
        .with_structured(&shown)
        .labelled(&labels())
}

/// The task as programs know it: with its id, its status and what came of it.
fn shown(task: &PeerTask) -> Value {
    json!({
        "id": task.id,
        "sessionId": task.context_id,
        "status": task.status.state,
        "message": task.status.message,
        "artifacts": task.artifacts,
    })
}

//! Calls of agents as tasks of MCP. Such a task is the agent's own task under the same id: one look into the store says how
//! it stands, in whichever process, and only those see it who see the agent's task.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use openfang_mcp::host::{Call, CallTaskPage, InputRequest, Outcome, Resumed, TaskChoice, Ticks, ToolAnswer};
use openfang_mcp::{CallTask, CallTaskState, McpError};
use openfang_runtime::task_output::{self, TaskReply};
use openfang_types::content::ToolOutput;
use openfang_types::ids::TaskId;
use openfang_types::limits::{CALL_TASK_POLLS, CALL_TASK_TTL, MCP_PROGRESS_CHARS};
use openfang_types::task::{Message, Task, TaskParts, TaskState};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::agents;
use super::host::KernelHost;
use super::work::DoorError;
use crate::Caller;

/// What a task means to whoever called an agent: a task of MCP if it goes on and the client waits for such.
pub(super) fn answer(host: &KernelHost, call: Call<'_, Caller>, task: &Task) -> ToolAnswer {
    match (call.task, task.status.state) {
        (TaskChoice::Always, _) | (TaskChoice::IfLong, TaskState::Submitted | TaskState::Working) => {
            ToolAnswer::Task(Box::new(shown(host, call, task)))
        }
        (TaskChoice::IfLong | TaskChoice::Never, _) => agents::outcome(host, call, task).into(),
    }
}

/// The same for the result of a tool that is an agent of another server.
pub(super) async fn answer_of_tool(
    host: &KernelHost,
    call: Call<'_, Caller>,
    outcome: Outcome<ToolOutput>,
) -> Result<ToolAnswer, McpError> {
    let id = match &outcome {
        Outcome::Done(output) => task_output::goes_on_as(output).filter(|_| call.may_be_task()),
        Outcome::NeedsInput(needed) => {
            let id = Uuid::from_slice(&needed.state).ok().map(TaskId::from_uuid);
            id.filter(|_| call.task == TaskChoice::Always)
        }
    };
    match id {
        Some(id) => Ok(answer(host, call, &host.task(&host.doors.inner.caller_of(&call), id).await?)),
        None => Ok(outcome.into()),
    }
}

/// A page of one's own tasks. What is held in this process comes with the first one.
pub(super) async fn list(
    host: &KernelHost,
    call: Call<'_, Caller>,
    cursor: Option<&str>,
) -> Result<CallTaskPage, McpError> {
    let caller = host.doors.inner.caller_of(&call);
    let cursor = cursor.filter(|cursor| !cursor.is_empty());
    let held = if cursor.is_none() { host.doors.calls_held_for(&call) } else { Vec::new() };
    let parts = TaskParts { status_message: true, ..TaskParts::ROW };
    let (tasks, next_cursor) = host.tasks(&caller, cursor, parts).await?;
    let shown = tasks.iter().filter(|task| host.shows(&task.agent)).map(|task| shown(host, call, task));
    Ok(CallTaskPage { tasks: held.into_iter().chain(shown).collect(), next_cursor })
}

/// How a task stands.
pub(super) async fn get(host: &KernelHost, call: Call<'_, Caller>, id: &str) -> Result<CallTask, McpError> {
    let task = known(host, call, id, async |caller, id| host.task(caller, id).await).await?;
    Ok(shown(host, call, &task))
}

/// The same, once nobody works on it.
pub(super) async fn settled(host: &KernelHost, call: Call<'_, Caller>, id: &str) -> Result<CallTask, McpError> {
    let task = known(host, call, id, async |caller, id| {
        let task = host.settled(caller, id).await?;
        // Who was shown the page, or cannot be, waits for the agent, which goes on once somebody signed in.
        let was_asked =
            |Question { key, .. }: &Question| call.resumed.is_some_and(|resumed| resumed.answers.contains_key(key));
        match waits_for_sign_in(host, &task) && question(host, call, &task).as_ref().is_none_or(was_asked) {
            true => host.settled_after_sign_in(caller, id).await,
            false => Ok(task),
        }
    });
    Ok(shown(host, call, &task.await?))
}

/// Ticks when a task stands otherwise. Somebody else's never does.
pub(super) fn changes(host: &KernelHost, call: Call<'_, Caller>, name: &str) -> Option<Ticks> {
    Some(host.follow_status(&host.doors.inner.caller_of(&call), name.parse().ok()?))
}

/// Whether an agent of another server goes on with a task by itself once somebody signed in there.
fn waits_for_sign_in(host: &KernelHost, task: &Task) -> bool {
    task.status.state == TaskState::AuthRequired && host.is_external(&task.agent)
}

pub(super) async fn cancel(host: &KernelHost, call: Call<'_, Caller>, id: &str) -> Result<CallTask, McpError> {
    let canceled =
        known(host, call, id, async |caller, id| match host.task_head(caller, id).await?.status.state.is_terminal() {
            true => host.task(caller, id).await,
            false => host.cancel_task(caller, id).await,
        });
    Ok(shown(host, call, &canceled.await?))
}

/// Gives the agent an answer to its question, and does not wait for what it makes of it.
pub(super) async fn reply(
    host: &KernelHost,
    call: Call<'_, Caller>,
    id: &str,
    mut answers: BTreeMap<String, Box<RawValue>>,
) -> Result<(), McpError> {
    let task = known(host, call, id, async |caller, id| host.task(caller, id).await).await?;
    let Some(Question { key, inner_key, .. }) = question(host, call, &task) else { return Ok(()) };
    let Some(answer) = answers.remove(&key) else { return Ok(()) };
    let (caller, state) = (host.doors.inner.caller_of(&call), task.id.as_uuid().as_bytes().to_vec());
    let resumed = Resumed { answers: BTreeMap::from([(inner_key, answer)]), state };
    match task_output::reply(Some(&resumed)) {
        Some(TaskReply::Said(id, part)) => Ok(host.send_on(&caller, &task.agent, (id, part)).await?),
        // Whoever declines does not wait for the agent any more.
        Some(TaskReply::Declined(id)) => Ok(host.cancel_task(&caller, id).await.map(drop)?),
        // The agent goes on by itself.
        Some(TaskReply::SigningIn(_)) => Ok(()),
        Some(TaskReply::Unreadable(_)) | None => {
            Err(McpError::InvalidParams(format!("the answer {key} is not what was asked for")))
        }
    }
}

/// Does something with one's own task. Another's, unknown and removed ones look the same.
async fn known<'a>(
    host: &KernelHost,
    call: Call<'a, Caller>,
    name: &str,
    look: impl AsyncFnOnce(&Caller, TaskId) -> Result<Task, DoorError>,
) -> Result<Task, McpError> {
    let unknown = || McpError::unknown_task(name);
    let id: TaskId = name.parse().map_err(|_| unknown())?;
    let caller = host.doors.inner.caller_of(&call);
    match look(&caller, id).await {
        Ok(task) if host.shows(&task.agent) => Ok(task),
        Ok(_) | Err(DoorError::Unknown) => Err(unknown()),
        Err(error) => Err(error.into()),
    }
}

/// What an agent asks, for a client that can be asked for it.
struct Question {
    /// Another one for each question of the task.
    key: String,
    /// What the question is called where answers are read.
    inner_key: String,
    request: InputRequest,
}

fn question(host: &KernelHost, call: Call<'_, Caller>, task: &Task) -> Option<Question> {
    if !task.status.state.is_interrupted() {
        return None;
    }
    match agents::outcome(host, call, task) {
        Outcome::Done(_) => None,
        Outcome::NeedsInput(needed) => {
            let (inner_key, request) = needed.requests.into_iter().next()?;
            let key = format!("q{}", task.status.timestamp.as_microsecond());
            Some(Question { key, inner_key, request })
        }
    }
}

fn shown(host: &KernelHost, call: Call<'_, Caller>, task: &Task) -> CallTask {
    let created_at = created(task);
    let state = match task.status.state {
        TaskState::Submitted | TaskState::Working => CallTaskState::Working,
        TaskState::Canceled => CallTaskState::Canceled,
        _ => match question(host, call, task) {
            Some(Question { key, request, .. }) => CallTaskState::InputRequired(BTreeMap::from([(key, request)])),
            None if waits_for_sign_in(host, task) => CallTaskState::Working,
            // Who cannot be asked is told, and answers with the tool for tasks.
            None => match agents::outcome(host, call, task) {
                Outcome::Done(output) => CallTaskState::Completed(Box::new(output)),
                Outcome::NeedsInput(_) => CallTaskState::Working,
            },
        },
    };
    let says = task.status.message.as_ref().map(Message::joined_text).filter(|text| !text.is_empty());
    // What an agent of another server says is not ours.
    let says = says.map(|text| if host.is_external(&task.agent) { format!("{}: {text}", task.agent) } else { text });
    let message = says.map(|text| text.chars().take(MCP_PROGRESS_CHARS).collect::<String>());
    CallTask {
        id: task.id.to_string(),
        created_at,
        updated_at: task.status.timestamp,
        ttl: CALL_TASK_TTL,
        poll: poll(host.doors.inner.clock.now().duration_since(created_at)),
        message: message.filter(|_| !state.is_terminal()),
        state,
    }
}

/// When a task was created: its id says so.
fn created(task: &Task) -> Timestamp {
    let (seconds, nanos) = task.id.as_uuid().get_timestamp().map_or((0, 0), |time| time.to_unix());
    let at = i64::try_from(seconds)
        .ok()
        .and_then(|seconds| Timestamp::new(seconds, nanos.cast_signed()).ok());
    at.filter(|at| *at <= task.status.timestamp).unwrap_or(task.status.timestamp)
}

/// How often to look at a task of this age: what takes long is looked at less often.
fn poll(age: SignedDuration) -> Duration {
    let age = Duration::try_from(age).unwrap_or_default();
    let of_this_age = CALL_TASK_POLLS.iter().take_while(|(from, _)| *from <= age);
    of_this_age.last().map_or(CALL_TASK_POLLS[0].1, |(_, poll)| *poll)
}

#[cfg(test)]
#[path = "call_tasks_tests.rs"]
mod tests;

//! Calls that became tasks of their server: followed to their end, so that whoever called need not know of tasks.
//!
//! A modern server is looked at again and again, and what it asks comes back as a question of the call. A server of
//! 2025-11-25 is asked for the result, which waits, and asks in the middle of that. A server whose task nobody waits for
//! any more is told so.

use std::collections::BTreeMap;
use std::time::Duration;

use openfang_types::call::{InputRequired, Outcome};
use openfang_types::jsonrpc::{ErrorObject, Id, code};
use openfang_types::limits::{PEER_ID_MAX_BYTES, UPSTREAM_TASK_CANCEL, UPSTREAM_TASK_MAX, UPSTREAM_TASK_POLL};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::super::{ClientError, Connection, OutgoingRequest, Question, RawMembers, Silent};
use super::questions::put;
use super::state::State;
use super::{Handing, Relay};
use crate::error::McpError;
use crate::revision::{Revision, TaskMethods};

/// Whether calls of a tool can be tasks, as its definition says it in 2025-11-25.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskSupport {
    Forbidden,
    Optional,
    Required,
}

impl TaskSupport {
    pub(super) fn of(definition: &str) -> Self {
        #[derive(Deserialize)]
        struct Definition {
            execution: Execution,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Execution {
            task_support: String,
        }
        if !definition.contains("taskSupport") {
            return Self::Forbidden;
        }
        match serde_json::from_str::<Definition>(definition).map(|definition| definition.execution.task_support) {
            Ok(word) if word == "required" => Self::Required,
            Ok(word) if word == "optional" => Self::Optional,
            Ok(_) | Err(_) => Self::Forbidden,
        }
    }
}

/// The task that a call became, if its result says so.
pub(super) fn begun(result: &RawValue, methods: TaskMethods) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct TaskAnswer {
        #[serde(default)]
        result_type: Option<String>,
        #[serde(default)]
        task_id: Option<String>,
        #[serde(default)]
        task: Option<NestedTask>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct NestedTask {
        task_id: String,
    }
    // Most results are plain, and a look at the bytes says so.
    if !result.get().contains("taskId") {
        return None;
    }
    let begun: TaskAnswer = serde_json::from_str(result.get()).ok()?;
    let id = match methods {
        TaskMethods::Absent => None,
        TaskMethods::Core => begun.task.map(|task| task.task_id),
        TaskMethods::Extension => begun.task_id.filter(|_| begun.result_type.as_deref() == Some("task")),
    };
    id.filter(|id| !id.is_empty() && id.len() <= PEER_ID_MAX_BYTES)
}

/// A task that somebody waits for. Dropped before [`WatchedTask::settle`] was called, its server is told to cancel it.
pub(in crate::client) struct WatchedTask {
    pub(super) id: String,
    over: oneshot::Sender<()>,
}

impl WatchedTask {
    pub(in crate::client) fn new(connection: Connection, id: String) -> Self {
        let (over, heard) = oneshot::channel();
        let named = id.clone();
        let tracker = connection.tracker().clone();
        tracker.spawn(async move {
            let is_unwanted = tokio::select! {
                heard = heard => heard.is_err(),
                // There is nobody to tell.
                _ended = connection.over() => false,
            };
            if is_unwanted
                && let Err(error) =
                    connection.request(about("tasks/cancel", &named, UPSTREAM_TASK_CANCEL), &Silent).await
            {
                tracing::debug!(%error, "a server was not told that its task is unwanted");
            }
        });
        Self { id, over }
    }

    /// The task has ended, or waits for an answer.
    pub(in crate::client) fn settle(self) {
        // Nobody hears it if the connection is gone.
        let _ = self.over.send(());
    }
}

/// A request about a task.
pub(in crate::client) fn about<'a>(method: &'a str, id: &'a str, timeout: Duration) -> OutgoingRequest<'a> {
    let members = RawMembers::none().with("taskId", id);
    OutgoingRequest { named: Some(id), takes_tasks: true, ..OutgoingRequest::new(method, members, timeout) }
}

/// How a task of a modern server stands.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskView {
    status: String,
    #[serde(default)]
    status_message: Option<String>,
    #[serde(default)]
    poll_interval_ms: Option<u64>,
    #[serde(default)]
    result: Option<Box<RawValue>>,
    #[serde(default)]
    error: Option<ErrorObject>,
    #[serde(default)]
    input_requests: BTreeMap<String, Asking>,
}

#[derive(Deserialize)]
struct Asking {
    method: String,
    #[serde(default)]
    params: Option<Box<RawValue>>,
}

impl Relay {
    /// Follows a task of a modern server until it has ended or asks for something.
    pub(super) async fn follow(
        &self,
        call: &Handing<'_>,
        (connection, id): (Connection, String),
    ) -> Result<Outcome<Box<RawValue>>, ClientError> {
        let task = WatchedTask::new(connection.clone(), id);
        let looking = self.look(call, &connection, &task.id);
        let outcome = tokio::time::timeout(UPSTREAM_TASK_MAX, looking).await;
        let outcome = outcome.unwrap_or(Err(ClientError::TimedOut(UPSTREAM_TASK_MAX)));
        if matches!(outcome, Ok(_) | Err(ClientError::Refused(_))) {
            task.settle();
        }
        outcome
    }

    /// Gives a task of a modern server the answers that a client brought, and follows it on.
    pub(super) async fn answer(&self, call: &Handing<'_>, id: String) -> Result<Outcome<Box<RawValue>>, ClientError> {
        let connection = self.upstream.connection().await?;
        let answers = call.resumed.map(|resumed| resumed.answers.clone()).unwrap_or_default();
        let mut request = about("tasks/update", &id, self.upstream.timeout());
        request.members = request.members.with("inputResponses", &answers);
        let outcome = connection.request(request, &Silent).await;
        self.upstream.note(&connection, &outcome);
        outcome?;
        Box::pin(self.follow(call, (connection, id))).await
    }

    async fn look(
        &self,
        call: &Handing<'_>,
        connection: &Connection,
        id: &str,
    ) -> Result<Outcome<Box<RawValue>>, ClientError> {
        let (mut number, mut said) = (0.0, None);
        loop {
            let looked = connection.request(about("tasks/get", id, self.upstream.timeout()), &Silent).await;
            self.upstream.note(connection, &looked);
            let unreadable = |_| ClientError::NotMcp("what it says of its task makes no sense".to_owned());
            let standing: TaskView = serde_json::from_str(looked?.get()).map_err(unreadable)?;
            match standing.status.as_str() {
                "working" => {}
                "input_required" => return self.asks(call, (connection, id), standing.input_requests).await,
                "completed" => return standing.result.map(Outcome::Done).ok_or_else(|| no("result")),
                "failed" => return Err(standing.error.map_or_else(|| no("error"), ClientError::Refused)),
                _ => {
                    let why = "the server canceled the task of the call";
                    return Err(ClientError::Refused(ErrorObject::new(code::INTERNAL_ERROR, why)));
                }
            }
            if standing.status_message.is_some() && standing.status_message != said {
                number += 1.0;
                said = standing.status_message;
                call.listener.progress(number, None, said.as_deref());
            }
            let (least, most) = UPSTREAM_TASK_POLL;
            let poll = standing.poll_interval_ms.map_or(least, Duration::from_millis);
            tokio::time::sleep(poll.clamp(least, most)).await;
        }
    }

    async fn asks(
        &self,
        call: &Handing<'_>,
        (connection, id): (&Connection, &str),
        asked: BTreeMap<String, Asking>,
    ) -> Result<Outcome<Box<RawValue>>, ClientError> {
        let mut requests = BTreeMap::new();
        for (key, Asking { method, params }) in asked {
            let question = put(&Question { id: Id::Null, method, params }).ok_or_else(|| no("question"))?;
            if !self.is_interactive || !call.client.has(question.needs) {
                // Nobody could ever answer. What the server makes of that changes nothing.
                drop(connection.request(about("tasks/cancel", id, UPSTREAM_TASK_CANCEL), &Silent).await);
                let why = McpError::MissingCapability(question.needs).to_object(Revision::NEWEST);
                return Err(ClientError::Refused(why));
            }
            requests.insert(key, question);
        }
        Ok(Outcome::NeedsInput(InputRequired { requests, state: State::Task(id.to_owned()).bytes() }))
    }
}

fn no(what: &str) -> ClientError {
    ClientError::NotMcp(format!("its task has no {what}"))
}

#[cfg(test)]
#[path = "tasks_tests.rs"]
mod tests;

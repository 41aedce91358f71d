//! Calls that became tasks: how they stand, what came of them, answers to their questions, and their end.

use std::collections::BTreeMap;
use std::sync::Arc;

use openfang_types::limits::MCP_INPUT_ROUNDS;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::lists::cursor_of;
use super::respond::{Kind, members};
use super::{Reporter, Request, Server};
use crate::call_task::{CallTask, CallTaskState, RELATED_TASK, ShownTask};
use crate::content::{raw, shown_call};
use crate::error::McpError;
use crate::host::{CallTaskPage, Host, InputRequired, Resumed};
use crate::revision::TaskMethods;

impl<H: Host> Server<H> {
    /// Answers a method of tasks. None if the revision does not have it.
    pub(super) async fn tasks_method(&self, request: &Request<H::Caller>) -> Option<Result<Vec<u8>, McpError>> {
        let methods = request.revision.facts().tasks;
        if methods == TaskMethods::Extension
            && matches!(request.method.as_str(), "tasks/get" | "tasks/update" | "tasks/cancel")
        {
            // Who has not declared it is told so, whatever it asks for.
            if !request.meta.declares_tasks {
                return Some(Err(McpError::MissingTasks));
            }
        }
        match (methods, request.method.as_str()) {
            (TaskMethods::Extension | TaskMethods::Core, "tasks/get") => Some(self.tasks_get(request).await),
            (TaskMethods::Extension | TaskMethods::Core, "tasks/cancel") => Some(self.tasks_cancel(request).await),
            (TaskMethods::Extension, "tasks/update") => Some(self.tasks_update(request).await),
            (TaskMethods::Core, "tasks/list") => Some(self.tasks_list(request).await),
            (TaskMethods::Core, "tasks/result") => Some(Box::pin(self.tasks_result(request)).await),
            _ => None,
        }
    }

    async fn tasks_list(&self, request: &Request<H::Caller>) -> Result<Vec<u8>, McpError> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Tasks<'a> {
            tasks: Vec<ShownTask<'a>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            next_cursor: Option<String>,
        }
        let (reporter, cursor) = (Arc::new(Reporter::of(request)), cursor_of(request.params())?);
        let CallTaskPage { tasks, next_cursor } =
            self.inner.host.call_tasks(request.call(&reporter, None), cursor.as_deref()).await?;
        let revision = request.revision;
        let tasks = tasks.iter().map(|task| ShownTask { task, revision, is_detailed: false }).collect();
        let page = members(&Tasks { tasks, next_cursor });
        Ok(self.signature().respond(&request.id, revision, &page, Kind::Answer))
    }

    async fn tasks_get(&self, request: &Request<H::Caller>) -> Result<Vec<u8>, McpError> {
        let reporter = Arc::new(Reporter::of(request));
        let task = self.inner.host.task(request.call(&reporter, None), named(request)?).await?;
        Ok(self.shown_task(request, &task, true))
    }

    async fn tasks_update(&self, request: &Request<H::Caller>) -> Result<Vec<u8>, McpError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params {
            input_responses: BTreeMap<String, Box<RawValue>>,
        }
        let wrong =
            || McpError::InvalidParams("tasks/update takes a taskId and an object of inputResponses".to_owned());
        let params = request.params().ok_or_else(wrong)?;
        let Params { input_responses } = serde_json::from_str(params.get()).map_err(|_| wrong())?;
        let reporter = Arc::new(Reporter::of(request));
        let call = request.call(&reporter, None);
        self.inner.host.answer_task(call, named(request)?, input_responses).await?;
        Ok(self.signature().respond(&request.id, request.revision, b"", Kind::Answer))
    }

    async fn tasks_cancel(&self, request: &Request<H::Caller>) -> Result<Vec<u8>, McpError> {
        let (reporter, id, host) = (Arc::new(Reporter::of(request)), named(request)?, &self.inner.host);
        let call = request.call(&reporter, None);
        if request.revision.facts().tasks == TaskMethods::Extension {
            host.cancel_task(call, id).await?;
            return Ok(self.signature().respond(&request.id, request.revision, b"", Kind::Answer));
        }
        if host.task(call, id).await?.state.is_terminal() {
            return Err(McpError::InvalidParams("the task has ended and cannot be canceled".to_owned()));
        }
        let task = host.cancel_task(call, id).await?;
        Ok(self.shown_task(request, &task, true))
    }

    /// Waits for the result of a task, and asks the client meanwhile what the task asks for.
    async fn tasks_result(&self, request: &Request<H::Caller>) -> Result<Vec<u8>, McpError> {
        let (reporter, id, host) = (Arc::new(Reporter::of(request)), named(request)?, &self.inner.host);
        let mut answered = None;
        for _ in 0..MCP_INPUT_ROUNDS {
            let task = host.settled_task(request.call(&reporter, answered.as_ref()), id).await?;
            match task.state {
                CallTaskState::Completed(output) => {
                    let meta = related(&task.id, output.beside.meta.as_deref());
                    let shown = shown_call(&output, request.revision.facts());
                    let place = (&request.id, request.revision);
                    return Ok(self.signature().respond_with(place, &shown, Some(&meta), Kind::Answer));
                }
                CallTaskState::Failed(error) => return Err(error),
                CallTaskState::Canceled => return Err(McpError::InvalidParams("the task was canceled".to_owned())),
                CallTaskState::Working => return Err(McpError::Canceled),
                CallTaskState::InputRequired(requests) => {
                    let needed = InputRequired { requests, state: Vec::new() };
                    let answers = self.ask_by_request(request, needed).await?.answers;
                    host.answer_task(request.call(&reporter, None), id, answers.clone()).await?;
                    answered = Some(Resumed { answers, state: Vec::new() });
                }
            }
        }
        Err(McpError::NoAnswer(format!("it was asked {MCP_INPUT_ROUNDS} times")))
    }

    fn shown_task(&self, request: &Request<H::Caller>, task: &CallTask, is_detailed: bool) -> Vec<u8> {
        let shown = ShownTask { task, revision: request.revision, is_detailed };
        self.signature().respond(&request.id, request.revision, &members(&shown), Kind::Answer)
    }

    /// The answer to a call that became a task.
    pub(super) fn begun_task(&self, request: &Request<H::Caller>, task: &CallTask) -> Vec<u8> {
        #[derive(Serialize)]
        struct CoreTaskResult<'a> {
            task: ShownTask<'a>,
        }
        let (id, revision, signature) = (&request.id, request.revision, self.signature());
        let shown = ShownTask { task, revision, is_detailed: false };
        match revision.facts().tasks {
            TaskMethods::Extension => signature.respond(id, revision, &members(&shown), Kind::Task),
            TaskMethods::Absent | TaskMethods::Core => {
                self.tell_of_task(request, task);
                signature.respond(id, revision, &members(&CoreTaskResult { task: shown }), Kind::Answer)
            }
        }
    }
}

/// The task that a request is about.
fn named<C>(request: &Request<C>) -> Result<&str, McpError> {
    let wrong = || McpError::InvalidParams(format!("{} takes a taskId", request.method));
    request.named.task_id.as_deref().ok_or_else(wrong)
}

/// `_meta` of a result that was asked for by its task.
fn related(id: &str, meta: Option<&RawValue>) -> Box<RawValue> {
    let mut members: BTreeMap<String, Box<RawValue>> =
        meta.and_then(|meta| serde_json::from_str(meta.get()).ok()).unwrap_or_default();
    members.insert(RELATED_TASK.to_owned(), raw(&json!({ "taskId": id })));
    raw(&members)
}

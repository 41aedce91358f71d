//! `/api/tasks`: the caller's own tasks. Tasks of others look like missing ones. The operator can ask in the place of a user.

use axum::Json;
use axum::extract::State;
use http::HeaderMap;
use openfang_kernel::{Begin, Follow, Kernel, TaskFilter};
use openfang_types::api::{TaskPage, TaskView};
use openfang_types::event::{EventId, Seq, Until};
use openfang_types::ids::{AgentName, ContextId, Owner, TaskId};
use openfang_types::limits::PAGE_MAX_TASKS;
use openfang_types::task::{TaskParts, TaskState};
use schemars::JsonSchema;
use serde::Deserialize;

use super::sse;
use crate::error::ApiError;
use crate::extract::{CallerOrUser, PathParam, QueryParams, RequestCaller};
use crate::openapi::{Events, Shaped};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ListQuery {
    /// Asks in the place of this user; for the admin only.
    user: Option<Owner>,
    agent: Option<AgentName>,
    state: Option<TaskState>,
    context_id: Option<ContextId>,
    page_size: Option<PageSize>,
    page_token: Option<String>,
    #[serde(default)]
    include_history: bool,
    #[serde(default)]
    include_artifacts: bool,
}

/// How many tasks a page has.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(!try_from, transparent)]
struct PageSize(usize);

impl TryFrom<String> for PageSize {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let size = text.parse().ok().filter(|size| (1..=PAGE_MAX_TASKS).contains(size));
        size.map(Self).ok_or_else(|| format!("must be a whole number from 1 to {PAGE_MAX_TASKS}"))
    }
}

pub(super) async fn list(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    QueryParams(query): QueryParams<ListQuery>,
) -> Result<Json<TaskPage>, ApiError> {
    let caller = kernel.in_place_of(caller, query.user.as_ref()).await?;
    let ListQuery { user: _, agent, state, context_id, page_size, page_token, include_history, include_artifacts } =
        query;
    let page_size = page_size.map(|PageSize(size)| size);
    let page_token = page_token.filter(|token| !token.is_empty());
    // Whole conversations are read only if they are requested.
    let parts = TaskParts { status_message: true, history: include_history, artifacts: include_artifacts };
    let filter = TaskFilter { agent, state, context_id, page_size, page_token, changed_since: None, parts };
    let page = kernel.tasks(&caller, filter).await?;
    let next_page_token = page.next_page_token.unwrap_or_default();
    Ok(Json(TaskPage { tasks: page.tasks, next_page_token, total: page.total }))
}

pub(super) async fn show(
    State(kernel): State<Kernel>,
    CallerOrUser(caller): CallerOrUser,
    PathParam(id): PathParam<TaskId>,
) -> Result<Json<TaskView>, ApiError> {
    Ok(Json(TaskView { task: kernel.task(&caller, id).await? }))
}

pub(super) async fn cancel(
    State(kernel): State<Kernel>,
    CallerOrUser(caller): CallerOrUser,
    PathParam(id): PathParam<TaskId>,
) -> Result<Json<TaskView>, ApiError> {
    Ok(Json(TaskView { task: kernel.cancel_task(&caller, id).await? }))
}

pub(super) async fn events(
    State(kernel): State<Kernel>,
    CallerOrUser(caller): CallerOrUser,
    PathParam(id): PathParam<TaskId>,
    headers: HeaderMap,
) -> Result<Shaped<Events>, ApiError> {
    let after = last_event(&headers, id)?;
    let begin = after.map_or(Begin::Now, Begin::After);
    let stream = kernel.follow(&caller, id, Follow { begin, until: Until::Ended }).await?;
    Ok(sse::of(stream, &kernel.config().limits).into())
}

/// `Last-Event-ID: task:seq`, the id that our events carry.
fn last_event(headers: &HeaderMap, id: TaskId) -> Result<Option<Seq>, ApiError> {
    let Some(header) = headers.get("last-event-id") else { return Ok(None) };
    let event: Option<EventId> = header.to_str().ok().and_then(|text| text.trim().parse().ok());
    let seq = event.and_then(|event| event.of(id));
    let wrong = || ApiError::bad_request("Last-Event-ID is not the id of an event of this task");
    seq.map(Some).ok_or_else(wrong)
}

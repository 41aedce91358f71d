//! `/api/events`: events that the caller has published, as a list and as a feed. Publishing is a tool.

use axum::Json;
use axum::extract::State;
use axum::response::sse::Event;
use futures_util::{Stream, stream};
use http::HeaderMap;
use openfang_kernel::{EventFeed, Kernel};
use openfang_types::api::{EventList, EventView};
use openfang_types::ids::EventType;
use schemars::JsonSchema;
use serde::Deserialize;

use super::sse;
use crate::error::ApiError;
use crate::extract::{QueryParams, RequestCaller};
use crate::openapi::{Events, Shaped};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ListQuery {
    /// Only events of this type.
    #[serde(rename = "type")]
    event_type: Option<EventType>,
    /// Only events before this number.
    before: Option<EventNumber>,
}

/// The number of an event.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(!try_from, transparent)]
struct EventNumber(u64);

impl TryFrom<String> for EventNumber {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        text.parse().map(Self).map_err(|_| "must be the number of an event")
    }
}

pub(super) async fn list(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    QueryParams(ListQuery { event_type, before }): QueryParams<ListQuery>,
) -> Result<Json<EventList>, ApiError> {
    let before = before.map(|EventNumber(number)| number);
    Ok(Json(EventList { events: kernel.events(&caller, event_type, before).await? }))
}

pub(super) async fn feed(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    headers: HeaderMap,
) -> Result<Shaped<Events>, ApiError> {
    let feed = kernel.follow_events(&caller, last_event(&headers)?).await?;
    Ok(sse::many(as_they_come(feed), &kernel.config().limits).into())
}

/// `Last-Event-ID`: the number of an event, which our events carry.
fn last_event(headers: &HeaderMap) -> Result<Option<u64>, ApiError> {
    let Some(header) = headers.get("last-event-id") else { return Ok(None) };
    let number = header.to_str().ok().and_then(|text| text.trim().parse().ok());
    let wrong = || ApiError::bad_request("Last-Event-ID is not the number of an event");
    number.map(Some).ok_or_else(wrong)
}

fn as_they_come(feed: EventFeed) -> impl Stream<Item = Event> + Send + 'static {
    stream::unfold(Some(feed), |feed| async move {
        let mut feed = feed?;
        match feed.next().await {
            Ok(Some(published)) => Some((event_of(&published), Some(feed))),
            Ok(None) => Some((sse::event("shutdown", &serde_json::json!({})), None)),
            Err(error) => Some((sse::event("error", &ApiError::from(error).body()), None)),
        }
    })
}

fn event_of(published: &EventView) -> Event {
    sse::event("event", published).id(published.number.to_string())
}

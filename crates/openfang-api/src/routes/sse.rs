//! A task's events as server-sent events. Each event has an id, so that a client can resume after it.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::{Stream, StreamExt as _, stream};
use http::{HeaderName, HeaderValue};
use openfang_kernel::TaskStream;
use openfang_types::event::{EventId, StreamItem};
use openfang_types::limits::Limits;
use openfang_types::task::Task;
use serde::Serialize;

use crate::error::ApiError;

/// Tells buffering proxies to pass events on immediately.
const UNBUFFERED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));

/// A stream of one event.
pub(super) fn one(name: &'static str, data: &impl Serialize) -> Response {
    let event = event(name, data);
    let stream = stream::once(async move { Ok::<_, Infallible>(event) });
    ([UNBUFFERED], Sse::new(stream)).into_response()
}

/// Events as they come.
pub(super) fn many(events: impl Stream<Item = Event> + Send + 'static, limits: &Limits) -> Response {
    let keep_alive = KeepAlive::new().interval(Duration::from_secs(limits.stream_keep_alive_secs));
    ([UNBUFFERED], Sse::new(events.map(Ok::<_, Infallible>)).keep_alive(keep_alive)).into_response()
}

/// The events of a task until the end of the stream.
pub(super) fn of(task: TaskStream, limits: &Limits) -> Response {
    let keep_alive = KeepAlive::new().interval(Duration::from_secs(limits.stream_keep_alive_secs));
    let stream = stream::unfold(Some(task), |task| async move {
        let mut task = task?;
        match task.next().await {
            Ok(Some(item)) => Some((Ok::<_, Infallible>(event_of(item)), Some(task))),
            Ok(None) => None,
            Err(error) => Some((Ok(event("error", &ApiError::from(error).body())), None)),
        }
    });
    ([UNBUFFERED], Sse::new(stream).keep_alive(keep_alive)).into_response()
}

#[derive(Serialize)]
struct Snapshot {
    task: Box<Task>,
}

fn event_of(item: StreamItem) -> Event {
    match item {
        StreamItem::Snapshot(task, seq) => {
            let id = EventId { task: task.id, seq };
            event("task", &Snapshot { task }).id(id.to_string())
        }
        StreamItem::Event(task_event) => event(task_event.body.name(), &task_event).id(task_event.stream_id()),
        StreamItem::Shutdown => event("shutdown", &serde_json::json!({})),
    }
}

pub(super) fn event(name: &'static str, data: &impl Serialize) -> Event {
    // Our own types always serialize. A client that sees an empty event can still resume.
    let text = serde_json::to_string(data).unwrap_or_default();
    Event::default().event(name).data(text)
}

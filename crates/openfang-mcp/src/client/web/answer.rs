//! What an answer over HTTP is, by its head.

use http::{HeaderMap, HeaderValue, header};
use openfang_egress::http::{Body, Events};
use openfang_egress::pace::SharedPace;
use openfang_egress::sse::{Event, SseLimits};
use openfang_types::limits::{MCP_UNASKED_MESSAGE, MCP_UPSTREAM_MESSAGE_BYTES};

use super::super::ClientError;
use super::site::lost;

/// What a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Json,
    Events,
    /// Nothing that we read.
    Other,
}

impl Kind {
    /// By the type that the head names; parameters and case say nothing.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let named = media_type(headers);
        if named.eq_ignore_ascii_case("application/json") {
            Self::Json
        } else if named.eq_ignore_ascii_case("text/event-stream") {
            Self::Events
        } else {
            Self::Other
        }
    }
}

/// The type without parameters; empty where there is none.
fn media_type(headers: &HeaderMap) -> &str {
    let named = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    named.split(';').next().unwrap_or_default().trim()
}

/// The error for an answer that is neither.
pub(super) fn unreadable(headers: &HeaderMap) -> ClientError {
    let named: String = media_type(headers).chars().take(100).collect();
    ClientError::NotMcp(match named.is_empty() {
        true => "its answer is empty or does not say what it is".to_owned(),
        false => format!("its answer is {named}, not JSON and not a stream of events"),
    })
}

pub(super) async fn document(body: Body) -> Result<bytes::Bytes, ClientError> {
    body.at_most(MCP_UPSTREAM_MESSAGE_BYTES as u64)
        .bytes()
        .await
        .map_err(|error| lost(&error))
}

/// The stream: each message limited, their number not. What nobody asked for comes at a pace.
pub(super) fn events(body: Body, pace: &SharedPace) -> Events {
    body.events(SseLimits { event_bytes: MCP_UPSTREAM_MESSAGE_BYTES, events: u64::MAX })
        .paced(pace.clone())
}

/// A message came that nobody asked for. However short it is, it takes its time.
pub(super) async fn unasked(pace: &SharedPace) {
    pace.spend(MCP_UNASKED_MESSAGE).await;
}

/// What a stream can be taken up behind this event with; none for an id that cannot be sent back.
pub(super) fn resumable(event: &Event) -> Option<HeaderValue> {
    event.id.as_ref().and_then(|id| HeaderValue::from_bytes(id.as_bytes()).ok())
}

//! Requests whose headers and body somebody else wrote, such as frames of MCP.

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};

use super::connection::AnswerTimeout;
use super::stream::{self, EventStream};
use super::{Daemon, DaemonError, Streamed};

/// Takes one document or a stream of events, whichever the daemon prefers.
const EITHER: &str = "application/json, text/event-stream";

/// A request to relay.
#[derive(Debug, Clone)]
pub struct Relaying<'a> {
    pub method: Method,
    /// The path, with its query.
    pub path_and_query: &'a str,
    /// Headers beside those of the daemon's own protocol.
    pub headers: HeaderMap,
    /// The body as it is, if there is one.
    pub body: Option<Bytes>,
}

/// The answer to a relayed request.
pub struct Relayed {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// The document or the events.
    pub content: Streamed,
}

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub enum NotRelayed {
    /// Nothing of the request was sent, so it can be sent elsewhere.
    #[error("{0}")]
    NotSent(#[source] DaemonError),
    /// The request may have been carried out.
    #[error("{0}")]
    Lost(#[source] DaemonError),
}

impl Daemon {
    /// Sends a request as it is, and takes the beginning of its answer.
    pub async fn relay(&self, relaying: Relaying<'_>) -> Result<Relayed, NotRelayed> {
        let Relaying { method, path_and_query, headers, body } = relaying;
        let request = self.file.request(method, path_and_query, body, (EITHER, self.door));
        let mut request = request.map_err(NotRelayed::NotSent)?;
        request.headers_mut().extend(headers);
        let mut connection = self.connect().await.map_err(NotRelayed::NotSent)?;
        let response = connection.send(request, AnswerTimeout::ForWork).await.map_err(NotRelayed::Lost)?;
        let (status, headers) = (response.status(), response.headers().clone());
        let content = if stream::is_stream(&response) {
            Streamed::Events(Box::new(EventStream::new(connection, response.into_body())))
        } else {
            let answer = connection.answer(response, AnswerTimeout::ForWork).await;
            Streamed::Answer(answer.map_err(NotRelayed::Lost)?)
        };
        Ok(Relayed { status, headers, content })
    }
}

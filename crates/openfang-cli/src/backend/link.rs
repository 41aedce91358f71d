//! The way to a server: the daemon of the home, or a server on another machine. Both speak the same API.

use http::Method;
use openfang_egress::daemon::{Answer, Daemon, Event, EventStream, Streamed};
use openfang_egress::http::Events;
use serde_json::Value;

use crate::error::CliError;
use crate::remote::{RemoteServer, RemoteStreamed};

pub(crate) enum ServerLink {
    Daemon(Daemon),
    Remote(RemoteServer),
}

/// The events of a stream.
pub(crate) enum LinkEvents {
    Daemon(Box<EventStream>),
    Remote(String, Box<Events>),
}

/// The answer to a request for a stream.
pub(super) enum LinkStreamed {
    Events(LinkEvents),
    Answer(Answer),
}

impl ServerLink {
    pub(super) async fn request(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Answer, CliError> {
        match self {
            Self::Daemon(daemon) => Ok(daemon.request(method, path, body).await?),
            Self::Remote(server) => server.request(method, path, body).await,
        }
    }

    /// Sends a body that holds secrets; `--trace-wire` shows another one in its place.
    pub(super) async fn request_in_confidence(
        &self,
        path: &str,
        body: &Value,
        shown: &Value,
    ) -> Result<Answer, CliError> {
        match self {
            Self::Daemon(daemon) => Ok(daemon.request_in_confidence(Method::POST, path, body, shown).await?),
            Self::Remote(server) => server.request(Method::POST, path, Some(body)).await,
        }
    }

    /// Sends a request whose answer is a secret; `--trace-wire` does not show it.
    pub(super) async fn request_for_a_secret(&self, path: &str, body: &Value) -> Result<Answer, CliError> {
        match self {
            Self::Daemon(daemon) => Ok(daemon.request_for_a_secret(Method::POST, path, body).await?),
            Self::Remote(server) => server.request(Method::POST, path, Some(body)).await,
        }
    }

    pub(super) async fn stream(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<LinkStreamed, CliError> {
        Ok(match self {
            Self::Daemon(daemon) => match daemon.stream(method, path, body, None).await? {
                Streamed::Events(events) => LinkStreamed::Events(LinkEvents::Daemon(events)),
                Streamed::Answer(answer) => LinkStreamed::Answer(answer),
            },
            Self::Remote(server) => match server.stream(method, path, body).await? {
                RemoteStreamed::Events(events) => {
                    LinkStreamed::Events(LinkEvents::Remote(server.origin().as_str().to_owned(), events))
                }
                RemoteStreamed::Answer(answer) => LinkStreamed::Answer(answer),
            },
        })
    }
}

impl LinkEvents {
    /// The next event; none at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Event>, CliError> {
        match self {
            Self::Daemon(events) => Ok(events.next().await?),
            Self::Remote(url, events) => {
                let next = events.next().await;
                next.map_err(|error| CliError::Remote { url: url.clone(), why: error.to_string() })
            }
        }
    }
}

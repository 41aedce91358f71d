//! A server on another machine as the target of commands: `--url URL`, or `OPENFANG_URL`.
//!
//! `keys.rs` keeps the keys that `openfang login` stored, one for each origin. A key goes to its own origin only, and over
//! http only to this machine. Redirects are not followed.

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use openfang_egress::daemon::Answer;
use openfang_egress::http::{Caps, Events, HttpDoor, Patience, Redirects, Request, Response};
use openfang_egress::sse::SseLimits;
use openfang_kernel::config_file;
use openfang_types::limits::{DAEMON_ANSWER_MAX_BYTES, DAEMON_EVENT_MAX_BYTES, REMOTE_WORK};
use openfang_types::secret::Secret;
use serde_json::Value;

use crate::error::CliError;
use crate::session::Session;

pub(crate) use keys::StoredKeys;

mod keys;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Scheme, host and port of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerOrigin(String);

impl ServerOrigin {
    /// Reads a URL without a path. Only this machine is reached without TLS, because a key would be sent in the clear.
    pub(crate) fn parse(text: &str) -> Result<Self, CliError> {
        let wrong = |why: &str| CliError::Usage(format!("{text} cannot be used as the URL of a server: {why}"));
        let uri: Uri = text.parse().map_err(|_| wrong("write it like https://openfang.example.com"))?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(wrong("write it like https://openfang.example.com"));
        };
        if authority.as_str().contains('@') {
            return Err(wrong("it contains a user name or a password; use `openfang login`"));
        }
        if uri.path() != "/" || uri.query().is_some() {
            return Err(wrong("leave out what comes after the host"));
        }
        match scheme {
            "https" => {}
            "http" if is_this_machine(authority.host()) => {}
            "http" => return Err(wrong("the key would be sent in the clear; use https")),
            _ => return Err(wrong("only http and https are supported")),
        }
        let usual = if scheme == "https" { ":443" } else { ":80" };
        let host = authority.as_str().to_ascii_lowercase();
        Ok(Self(format!("{scheme}://{}", host.strip_suffix(usual).unwrap_or(&host))))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_this_machine(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A server on another machine, and the key for it.
pub(crate) struct RemoteServer {
    origin: ServerOrigin,
    door: HttpDoor,
    key: Option<Secret>,
}

/// The answer to a request for a stream.
pub(crate) enum RemoteStreamed {
    Events(Box<Events>),
    Answer(Answer),
}

impl RemoteServer {
    /// The server with the key that is meant for it: of the environment, else the stored one.
    pub(crate) fn open(session: &Session, origin: &ServerOrigin) -> Result<Self, CliError> {
        let key = match environment_key(origin)? {
            Some(key) => Some(key),
            None => StoredKeys::of(&session.home).get(origin)?,
        };
        Self::with_key(session, origin.clone(), key)
    }

    pub(crate) fn with_key(session: &Session, origin: ServerOrigin, key: Option<Secret>) -> Result<Self, CliError> {
        let config = session.usable_config(&[])?.config;
        let door = openfang_kernel::http_door(&config.egress)
            .map_err(|problem| CliError::Usage(format!("{}: {}", problem.key, problem.why)))?;
        Ok(Self { origin, door, key })
    }

    pub(crate) const fn origin(&self) -> &ServerOrigin {
        &self.origin
    }

    /// Sends a request and reads the whole answer.
    pub(crate) async fn request(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Answer, CliError> {
        let response = self.send(method, path, body, JSON).await?;
        self.answer(response).await
    }

    /// Sends a request whose answer is an event stream. Any other answer, such as an error, is read whole.
    pub(crate) async fn stream(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<RemoteStreamed, CliError> {
        let response = self.send(method, path, body, EVENTS).await?;
        if response.status == StatusCode::OK && is_stream(&response.headers) {
            let limits = SseLimits { event_bytes: DAEMON_EVENT_MAX_BYTES, events: u64::MAX };
            return Ok(RemoteStreamed::Events(Box::new(response.body.events(limits))));
        }
        self.answer(response).await.map(RemoteStreamed::Answer)
    }

    async fn send(&self, method: Method, path: &str, body: Option<&Value>, accept: &str) -> Result<Response, CliError> {
        let url = self
            .door
            .guard()
            .operator(&format!("{}{path}", self.origin.0))
            .map_err(|error| self.wrong(&error))?;
        let caps = Caps { decoded_bytes: DAEMON_ANSWER_MAX_BYTES as u64, ..Caps::default() };
        let mut request = Request::new(method.clone(), url).caps(caps).redirects(Redirects::Unchanged);
        if method != Method::GET || accept == EVENTS {
            // Work has the time limits of the server.
            let patience = Patience { first_byte: REMOTE_WORK, idle: REMOTE_WORK, total: None, ..Patience::default() };
            request = request.patience(patience);
        }
        if accept == EVENTS {
            request = request.for_events();
        }
        let accepted = HeaderValue::from_str(accept).map_err(|error| self.wrong(&error))?;
        request = request.header(ACCEPT, accepted);
        if let Some(key) = &self.key {
            let bearer = HeaderValue::from_str(&format!("Bearer {}", key.expose()))
                .map_err(|_| self.wrong("the key has characters that a key cannot have"))?;
            request = request.secret_header(AUTHORIZATION, bearer);
        }
        if let Some(body) = body {
            request = request.body(HeaderValue::from_static(JSON), Bytes::from(body.to_string()));
        }
        let response = self.door.send(request).await.map_err(|error| self.wrong(&error))?;
        if response.status.is_redirection() || response.origin.to_string() != self.origin.0 {
            return Err(self.wrong("it redirects elsewhere; use the address that it redirects to"));
        }
        if response.status == StatusCode::UNAUTHORIZED {
            let url = self.origin.as_str();
            let why = if self.key.is_some() { "the key is wrong or revoked" } else { "it needs a key" };
            return Err(self.wrong(&format_args!("{why}; store one with `openfang login {url}`")));
        }
        Ok(response)
    }

    async fn answer(&self, response: Response) -> Result<Answer, CliError> {
        let status = response.status;
        let body = response.body.bytes().await.map_err(|error| self.wrong(&error))?;
        Ok(Answer { status, body })
    }

    fn wrong(&self, why: &(impl std::fmt::Display + ?Sized)) -> CliError {
        CliError::Remote { url: self.origin.0.clone(), why: why.to_string() }
    }
}

fn is_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(http::header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with(EVENTS))
}

/// `OPENFANG_KEY`, or what `OPENFANG_KEY_FILE` names. It belongs to the server of `OPENFANG_URL`, if that is set.
fn environment_key(origin: &ServerOrigin) -> Result<Option<Secret>, CliError> {
    let belongs_to_another =
        config_file::remote_url().is_some_and(|url| ServerOrigin::parse(&url).is_ok_and(|known| known != *origin));
    if belongs_to_another {
        return Ok(None);
    }
    config_file::remote_key()
        .map_err(|(path, cause)| CliError::Usage(format!("the key file {} cannot be read: {cause}", path.display())))
}

#[cfg(test)]
#[path = "remote_tests.rs"]
mod tests;

//! Connects the command line to its own daemon, at the address in `daemon.json` and nowhere else.
//!
//! [`find_daemon`] reads the file and makes the listener prove that it knows the token before the token is sent: after
//! a crash another program may use the port. Every connection is proved again. A [`Daemon`] then sends requests
//! ([`Daemon::request`]), follows event streams ([`Daemon::stream`]) and relays messages ([`Daemon::relay`]). Nothing runs
//! in the background: a connection is driven only while its caller waits for an answer.

use std::net::SocketAddr;
use std::path::Path;

use bytes::Bytes;
use http::{Method, StatusCode};
use openfang_types::limits::DAEMON_TIMEOUT;
use openfang_types::principal::Door;
use tokio::time::timeout;

use connection::{AnswerTimeout, Connection};

pub use crate::sse::Event;
pub use error::DaemonError;
pub use file::DaemonFile;
pub use relay::{NotRelayed, Relayed, Relaying};
pub use stream::{EventStream, Streamed};
pub use wire::WireTracer;

mod connection;
mod error;
mod file;
mod proof;
mod relay;
mod stream;
mod wire;

/// A daemon that has proved its identity.
#[derive(Debug)]
pub struct Daemon {
    file: DaemonFile,
    door: Door,
    tracer: WireTracer,
}

/// What the daemon answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: StatusCode,
    pub body: Bytes,
}

/// Finds the daemon of a home. None if nothing listens at the address, or the listener does not know the token. An
/// error means that there may be a daemon that cannot be used.
pub async fn find_daemon(path: &Path, tracer: WireTracer) -> Result<Option<Daemon>, DaemonError> {
    let Some(file) = DaemonFile::read(path)? else { return Ok(None) };
    let daemon = Daemon { tracer: tracer.hiding(&file.token), file, door: Door::Cli };
    match daemon.connect().await {
        Ok(_proved) => Ok(Some(daemon)),
        Err(DaemonError::Silent { .. }) if !daemon.is_alive() => {
            tracing::debug!(path = %path.display(), "daemon.json is stale: its process is gone");
            Ok(None)
        }
        Err(error) if error.means_nobody_is_there() => {
            tracing::debug!(path = %path.display(), %error, "daemon.json is stale");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

impl Daemon {
    /// Sets the stated entry point of requests. The default is the command line.
    #[must_use]
    pub const fn through(mut self, door: Door) -> Self {
        self.door = door;
        self
    }

    pub const fn pid(&self) -> u32 {
        self.file.pid
    }

    pub const fn address(&self) -> SocketAddr {
        self.file.address
    }

    /// Which version it is.
    pub fn version(&self) -> &str {
        &self.file.version
    }

    /// Whether the process exists; a guess where the system cannot tell.
    pub fn is_alive(&self) -> bool {
        self.file.is_alive()
    }

    /// Whether `daemon.json` still names this daemon. A daemon removes the file as its last step.
    pub fn is_announced(&self, path: &Path) -> bool {
        matches!(DaemonFile::read(path), Ok(Some(file)) if file == self.file)
    }

    /// Sends a request and reads the whole answer. A GET has a short timeout; any other request may be work, which the
    /// daemon limits.
    pub async fn request(
        &self,
        method: Method,
        path_and_query: &str,
        body: Option<&serde_json::Value>,
    ) -> Result<Answer, DaemonError> {
        self.exchange(method, path_and_query, body, self.tracer.clone()).await
    }

    /// Sends a request whose body contains secrets. The trace shows a substitute.
    pub async fn request_in_confidence(
        &self,
        method: Method,
        path_and_query: &str,
        body: &serde_json::Value,
        shown: &serde_json::Value,
    ) -> Result<Answer, DaemonError> {
        let tracer = self.tracer.clone().showing_instead(shown.to_string());
        self.exchange(method, path_and_query, Some(body), tracer).await
    }

    /// Sends a request whose answer is a secret, which is not traced.
    pub async fn request_for_a_secret(
        &self,
        method: Method,
        path_and_query: &str,
        body: &serde_json::Value,
    ) -> Result<Answer, DaemonError> {
        self.exchange(method, path_and_query, Some(body), self.tracer.clone().hiding_answers())
            .await
    }

    async fn exchange(
        &self,
        method: Method,
        path_and_query: &str,
        body: Option<&serde_json::Value>,
        tracer: WireTracer,
    ) -> Result<Answer, DaemonError> {
        let patience = if method == Method::GET { AnswerTimeout::Brief } else { AnswerTimeout::ForWork };
        let mut connection = self.connect().await?.tracing(tracer);
        let request = self
            .file
            .request(method, path_and_query, body.map(written), ("application/json", self.door))?;
        let response = connection.send(request, patience).await?;
        connection.answer(response, patience).await
    }

    /// Sends a request whose answer is an event stream; `last_event_id` resumes one. Any other answer, such as an
    /// error, is read whole.
    pub async fn stream(
        &self,
        method: Method,
        path_and_query: &str,
        body: Option<&serde_json::Value>,
        last_event_id: Option<&str>,
    ) -> Result<Streamed, DaemonError> {
        let mut connection = self.connect().await?;
        let mut request =
            self.file
                .request(method, path_and_query, body.map(written), (stream::MEDIA_TYPE, self.door))?;
        if let Some(id) = last_event_id {
            request.headers_mut().insert("last-event-id", id.parse().map_err(http::Error::from)?);
        }
        let response = connection.send(request, AnswerTimeout::ForWork).await?;
        if stream::is_stream(&response) {
            return Ok(Streamed::Events(Box::new(EventStream::new(connection, response.into_body()))));
        }
        connection.answer(response, AnswerTimeout::ForWork).await.map(Streamed::Answer)
    }

    /// A connection whose other end has proved that it knows the token.
    async fn connect(&self) -> Result<Connection, DaemonError> {
        let proved = async {
            let mut connection = Connection::open(&self.file, self.tracer.clone()).await?;
            proof::demand(&mut connection, &self.file).await?;
            Ok(connection)
        };
        timeout(DAEMON_TIMEOUT, proved).await.map_err(|_| self.file.silent())?
    }
}

fn written(body: &serde_json::Value) -> Bytes {
    Bytes::from(body.to_string())
}

#[cfg(test)]
#[path = "daemon_tests.rs"]
mod tests;

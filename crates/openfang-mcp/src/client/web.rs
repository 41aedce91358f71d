//! Servers behind a URL: Streamable HTTP in both eras, and the HTTP+SSE of 2024-11-05.
//!
//! Which of them is found out by asking: in the modern way, in the legacy way, then by a wish for a stream that names
//! where to post. A server that is down, or wants credentials, is not asked again in another way. `site.rs` is how a
//! server is asked, `answer.rs` what came, `streamable.rs` and `post_and_stream.rs` are the two wires, `follow.rs` the
//! stream of one request and `standing.rs` the one of none.

use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use openfang_egress::http::HttpDoor;
use openfang_egress::url::OperatorUrl;
use openfang_types::jsonrpc::ErrorObject;
use openfang_types::limits::{MCP_PROBE, MCP_TOLD};
use serde::Deserialize;
use tokio::time::sleep;

use super::handshake::Opened;
use super::inbox::Inbox;
use super::wire::Wire;
use super::{ClientError, Connecting, Connection};
use crate::revision::{Era, Revision};
use post_and_stream::PostAndStream;
use site::Site;
use streamable::Streamable;

mod answer;
mod conversation;
mod follow;
mod post_and_stream;
mod site;
mod standing;
mod streamable;

/// Messages of a stream after which others get a turn: whoever waits hears what was told, and looks at the clock, however
/// fast the server talks. Fewer than a call keeps for whoever waits, so that none of a burst is lost.
const IN_A_ROW: usize = MCP_TOLD / 4;

/// Begins a conversation with whatever speaks at the URL.
pub(super) async fn connect(
    door: &HttpDoor,
    url: &OperatorUrl,
    headers: &[(HeaderName, HeaderValue)],
    how: &Connecting,
) -> Result<Connection, ClientError> {
    let ladder = Ladder { site: Site::new(door, url, headers, &how.redactor)?, how };
    match (how.only, how.known) {
        (Some(Era::Modern), _) => ladder.modern().await,
        (Some(Era::Legacy), _) => ladder.legacy().await,
        (None, Some(Era::Legacy)) => match ladder.legacy().await {
            Err(error) if !is_final(&error) => ladder.modern().await.map_err(|_| error),
            settled => settled,
        },
        (None, Some(Era::Modern) | None) => ladder.either().await,
    }
}

/// What is tried, one after the other.
struct Ladder<'a> {
    site: Site,
    how: &'a Connecting,
}

impl Ladder<'_> {
    async fn modern(&self) -> Result<Connection, ClientError> {
        let (_, opened) = self.streamable();
        match opened.discover(self.how.patience).await {
            // It says that it speaks what we speak, so it may well do.
            Err(ClientError::Refused(refused)) if names(&refused, Era::Modern) => {
                opened.discover(self.how.patience).await
            }
            settled => settled,
        }
    }

    async fn legacy(&self) -> Result<Connection, ClientError> {
        let (wire, posting) = self.streamable();
        let error = match posting.initialize(self.how.patience).await {
            Err(error) if matches!(wire.refused_with(), 400 | 404 | 405) => error,
            settled => return settled,
        };
        match self.first_revision().await {
            // What was wrong with the POST says more than that there is no stream either.
            Err(ClientError::Status { .. }) => Err(error),
            settled => settled,
        }
    }

    /// By the transport of 2024-11-05.
    async fn first_revision(&self) -> Result<Connection, ClientError> {
        let inbox = Inbox::new(&self.how.redactor, &self.how.counts);
        let wire = PostAndStream::open(&self.site, &inbox, self.how).await?;
        self.opened(wire, inbox).initialize(self.how.patience).await
    }

    /// Asks in the modern way, and in the legacy way when the answer is no, or silence.
    async fn either(&self) -> Result<Connection, ClientError> {
        let modern = self.modern();
        tokio::pin!(modern);
        tokio::select! {
            biased;
            answer = &mut modern => return match answer {
                Err(error) if !is_final(&error) => self.legacy().await,
                settled => settled,
            },
            () = sleep(MCP_PROBE) => {}
        }
        // A server that wakes up slowly answers both; whichever comes first is good.
        let legacy = self.legacy();
        tokio::pin!(legacy);
        tokio::select! {
            biased;
            answer = &mut modern => match answer {
                Err(error) if !is_final(&error) => legacy.await,
                settled => settled,
            },
            answer = &mut legacy => match answer {
                Err(error) if !is_final(&error) => modern.await.map_err(|_| error),
                settled => settled,
            },
        }
    }

    fn opened(&self, wire: Arc<dyn Wire>, inbox: Arc<Inbox>) -> Opened {
        Opened { wire, inbox, declared: self.how.declared, tracker: self.how.tracker.clone() }
    }

    fn streamable(&self) -> (Arc<Streamable>, Opened) {
        let inbox = Inbox::new(&self.how.redactor, &self.how.counts);
        let wire = Arc::new(Streamable::new(self.site.clone(), Arc::clone(&inbox), self.how));
        (Arc::clone(&wire), self.opened(wire, inbox))
    }
}

/// Whether another way of asking would help nobody: the server is down, wants credentials, or understood us.
fn is_final(error: &ClientError) -> bool {
    match error {
        ClientError::NotSent(_) | ClientError::Start(_) | ClientError::Status { status: 401 | 403, .. } => true,
        ClientError::Refused(refused) => is_modern(refused) && !names(refused, Era::Legacy),
        ClientError::TimedOut(_)
        | ClientError::Lost(_)
        | ClientError::TooLarge
        | ClientError::SessionGone
        | ClientError::NotMcp(_)
        | ClientError::Status { .. }
        | ClientError::Withdrawn(_) => false,
    }
}

/// Errors that only the modern era has: headers, capabilities, versions.
fn is_modern(refused: &ErrorObject) -> bool {
    matches!(refused.code, -32_022..=-32_020)
}

/// Whether the server says that it speaks a revision of an era, among those it would take instead.
fn names(refused: &ErrorObject, era: Era) -> bool {
    #[derive(Deserialize)]
    struct Supported {
        supported: Vec<String>,
    }
    let data = refused.data.as_ref().filter(|_| is_modern(refused));
    let data = data.and_then(|data| serde_json::from_str::<Supported>(data.get()).ok());
    let is_named = |name: &String| Revision::named(name).is_some_and(|revision| revision.era() == era);
    data.is_some_and(|data| data.supported.iter().any(is_named))
}

#[cfg(test)]
#[path = "web_tests.rs"]
mod tests;

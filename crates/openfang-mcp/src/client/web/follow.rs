//! The stream on which the answer to a request comes, behind whatever else there is to say. In the legacy era it can be
//! taken up again where it broke; in the modern one it is lost.

use http::HeaderValue;
use openfang_egress::http::Events;
use openfang_types::limits::{MCP_END_GRACE, MCP_RECONNECT_MAX, MCP_RESUME, MCP_RESUME_ATTEMPTS, MCP_RESUME_MIN};
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use super::super::ClientError;
use super::IN_A_ROW;
use super::answer::{self, Kind};
use super::site::lost;
use super::streamable::Streamable;

/// Follows the stream until the answer is in the inbox.
pub(super) async fn until_answered(wire: &Streamable, events: Events, id: i64) -> Result<(), ClientError> {
    let mut following = Following { wire, id, seen: None, pause: MCP_RESUME, attempts: 0 };
    let mut events = events;
    loop {
        let why = match following.read(&mut events).await {
            End::Answered => {
                let_it_end(wire, events);
                return Ok(());
            }
            End::Broken(why) => why,
        };
        events = following.resumed(why).await?;
    }
}

struct Following<'a> {
    wire: &'a Streamable,
    id: i64,
    /// The last event that can be resumed from.
    seen: Option<HeaderValue>,
    pause: std::time::Duration,
    /// Attempts since something new came.
    attempts: u32,
}

/// How a stream ended.
enum End {
    Answered,
    Broken(ClientError),
}

impl Following<'_> {
    async fn read(&mut self, events: &mut Events) -> End {
        let mut in_a_row = 0_usize;
        loop {
            let next = events.next().await;
            if let Some(pause) = events.retry() {
                self.pause = pause.clamp(MCP_RESUME_MIN, MCP_RECONNECT_MAX);
            }
            let event = match next {
                Ok(Some(event)) => event,
                Ok(None) => return End::Broken(ClientError::Lost("its stream ended before the answer".to_owned())),
                Err(error) => return End::Broken(lost(&error)),
            };
            let seen = answer::resumable(&event);
            if seen.is_some() && seen != self.seen {
                self.seen = seen;
                self.attempts = 0;
            }
            if event.name == "message" && !event.data.is_empty() {
                self.wire.take(event.data.as_bytes(), Some(self.id));
            }
            if !self.wire.inbox.waits_for(self.id) {
                self.wire.pace.give(event.data.len() as u64);
                return End::Answered;
            }
            answer::unasked(&self.wire.pace).await;
            in_a_row = in_a_row.wrapping_add(1);
            if in_a_row.is_multiple_of(IN_A_ROW) {
                yield_now().await;
            }
        }
    }

    /// The same stream from where it broke.
    async fn resumed(&mut self, why: ClientError) -> Result<Events, ClientError> {
        let can_resume = self.seen.is_some() && self.wire.resumes() && matches!(why, ClientError::Lost(_));
        while can_resume && self.attempts < MCP_RESUME_ATTEMPTS {
            self.attempts += 1;
            sleep(self.pause).await;
            match self.wire.site.send(self.wire.stream_request(self.seen.as_ref())).await {
                Ok(response) if response.status.is_success() && Kind::of(&response.headers) == Kind::Events => {
                    return Ok(answer::events(response.body, &self.wire.pace));
                }
                Ok(response) if response.status.is_server_error() => {}
                Ok(_) => break,
                Err(error) => tracing::debug!(%error, "a stream cannot be resumed yet"),
            }
        }
        Err(why)
    }
}

/// A stream that is read to its end leaves its connection for the next request.
fn let_it_end(wire: &Streamable, mut events: Events) {
    let rest = async move { while let Ok(Some(_)) = events.next().await {} };
    wire.tracker.spawn(
        wire.over
            .clone()
            .run_until_cancelled_owned(async move { drop(timeout(MCP_END_GRACE, rest).await) }),
    );
}

//! The stream of one request, to its answer. A legacy stream that was cut off is resumed where it ended.

use http::{HeaderValue, Method};
use openfang_egress::daemon::{EventStream, Streamed};
use openfang_mcp::relaying::LAST_EVENT_ID;
use openfang_types::jsonrpc::Id;
use openfang_types::limits::MCP_RETRY;

use super::Out;
use super::daemon_link::{DaemonLink, LegacySession, Missed, cancel_of};
use super::questions::{self, ServerFrame};
use super::running::Ask;

impl DaemonLink {
    /// Passes on what a stream brings, until the answer is there.
    pub(super) async fn follow(
        &self,
        (generation, ask, out): (u32, &Ask, &Out),
        session: Option<&LegacySession>,
        mut events: Box<EventStream>,
    ) -> Result<(), Missed> {
        let (mut last, mut was_heard) = (None, false);
        let mut questions: Vec<Id> = Vec::new();
        loop {
            let is_over = match events.next().await {
                Ok(Some(event)) => {
                    last = event.id.or(last);
                    // The first event of a stream may only say where it begins.
                    if event.data.is_empty() {
                        continue;
                    }
                    let (kind, frame) = questions::read(generation, event.data.into());
                    was_heard = true;
                    let is_answer = kind == ServerFrame::Answer && ask.request.is_some();
                    match kind {
                        ServerFrame::Question(id) => questions.push(id),
                        // Another daemon said so before.
                        ServerFrame::Acknowledged(_) if ask.acknowledge() => continue,
                        ServerFrame::Acknowledged(_) | ServerFrame::Answer | ServerFrame::Told => {}
                    }
                    if out.send(frame).await.is_err() || is_answer {
                        return Ok(());
                    }
                    continue;
                }
                Ok(None) => true,
                Err(error) => {
                    tracing::debug!(%error, "a stream of the daemon was cut off");
                    false
                }
            };
            // Several requests at once have several answers: only the end says that all are there.
            if ask.is_canceled() || (is_over && ask.request.is_none()) {
                return Ok(());
            }
            match self.resumed(session, last.as_deref(), &events).await {
                Some(resumed) => events = resumed,
                None => {
                    for id in &questions {
                        // Whoever asked is gone.
                        let _ = out.send(cancel_of(id)).await;
                    }
                    return Err(Missed::UnderWay { was_heard });
                }
            }
        }
    }

    /// The rest of a stream; none where there is nobody who has it.
    async fn resumed(
        &self,
        session: Option<&LegacySession>,
        last: Option<&str>,
        before: &EventStream,
    ) -> Option<Box<EventStream>> {
        let mut headers = session?.headers.clone();
        headers.insert(LAST_EVENT_ID, HeaderValue::from_str(last?).ok()?);
        tokio::time::sleep(before.retry().unwrap_or(MCP_RETRY)).await;
        match self.send(Method::GET, headers, None).await.ok()?.content {
            Streamed::Events(events) => Some(events),
            Streamed::Answer(_) => None,
        }
    }
}

//! What the daemon says of its own accord to a legacy client: the session's own stream, for as long as there is one.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::{HeaderValue, Method, StatusCode};
use openfang_egress::daemon::Streamed;
use openfang_mcp::relaying::LAST_EVENT_ID;
use openfang_types::limits::{MCP_RELAY_LOOK, MCP_RETRY};
use openfang_types::principal::Door;
use tokio::time::sleep;

use super::daemon_link::{DaemonLink, LegacySession};
use super::{Link, Relay, Wire, questions};

/// How a stream ended.
enum End {
    /// It can be opened again after this time.
    Again(std::time::Duration),
    /// The daemon has no such session, or the client is gone.
    Over,
    Gone,
}

impl Relay {
    /// Passes on what the session's own stream brings. When the daemon goes away, another one is waited for: nobody has
    /// asked anything, so there is no need to do the work here.
    ///
    /// Boxed, because whoever takes over is watched in the same way.
    pub(super) fn watch(self: Arc<Self>, link: Arc<Link>) -> BoxFuture<'static, ()> {
        Box::pin(async move { self.watch_session(&link).await })
    }

    async fn watch_session(self: &Arc<Self>, link: &Arc<Link>) {
        let Wire::Daemon(daemon) = &link.wire else { return };
        let Some(session) = daemon.legacy() else { return };
        let watching = async {
            let mut last = None;
            loop {
                match self.read_stream((link, daemon), &session, &mut last).await {
                    End::Again(after) => sleep(after).await,
                    End::Over => return,
                    End::Gone => return self.wait_for_another(link).await,
                }
            }
        };
        tokio::select! {
            () = link.closed.cancelled() => {}
            () = session.ended.cancelled() => {}
            () = watching => {}
        }
    }

    async fn read_stream(
        &self,
        (link, daemon): (&Link, &DaemonLink),
        session: &LegacySession,
        last: &mut Option<String>,
    ) -> End {
        let mut headers = session.headers.clone();
        if let Some(id) = last.as_deref().and_then(|id| HeaderValue::from_str(id).ok()) {
            headers.insert(LAST_EVENT_ID, id);
        }
        let Ok(relayed) = daemon.send(Method::GET, headers, None).await else { return End::Gone };
        let mut events = match relayed.content {
            Streamed::Events(events) => events,
            Streamed::Answer(_) if relayed.status == StatusCode::NOT_FOUND => return End::Over,
            Streamed::Answer(_) => return End::Again(MCP_RETRY),
        };
        while let Ok(Some(event)) = events.next().await {
            *last = event.id.or_else(|| last.take());
            if event.data.is_empty() {
                continue;
            }
            let (_, frame) = questions::read(link.generation, event.data.into());
            if self.out.send(frame).await.is_err() {
                return End::Over;
            }
        }
        End::Again(events.retry().unwrap_or(MCP_RETRY))
    }

    /// Returns when somebody else has taken over: another daemon, or whoever a request of the client found.
    pub(super) async fn wait_for_another(self: &Arc<Self>, link: &Arc<Link>) {
        loop {
            tokio::select! {
                () = link.closed.cancelled() => return,
                () = sleep(MCP_RELAY_LOOK) => {}
            }
            if let Ok(Some(daemon)) = self.session.daemon().await
                && self.instead_of(link, Some(daemon.through(Door::Mcp))).await.is_ok()
            {
                return;
            }
        }
    }
}

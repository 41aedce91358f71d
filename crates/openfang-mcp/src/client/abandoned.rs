//! Requests that nobody waits for any more. Whoever stops waiting leaves a note; the conversation's own task tells the server.

use std::sync::{Arc, Mutex, PoisonError};

use openfang_types::jsonrpc::encode_notification;
use tokio::sync::Notify;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::RawMembers;
use super::inbox::Inbox;
use super::wire::Wire;

/// The notes of a conversation. As many as it had requests under way.
#[derive(Default)]
struct Notes {
    ids: Mutex<Vec<i64>>,
    news: Notify,
}

impl Notes {
    fn take(&self) -> Vec<i64> {
        std::mem::take(&mut *self.ids.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Where notes are left. Dropped, it lets the task end, after what was noted is told.
pub(super) struct Abandoned {
    notes: Arc<Notes>,
    _in_use: DropGuard,
}

impl Abandoned {
    /// Starts the task of a conversation. None where dropping a request tells the server already.
    pub(super) fn of(wire: &Arc<dyn Wire>, inbox: &Arc<Inbox>, tracker: &TaskTracker) -> Option<Self> {
        if wire.stops_when_dropped() {
            return None;
        }
        let (notes, unused) = (Arc::<Notes>::default(), CancellationToken::new());
        let telling = tell(Arc::clone(wire), Arc::clone(inbox), Arc::clone(&notes), unused.clone());
        tracker.spawn(telling);
        Some(Self { notes, _in_use: unused.drop_guard() })
    }

    /// Notes that nobody waits for this request any more.
    pub(super) fn note(&self, id: i64) {
        self.notes.ids.lock().unwrap_or_else(PoisonError::into_inner).push(id);
        self.notes.news.notify_one();
    }
}

/// Tells the server what is noted, until the conversation is over or nobody uses it.
async fn tell(wire: Arc<dyn Wire>, inbox: Arc<Inbox>, notes: Arc<Notes>, unused: CancellationToken) {
    loop {
        let is_last = tokio::select! {
            biased;
            () = inbox.over() => return,
            () = unused.cancelled() => true,
            () = notes.news.notified() => false,
        };
        let told = notes.take().into_iter().map(|id| {
            let members = RawMembers::none().with("requestId", &id).with("reason", "nobody waits for it any more");
            let notice = encode_notification("notifications/cancelled", members.object().as_deref());
            Arc::clone(&wire).tell(notice.into())
        });
        // A server that is told is not waited for longer than the wire does.
        for outcome in futures_util::future::join_all(told).await {
            if let Err(error) = outcome {
                tracing::debug!(%error, "a server was not told that nobody waits any more");
            }
        }
        if is_last {
            return;
        }
    }
}

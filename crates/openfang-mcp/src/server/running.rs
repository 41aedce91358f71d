//! The requests of one peer that are being worked on, so that the peer can cancel them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openfang_types::jsonrpc::Id;
use openfang_types::limits::MCP_RUNNING_PER_PEER;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The requests of one peer.
#[derive(Default)]
pub(crate) struct Running {
    tokens: Mutex<HashMap<Id, CancellationToken>>,
    ended: Notify,
}

/// One request; forgotten when it is dropped.
pub(crate) struct Run {
    running: Arc<Running>,
    id: Id,
    token: CancellationToken,
}

/// Why a request was not begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotBegun {
    /// A request with this id runs already.
    SameId,
    /// As many run as may.
    TooMany,
}

impl Running {
    pub(crate) fn begin(self: &Arc<Self>, id: &Id) -> Result<Run, NotBegun> {
        let mut tokens = self.lock();
        if tokens.len() >= MCP_RUNNING_PER_PEER {
            return Err(NotBegun::TooMany);
        }
        if tokens.contains_key(id) {
            return Err(NotBegun::SameId);
        }
        let token = CancellationToken::new();
        tokens.insert(id.clone(), token.clone());
        Ok(Run { running: Arc::clone(self), id: id.clone(), token })
    }

    /// Cancels a request; whether there is one. One that has ended is none.
    pub(crate) fn cancel(&self, id: &Id) -> bool {
        let tokens = self.lock();
        let token = tokens.get(id);
        token.inspect(|token| token.cancel()).is_some()
    }

    pub(crate) fn cancel_all(&self) {
        for token in self.lock().values() {
            token.cancel();
        }
    }

    /// Whether nothing is being worked on.
    pub(crate) fn is_idle(&self) -> bool {
        self.lock().is_empty()
    }

    /// Returns when nothing is being worked on.
    pub(crate) async fn idle(&self) {
        loop {
            let mut ended = std::pin::pin!(self.ended.notified());
            ended.as_mut().enable();
            if self.is_idle() {
                return;
            }
            ended.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Id, CancellationToken>> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Run {
    /// Fires when the request is canceled.
    pub(crate) fn token(&self) -> CancellationToken {
        self.token.clone()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.running.lock().remove(&self.id);
        self.running.ended.notify_waiters();
    }
}

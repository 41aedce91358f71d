//! The requests of one peer that are being worked on, so that the peer can cancel them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openfang_types::jsonrpc::Id;
use openfang_types::limits::MCP_RUNNING_PER_PEER;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The requests of one peer.
#[derive(Default)]
pub(crate) struct Running {
    stops: Mutex<HashMap<Id, RequestStop>>,
    ended: Notify,
}

/// One request; forgotten when it is dropped.
pub(crate) struct Run {
    running: Arc<Running>,
    id: Id,
    stop: RequestStop,
}

/// How a client stops its request: it wants it no more, or it waits for it no more.
#[derive(Clone, Default)]
pub struct RequestStop {
    cancel: CancellationToken,
    left: CancellationToken,
    may_go_on: Arc<AtomicBool>,
}

/// Why a client stops a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    Unwanted,
    /// The client has waited as long as it does.
    TimedOut,
}

impl RequestStop {
    /// Fires when the work is to stop.
    pub const fn canceled(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Fires when the client no longer waits for work that goes on without it.
    pub const fn left(&self) -> &CancellationToken {
        &self.left
    }

    /// Says that the work goes on when the client has waited long enough; without this it stops then.
    pub fn goes_on(&self) {
        self.may_go_on.store(true, Ordering::Relaxed);
    }

    fn stop(&self, reason: StopReason) {
        match reason {
            StopReason::TimedOut if self.may_go_on.load(Ordering::Relaxed) => self.left.cancel(),
            StopReason::TimedOut | StopReason::Unwanted => self.cancel.cancel(),
        }
    }
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
        let mut stops = self.lock();
        if stops.len() >= MCP_RUNNING_PER_PEER {
            return Err(NotBegun::TooMany);
        }
        if stops.contains_key(id) {
            return Err(NotBegun::SameId);
        }
        let stop = RequestStop::default();
        stops.insert(id.clone(), stop.clone());
        Ok(Run { running: Arc::clone(self), id: id.clone(), stop })
    }

    /// Stops a request; whether there is one. One that has ended is none.
    pub(crate) fn stop(&self, id: &Id, reason: StopReason) -> bool {
        let stops = self.lock();
        stops.get(id).inspect(|stop| stop.stop(reason)).is_some()
    }

    pub(crate) fn cancel_all(&self) {
        for stop in self.lock().values() {
            stop.stop(StopReason::Unwanted);
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

    fn lock(&self) -> MutexGuard<'_, HashMap<Id, RequestStop>> {
        self.stops.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Run {
    /// How the client stops it.
    pub(crate) fn stop(&self) -> RequestStop {
        self.stop.clone()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.running.lock().remove(&self.id);
        self.running.ended.notify_waiters();
    }
}

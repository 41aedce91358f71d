//! Requests of the client that the daemon works on.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use openfang_mcp::Era;
use openfang_mcp::naming::may_outlive_its_client;
use openfang_mcp::relaying::RelayedRequest;
use openfang_types::jsonrpc::Id;
use openfang_types::limits::MCP_RUNNING_PER_PEER;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// A frame that wants an answer.
pub(super) struct Ask {
    pub(super) frame: Bytes,
    /// What it asks; none for several requests at once, or for what cannot be read.
    pub(super) request: Option<RelayedRequest>,
    /// Fires when the client cancels.
    pub(super) cancel: CancellationToken,
    /// Whether the client was told that its subscription has begun.
    is_acknowledged: AtomicBool,
}

impl Ask {
    pub(super) fn new(frame: Bytes, request: Option<RelayedRequest>) -> Self {
        Self { frame, request, cancel: CancellationToken::new(), is_acknowledged: AtomicBool::new(false) }
    }

    pub(super) fn id(&self) -> Option<&Id> {
        self.request.as_ref().map(|request| &request.id)
    }

    pub(super) fn is_modern(&self) -> bool {
        self.request.as_ref().is_some_and(|request| request.era == Era::Modern)
    }

    pub(super) fn is_canceled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Notes that the client is told that its subscription has begun. Says whether the client was told before.
    pub(super) fn acknowledge(&self) -> bool {
        self.is_acknowledged.swap(true, Ordering::Relaxed)
    }

    /// Whether the client was told that its subscription has begun.
    pub(super) fn is_acknowledged(&self) -> bool {
        self.is_acknowledged.load(Ordering::Relaxed)
    }

    /// Whether it only waits to be told of changes.
    pub(super) fn waits_for_changes(&self) -> bool {
        self.method() == Some("subscriptions/listen")
    }

    /// Whether asking again does no harm: nothing is called, and the client has heard nothing of the first time.
    pub(super) fn may_be_repeated(&self, was_heard: bool) -> bool {
        match self.method() {
            None | Some("tools/call") => false,
            Some(_) => !was_heard || self.waits_for_changes(),
        }
    }

    /// The tool that it calls.
    fn tool(&self) -> Option<&str> {
        let call = self.request.as_ref().filter(|request| request.method == "tools/call")?;
        call.name.as_deref()
    }

    pub(super) fn method(&self) -> Option<&str> {
        self.request.as_ref().map(|request| request.method.as_str())
    }
}

/// The requests that are under way.
#[derive(Default)]
pub(super) struct Running {
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    runs: Mutex<Runs>,
    ended: Notify,
}

#[derive(Default)]
struct Runs {
    last: u64,
    open: HashMap<u64, Open>,
}

struct Open {
    id: Option<Id>,
    is_modern: bool,
    /// Whether the daemon's work goes on when the client has waited long enough. A legacy session is told, and decides.
    may_go_on: bool,
    cancel: CancellationToken,
}

/// One request that is under way, until it is dropped.
pub(super) struct Run {
    state: Arc<State>,
    number: u64,
}

impl Running {
    /// Begins a request; none where as many are under way as may be.
    pub(super) fn begin(&self, ask: &Ask) -> Option<Run> {
        let mut runs = self.state.lock();
        if runs.open.len() >= MCP_RUNNING_PER_PEER {
            return None;
        }
        runs.last += 1;
        let number = runs.last;
        let open = Open {
            id: ask.id().cloned(),
            is_modern: ask.is_modern(),
            may_go_on: ask.is_modern() && ask.tool().is_some_and(may_outlive_its_client),
            cancel: ask.cancel.clone(),
        };
        runs.open.insert(number, open);
        Some(Run { state: Arc::clone(&self.state), number })
    }

    /// Whether a request with this id goes on when the client waits no more.
    pub(super) fn may_go_on(&self, id: &Id) -> bool {
        self.state.lock().open.values().any(|open| open.id.as_ref() == Some(id) && open.may_go_on)
    }

    /// Cancels the requests with this id. Returns whether that is all there is to do: a legacy session has to be told.
    pub(super) fn cancel(&self, id: &Id) -> bool {
        let runs = self.state.lock();
        let canceled: Vec<&Open> = runs.open.values().filter(|open| open.id.as_ref() == Some(id)).collect();
        canceled.iter().for_each(|open| open.cancel.cancel());
        !canceled.is_empty() && canceled.iter().all(|open| open.is_modern)
    }

    /// Returns when nothing is under way.
    pub(super) async fn idle(&self) {
        loop {
            let ended = self.state.ended.notified();
            if self.state.lock().open.is_empty() {
                return;
            }
            ended.await;
        }
    }
}

impl State {
    fn lock(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.state.lock().open.remove(&self.number);
        self.state.ended.notify_waiters();
    }
}

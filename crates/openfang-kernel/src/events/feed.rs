//! Following the events of an owner: a reader reads the log at its own pace, so it misses nothing that is kept.

use std::collections::VecDeque;

use openfang_store::EventRoom;
use openfang_types::api::EventView;
use openfang_types::limits::{EVENT_PAGE, EVENT_PAGE_BYTES};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{Events, is_known_to, view};
use crate::{Caller, KernelError, StreamRoom};

/// The events of an owner, as they come.
pub struct EventFeed {
    events: Events,
    caller: Caller,
    after: u64,
    changes: watch::Receiver<u64>,
    waiting: VecDeque<EventView>,
    revoked: CancellationToken,
    _room: StreamRoom,
}

impl Events {
    /// Follows one's own events, after a number or from now on.
    pub(crate) async fn follow(&self, caller: &Caller, after: Option<u64>) -> Result<EventFeed, KernelError> {
        let room = self.inner.tasks.room_for_a_stream(caller)?;
        let changes = self.inner.store.changes();
        let after = match after {
            Some(after) => after,
            None => self.inner.store.latest(caller.principal.owner()).await?,
        };
        Ok(EventFeed {
            events: self.clone(),
            caller: caller.clone(),
            after,
            changes,
            waiting: VecDeque::new(),
            revoked: self.inner.access.revoked(caller),
            _room: room,
        })
    }
}

impl EventFeed {
    /// The next event; none when the server stops.
    pub async fn next(&mut self) -> Result<Option<EventView>, KernelError> {
        let room = EventRoom { events: EVENT_PAGE, bytes: EVENT_PAGE_BYTES };
        let draining = self.events.inner.life.draining().clone();
        loop {
            if self.revoked.is_cancelled() {
                return Err(KernelError::Revoked);
            }
            if let Some(event) = self.waiting.pop_front() {
                return Ok(Some(event));
            }
            self.changes.mark_unchanged();
            let owner = self.caller.principal.owner();
            let read = self.events.inner.store.after(owner, self.after, room).await?;
            if let Some(last) = read.last() {
                self.after = last.number;
                let caller = &self.caller;
                self.waiting.extend(read.into_iter().filter(|event| is_known_to(caller, event)).map(view));
                continue;
            }
            tokio::select! {
                changed = self.changes.changed() => if changed.is_err() { return Ok(None) },
                () = self.revoked.cancelled() => {}
                () = draining.cancelled() => return Ok(None),
            }
        }
    }
}

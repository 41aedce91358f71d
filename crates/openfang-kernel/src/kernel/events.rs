//! Published events.

use openfang_store::{EventQuery, EventRoom};
use openfang_types::api::EventView;
use openfang_types::ids::EventType;
use openfang_types::limits::{EVENT_PAGE, EVENT_PAGE_BYTES};

use super::Kernel;
use crate::events::EventFeed;
use crate::{Caller, KernelError};

impl Kernel {
    /// Events of the caller, the newest first: of one type, and before a number.
    pub async fn events(
        &self,
        caller: &Caller,
        event_type: Option<EventType>,
        before: Option<u64>,
    ) -> Result<Vec<EventView>, KernelError> {
        let room = EventRoom { events: EVENT_PAGE, bytes: EVENT_PAGE_BYTES };
        self.parts.events.list(caller, EventQuery { event_type, before, room }).await
    }

    /// Follows one's own events, after a number or from now on.
    pub async fn follow_events(&self, caller: &Caller, after: Option<u64>) -> Result<EventFeed, KernelError> {
        self.parts.events.follow(caller, after).await
    }

    /// Delivers the events that wait. A server does this by itself.
    pub async fn deliver_events(&self) -> Result<(), KernelError> {
        self.parts.events.deliver_waiting().await
    }
}

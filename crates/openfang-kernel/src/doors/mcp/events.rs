//! The events of the caller as a resource: `openfang://events` is the latest of them, and its updates say that there are
//! more.

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use openfang_mcp::McpError;
use openfang_mcp::content::ResourceContents;
use openfang_mcp::host::Change;
use openfang_store::{EventQuery, EventRoom};
use openfang_types::limits::{EVENT_PAGE, EVENT_PAGE_BYTES};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::DoorError;
use super::host::KernelHost;
use crate::Caller;
use crate::events::Events;

/// The uri of the resource.
pub(super) const URI: &str = "openfang://events";

/// The resource, as lists show it.
pub(super) fn resource() -> Value {
    json!({
        "uri": URI,
        "name": "events",
        "description": "The latest events that were published, the newest first",
        "mimeType": "application/json",
    })
}

pub(super) async fn read(host: &KernelHost, caller: &Caller) -> Result<ResourceContents, McpError> {
    let room = EventRoom { events: EVENT_PAGE, bytes: EVENT_PAGE_BYTES };
    let query = EventQuery { event_type: None, before: None, room };
    let events = host.doors.inner.events.list(caller, query).await.map_err(DoorError::from)?;
    let text = serde_json::to_string(&json!({ "events": events })).map_err(|_| McpError::Internal)?;
    Ok(ResourceContents::text(URI, "application/json", &text))
}

/// Whether the caller has any events; others are not shown the resource in lists.
pub(super) async fn has_any(host: &KernelHost, caller: &Caller) -> bool {
    host.doors.inner.events.latest(caller).await.is_ok_and(|latest| latest > 0)
}

/// Tells when something was published.
pub(super) fn changes(host: &KernelHost, caller: &Caller) -> BoxStream<'static, Change> {
    let (events, caller) = (host.doors.inner.events.clone(), caller.clone());
    let known = host.doors.inner.events.changes();
    let opened = async move {
        let latest = events.latest(&caller).await.ok()?;
        Some((events, caller, known, latest))
    };
    let updates = |opened: (Events, Caller, watch::Receiver<u64>, u64)| {
        stream::unfold(opened, |(events, caller, mut known, before)| async move {
            loop {
                known.changed().await.ok()?;
                let latest = events.latest(&caller).await.ok()?;
                if latest != before {
                    return Some((Change::Resource(URI.to_owned()), (events, caller, known, latest)));
                }
            }
        })
    };
    stream::once(opened).filter_map(std::future::ready).flat_map(updates).boxed()
}

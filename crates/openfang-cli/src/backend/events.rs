//! Published events, through the daemon or in this process.

use openfang_kernel::EventFeed;
use openfang_types::api::{EventList, EventView};
use openfang_types::ids::{EventType, TraceId};

use super::Backend;
use super::daemon::{ErrorBody, event_data};
use super::link::LinkEvents;
use crate::error::CliError;

/// The events of the caller, as they come.
pub(crate) enum FollowedEvents {
    Server(LinkEvents),
    InProcess(Box<EventFeed>, TraceId),
}

impl FollowedEvents {
    /// The next event; none when the server stops.
    pub(crate) async fn next(&mut self) -> Result<Option<EventView>, CliError> {
        match self {
            Self::InProcess(feed, trace) => feed.next().await.map_err(|error| CliError::refused(&error, *trace)),
            Self::Server(events) => loop {
                let Some(event) = events.next().await? else { return Ok(None) };
                match event.name.as_str() {
                    "event" => return event_data(&event).map(Some),
                    "shutdown" => return Ok(None),
                    "error" => return Err(CliError::Refused(event_data::<ErrorBody>(&event)?.error)),
                    _ => {}
                }
            },
        }
    }
}

impl Backend {
    /// The latest events, the newest first.
    pub(crate) async fn events(
        &self,
        event_type: Option<EventType>,
        before: Option<u64>,
    ) -> Result<Vec<EventView>, CliError> {
        match self {
            Self::Daemon(daemon) => {
                let of_type = event_type.map(|event_type| format!("type={event_type}"));
                let before = before.map(|before| format!("before={before}"));
                let query: Vec<String> = of_type.into_iter().chain(before).collect();
                let path = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
                Ok(daemon.get::<EventList>(&format!("/api/events{path}")).await?.events)
            }
            Self::InProcess(here) => here.said(here.kernel.events(&here.caller, event_type, before).await),
        }
    }

    /// Follows the events that are published from now on.
    pub(crate) async fn follow_events(&self) -> Result<FollowedEvents, CliError> {
        match self {
            Self::Daemon(daemon) => Ok(FollowedEvents::Server(daemon.event_feed().await?)),
            Self::InProcess(here) => {
                let feed = here.said(here.kernel.follow_events(&here.caller, None).await)?;
                Ok(FollowedEvents::InProcess(Box::new(feed), here.caller.trace))
            }
        }
    }
}

//! A task that is being followed, wherever it runs.

use openfang_egress::daemon::Event;
use openfang_kernel::TaskStream;
use openfang_types::event::StreamItem;
use openfang_types::ids::TraceId;
use openfang_types::task::Message;
use serde::de::DeserializeOwned;

use super::daemon::ErrorBody;
use super::link::LinkEvents;
use super::{Reply, StreamUpdate};
use crate::error::CliError;

/// What comes of a message or a task, item by item.
pub(crate) enum Following {
    Server(LinkEvents),
    InProcess(Box<TaskStream>, TraceId),
    /// An answer that needed no task.
    Once(Option<Message>),
}

impl Following {
    /// The next item; none at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<StreamUpdate>, CliError> {
        match self {
            Self::Once(message) => Ok(message.take().map(StreamUpdate::Message)),
            Self::InProcess(stream, trace) => {
                let item = stream.next().await.map_err(|error| CliError::refused(&error, *trace))?;
                Ok(item.map(|item| match item {
                    StreamItem::Snapshot(task, _) => StreamUpdate::Task(task),
                    StreamItem::Event(event) => StreamUpdate::Event(event),
                    StreamItem::Shutdown => StreamUpdate::Shutdown {},
                }))
            }
            Self::Server(events) => loop {
                let Some(event) = events.next().await? else { return Ok(None) };
                if let Some(shown) = shown(&event)? {
                    return Ok(Some(shown));
                }
            },
        }
    }
}

/// An event of the API; those of a newer one are passed over.
fn shown(event: &Event) -> Result<Option<StreamUpdate>, CliError> {
    Ok(Some(match event.name.as_str() {
        "task" | "reply" => match typed(&event.data)? {
            Reply::Task(task) => StreamUpdate::Task(task),
            Reply::Message(message) => StreamUpdate::Message(message),
        },
        "status" | "artifact" | "message" => StreamUpdate::Event(typed(&event.data)?),
        "shutdown" => StreamUpdate::Shutdown {},
        "error" => return Err(CliError::Refused(typed::<ErrorBody>(&event.data)?.error)),
        _ => return Ok(None),
    }))
}

fn typed<T: DeserializeOwned>(data: &str) -> Result<T, CliError> {
    serde_json::from_str(data).map_err(|error| CliError::Answer { why: error.to_string() })
}

#[cfg(test)]
#[path = "following_tests.rs"]
mod tests;

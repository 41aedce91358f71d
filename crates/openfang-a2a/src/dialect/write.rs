//! Shared by the encoders: small values that are serialized from borrowed data.

use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use openfang_types::event::{EventBody, StreamItem};
use openfang_types::ids::TaskId;
use openfang_types::task::{Artifact, Message, Role, Task};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::answer::{ListTasksResponse, NamedTask, StreamEvent, StreamHead};
use crate::operation::HistoryLength;

pub(super) use legacy::{DataOut, MetadataOut, PartOut, StatusHistory, WRAPPED, is_final};
pub(super) use push::PushConfigOut;

mod legacy;
mod push;

/// The creator's name for a task.
#[derive(Clone, Copy)]
pub(super) enum CreatorName<'a> {
    Given(&'a str),
    Ours(TaskId),
}

impl Serialize for CreatorName<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Given(name) => to.serialize_str(name),
            Self::Ours(id) => id.serialize(to),
        }
    }
}

/// The task and the conversation that a value belongs to, by the reader's names.
#[derive(Clone, Copy)]
pub(super) struct TaskScope<'a> {
    pub(super) task: CreatorName<'a>,
    pub(super) context: &'a str,
}

impl<'a> From<&'a StreamHead> for TaskScope<'a> {
    fn from(head: &'a StreamHead) -> Self {
        Self { task: CreatorName::Given(&head.task), context: &head.context }
    }
}

/// A task and how much of it is included.
#[derive(Clone, Copy)]
pub(super) struct VisibleTask<'a> {
    pub(super) task: &'a Task,
    pub(super) within: TaskScope<'a>,
    pub(super) history: &'a [Message],
    pub(super) artifacts: &'a [Artifact],
}

impl<'a> VisibleTask<'a> {
    /// A task with all its artifacts.
    pub(super) fn of(held: &'a NamedTask, history: HistoryLength) -> Self {
        let given = held.peer_name.as_ref().map(|name| CreatorName::Given(name.as_str()));
        let task = &held.task;
        Self {
            task,
            within: TaskScope { task: given.unwrap_or(CreatorName::Ours(task.id)), context: task.context_id.as_str() },
            history: history.of(&task.history),
            artifacts: &task.artifacts,
        }
    }

    /// A task as part of a page.
    pub(super) fn listed(held: &'a NamedTask, page: &'a ListTasksResponse) -> Self {
        let view = Self::of(held, page.history);
        if page.include_artifacts { view } else { Self { artifacts: &[], ..view } }
    }

    /// A task as a stream snapshot.
    pub(super) fn streamed(head: &'a StreamHead, task: &'a Task) -> Self {
        Self { task, within: head.into(), history: head.history.of(&task.history), artifacts: &task.artifacts }
    }
}

/// Whether the streaming dialects can express this event.
pub(super) fn is_news(shown: StreamEvent<'_>) -> bool {
    match shown {
        StreamEvent::Reply(_) | StreamEvent::Item(_, StreamItem::Snapshot(..)) => true,
        StreamEvent::Item(_, StreamItem::Event(event)) => match &event.body {
            EventBody::Status(_) | EventBody::Artifact(_) => true,
            // The caller knows its own messages.
            EventBody::Message(_) => false,
        },
        StreamEvent::Item(_, StreamItem::Shutdown) => false,
    }
}

/// A list whose elements are written by `write`.
pub(super) struct Each<'a, T, C, W> {
    pub(super) items: &'a [T],
    pub(super) with: C,
    pub(super) write: fn(&'a T, C) -> W,
}

impl<'a, T, C, W> Each<'a, T, C, W> {
    pub(super) const fn new(items: &'a [T], with: C, write: fn(&'a T, C) -> W) -> Self {
        Self { items, with, write }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl<T, C: Copy, W: Serialize> Serialize for Each<'_, T, C, W> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.items.iter().map(|item| (self.write)(item, self.with)))
    }
}

/// A page of tasks.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PageOut<'a, W: Serialize> {
    tasks: Each<'a, NamedTask, &'a ListTasksResponse, W>,
    next_page_token: &'a str,
    page_size: usize,
    total_size: usize,
}

impl<'a, W: Serialize> PageOut<'a, W> {
    pub(super) fn new(page: &'a ListTasksResponse, write: fn(&'a NamedTask, &'a ListTasksResponse) -> W) -> Self {
        Self {
            tasks: Each::new(&page.tasks, page, write),
            next_page_token: &page.next_page_token,
            page_size: page.page_size,
            total_size: page.total,
        }
    }
}

/// An object without members.
#[derive(Serialize)]
pub(super) struct EmptyObject {}

pub(super) struct Base64<'a>(pub(super) &'a [u8]);

impl Serialize for Base64<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&Base64Display::new(self.0, &STANDARD))
    }
}

/// A time with millisecond precision.
pub(super) struct TimestampOut(pub(super) Timestamp);

impl Serialize for TimestampOut {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{:.3}", self.0))
    }
}

/// The sender of a message, in every version before 1.0.
pub(super) const fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Agent => "agent",
    }
}

/// None for an empty list.
pub(super) const fn some<T>(items: &[T]) -> Option<&[T]> {
    if items.is_empty() { None } else { Some(items) }
}

/// None for an empty object.
pub(super) fn some_members(members: &Map<String, Value>) -> Option<&Map<String, Value>> {
    Some(members).filter(|members| !members.is_empty())
}

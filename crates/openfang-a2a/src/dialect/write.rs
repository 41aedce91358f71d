//! What the encoders share: small values that are written as they are borrowed.

use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use openfang_types::event::{EventBody, StreamItem};
use openfang_types::ids::TaskId;
use openfang_types::task::{Artifact, Message, Role, Task};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::answer::{Held, Page, Shown, StreamHead};
use crate::operation::History;

pub(super) use legacy::{DataOut, MetadataOut, PartOut, StatusHistory, WRAPPED, is_final};
pub(super) use push::PushConfigOut;

mod legacy;
mod push;

/// A task, as its maker calls it.
#[derive(Clone, Copy)]
pub(super) enum Name<'a> {
    Given(&'a str),
    Ours(TaskId),
}

impl Serialize for Name<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Given(name) => to.serialize_str(name),
            Self::Ours(id) => id.serialize(to),
        }
    }
}

/// The task and the conversation that something belongs to, as its reader knows them.
#[derive(Clone, Copy)]
pub(super) struct Within<'a> {
    pub(super) task: Name<'a>,
    pub(super) context: &'a str,
}

impl<'a> From<&'a StreamHead> for Within<'a> {
    fn from(head: &'a StreamHead) -> Self {
        Self { task: Name::Given(&head.task), context: &head.context }
    }
}

/// A task, and how much of it is shown.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) task: &'a Task,
    pub(super) within: Within<'a>,
    pub(super) history: &'a [Message],
    pub(super) artifacts: &'a [Artifact],
}

impl<'a> View<'a> {
    /// A task with all that came of it.
    pub(super) fn of(held: &'a Held, history: History) -> Self {
        let given = held.peer_name.as_ref().map(|name| Name::Given(name.as_str()));
        let task = &held.task;
        Self {
            task,
            within: Within { task: given.unwrap_or(Name::Ours(task.id)), context: task.context_id.as_str() },
            history: history.of(&task.history),
            artifacts: &task.artifacts,
        }
    }

    /// A task on a page.
    pub(super) fn listed(held: &'a Held, page: &'a Page) -> Self {
        let view = Self::of(held, page.history);
        if page.include_artifacts { view } else { Self { artifacts: &[], ..view } }
    }

    /// A task as a stream shows it.
    pub(super) fn streamed(head: &'a StreamHead, task: &'a Task) -> Self {
        Self { task, within: head.into(), history: head.history.of(&task.history), artifacts: &task.artifacts }
    }
}

/// What the dialects that stream have words for.
pub(super) fn is_news(shown: Shown<'_>) -> bool {
    match shown {
        Shown::Reply(_) | Shown::Item(_, StreamItem::Snapshot(..)) => true,
        Shown::Item(_, StreamItem::Event(event)) => match &event.body {
            EventBody::Status(_) | EventBody::Artifact(_) => true,
            // What the caller's side said, it knows.
            EventBody::Message(_) => false,
        },
        Shown::Item(_, StreamItem::Shutdown) => false,
    }
}

/// A list whose entries are each written by `write`.
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
    tasks: Each<'a, Held, &'a Page, W>,
    next_page_token: &'a str,
    page_size: usize,
    total_size: usize,
}

impl<'a, W: Serialize> PageOut<'a, W> {
    pub(super) fn new(page: &'a Page, write: fn(&'a Held, &'a Page) -> W) -> Self {
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
pub(super) struct Nothing {}

/// Bytes as base64.
pub(super) struct Base64<'a>(pub(super) &'a [u8]);

impl Serialize for Base64<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&Base64Display::new(self.0, &STANDARD))
    }
}

/// A moment, to the millisecond.
pub(super) struct Moment(pub(super) Timestamp);

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{:.3}", self.0))
    }
}

/// Who wrote a message, as everything before 1.0 says it.
pub(super) const fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Agent => "agent",
    }
}

/// Leaves out an empty list.
pub(super) const fn some<T>(items: &[T]) -> Option<&[T]> {
    if items.is_empty() { None } else { Some(items) }
}

/// Leaves out an empty object.
pub(super) fn some_members(members: &Map<String, Value>) -> Option<&Map<String, Value>> {
    Some(members).filter(|members| !members.is_empty())
}

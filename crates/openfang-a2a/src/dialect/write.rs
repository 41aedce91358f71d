//! What the encoders share: small values that are written as they are borrowed.

use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use openfang_types::ids::TaskId;
use openfang_types::task::{Artifact, Message, Task};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::answer::{Held, Page, StreamHead};
use crate::operation::History;

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

/// Leaves out an empty list.
pub(super) const fn some<T>(items: &[T]) -> Option<&[T]> {
    if items.is_empty() { None } else { Some(items) }
}

/// Leaves out an empty object.
pub(super) fn some_members(members: &Map<String, Value>) -> Option<&Map<String, Value>> {
    Some(members).filter(|members| !members.is_empty())
}

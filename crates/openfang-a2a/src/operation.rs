//! What a peer can ask for, whichever dialect it asks in. Decoders make these; nothing else is left of the wire.

use std::fmt;

use jiff::Timestamp;
use openfang_types::ids::{ContextId, TaskName};
use openfang_types::secret::Secret;
use openfang_types::task::{Message, TaskState};

/// The operations, by what they do. Each dialect has its own names for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// A message, answered with a task or a message.
    Send,
    /// A message, answered with a stream.
    Stream,
    /// One task.
    Get,
    /// A page of tasks.
    List,
    /// Stops a task.
    Cancel,
    /// Follows a task.
    Subscribe,
    /// Adds a push configuration to a task.
    SetPush,
    /// One push configuration.
    GetPush,
    /// The push configurations of a task.
    ListPush,
    /// Takes a push configuration away.
    DeletePush,
    /// What this caller may use, as a card.
    ExtendedCard,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Send,
        Self::Stream,
        Self::Get,
        Self::List,
        Self::Cancel,
        Self::Subscribe,
        Self::SetPush,
        Self::GetPush,
        Self::ListPush,
        Self::DeletePush,
        Self::ExtendedCard,
    ];
}

/// What was asked for, and of whom.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The agent, as the peer names it; none: the one the endpoint stands for.
    pub tenant: Option<String>,
    /// What for.
    pub operation: Operation,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// See [`Method::Send`] and [`Method::Stream`]; [`Sending::answer`] says which.
    Send(Box<Sending>),
    /// See [`Method::Get`].
    Get {
        /// Which task.
        task: TaskName,
        /// How much of its history.
        history: History,
    },
    /// See [`Method::List`].
    List(Listing),
    /// See [`Method::Cancel`].
    Cancel {
        /// Which task.
        task: TaskName,
    },
    /// See [`Method::Subscribe`].
    Subscribe {
        /// Which task.
        task: TaskName,
    },
    /// See [`Method::SetPush`].
    SetPush {
        /// Which task; on HTTP+JSON the path says it.
        task: Option<TaskName>,
        /// Where to, and how.
        config: NewPush,
    },
    /// See [`Method::GetPush`].
    GetPush {
        /// Which task.
        task: TaskName,
        /// Which one; dialects that know only one do not say.
        id: Option<String>,
    },
    /// See [`Method::ListPush`].
    ListPush {
        /// Which task.
        task: TaskName,
    },
    /// See [`Method::DeletePush`].
    DeletePush {
        /// Which task.
        task: TaskName,
        /// Which one.
        id: String,
    },
    /// See [`Method::ExtendedCard`].
    ExtendedCard,
}

impl Request {
    /// The agent; an empty name is as good as none.
    pub fn tenant(&self) -> Option<&str> {
        self.tenant.as_deref().filter(|tenant| !tenant.is_empty())
    }
}

impl Operation {
    /// The method that asks for it.
    pub const fn method(&self) -> Method {
        match self {
            Self::Send(sending) => match sending.answer {
                When::Streaming => Method::Stream,
                When::Settled | When::AtOnce => Method::Send,
            },
            Self::Get { .. } => Method::Get,
            Self::List(_) => Method::List,
            Self::Cancel { .. } => Method::Cancel,
            Self::Subscribe { .. } => Method::Subscribe,
            Self::SetPush { .. } => Method::SetPush,
            Self::GetPush { .. } => Method::GetPush,
            Self::ListPush { .. } => Method::ListPush,
            Self::DeletePush { .. } => Method::DeletePush,
            Self::ExtendedCard => Method::ExtendedCard,
        }
    }
}

/// A message on its way to an agent: what a server reads and a client writes.
#[derive(Debug, Clone, PartialEq)]
pub struct Sending {
    /// The message; [`Message::task_id`] is not set yet. Metadata of the request is part of the message's.
    pub message: Message,
    /// The task it continues, or in 0.1 makes.
    pub task: Option<Continued>,
    /// What the peer can read; empty: anything.
    pub accepted_output_modes: Vec<String>,
    /// How much of the history the answer shows.
    pub history: History,
    /// When it is answered.
    pub answer: When,
    /// Where to push what happens.
    pub push: Option<NewPush>,
}

/// How a message names a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Continued {
    /// One that must be there.
    Known(TaskName),
    /// One that is made under this name if it is not there: 0.1.
    KnownOrNew(TaskName),
}

/// When a message is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// When its task has ended, or asks for something.
    Settled,
    /// At once.
    AtOnce,
    /// All the time.
    Streaming,
}

/// How many of the last messages are shown; none: all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct History(pub Option<usize>);

impl History {
    /// The messages to show.
    pub fn of<T>(self, messages: &[T]) -> &[T] {
        let begin = self.0.map_or(0, |count| messages.len().saturating_sub(count));
        messages.get(begin..).unwrap_or_default()
    }
}

/// Which tasks to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// Only those of this conversation.
    pub context_id: Option<ContextId>,
    /// Only those in this state.
    pub state: Option<TaskState>,
    /// Only those whose status changed at this moment or later.
    pub changed_since: Option<Timestamp>,
    /// How many on a page; 1 to 100.
    pub page_size: Option<usize>,
    /// Where the page begins.
    pub page_token: Option<String>,
    /// How much of each history.
    pub history: History,
    /// Whether artifacts are shown.
    pub include_artifacts: bool,
}

/// Where to push what happens to a task, as a peer asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPush {
    /// What the peer calls it; none: we name it.
    pub id: Option<String>,
    /// Where to.
    pub url: String,
    /// Sent along, so that the receiver knows us.
    pub token: Option<Secret>,
    /// Sent along as `Authorization`.
    pub authentication: Option<PushAuthentication>,
}

/// `Authorization: {scheme} {credentials}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushAuthentication {
    /// Such as `Bearer`.
    pub scheme: String,
    /// The secret part.
    pub credentials: Option<Secret>,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Send => "send",
            Self::Stream => "stream",
            Self::Get => "get",
            Self::List => "list",
            Self::Cancel => "cancel",
            Self::Subscribe => "subscribe",
            Self::SetPush => "set push",
            Self::GetPush => "get push",
            Self::ListPush => "list push",
            Self::DeletePush => "delete push",
            Self::ExtendedCard => "extended card",
        })
    }
}

//! The requests a peer can make, independent of the dialect. Decoders produce these values; no other trace of the wire
//! format remains.

use std::fmt;

use jiff::Timestamp;
use openfang_types::ids::{ContextId, TaskName};
use openfang_types::secret::Secret;
use openfang_types::task::{Message, TaskState};

/// The operations of A2A. Each dialect has its own names for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Sends a message; the answer is a task or a message.
    Send,
    /// Sends a message; the answer is a stream.
    Stream,
    /// Reads a single task.
    Get,
    /// Lists tasks, page by page.
    List,
    /// Cancels a task that is running.
    Cancel,
    /// Streams the changes of a task.
    Subscribe,
    /// Adds a push configuration to a task.
    SetPush,
    /// Reads one push configuration.
    GetPush,
    /// Lists the push configurations of a task.
    ListPush,
    /// Deletes a push configuration.
    DeletePush,
    /// Reads the card that shows everything this caller may use.
    ExtendedCard,
}

impl Method {
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

/// A request and the agent it addresses.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The agent by the peer's name for it. None means the agent of the endpoint.
    pub tenant: Option<String>,
    pub operation: Operation,
}

/// An operation with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// See [`Method::Send`] and [`Method::Stream`]; [`SendMessage::answer`] tells them apart.
    Send(Box<SendMessage>),
    Get {
        task: TaskName,
        /// How much of its history to include.
        history: HistoryLength,
    },
    List(ListTasks),
    Cancel {
        task: TaskName,
    },
    Subscribe {
        task: TaskName,
    },
    SetPush {
        /// The task. On HTTP+JSON the path names it.
        task: Option<TaskName>,
        /// The URL and the credentials.
        config: PushNotificationConfig,
    },
    GetPush {
        task: TaskName,
        /// The configuration. None in dialects that allow only one.
        id: Option<String>,
    },
    ListPush {
        task: TaskName,
    },
    DeletePush {
        task: TaskName,
        id: String,
    },
    ExtendedCard,
}

impl Request {
    /// The agent; an empty name counts as none.
    pub fn tenant(&self) -> Option<&str> {
        self.tenant.as_deref().filter(|tenant| !tenant.is_empty())
    }
}

impl Operation {
    /// The method of this operation.
    pub const fn method(&self) -> Method {
        match self {
            Self::Send(sending) => match sending.answer {
                ReplyMode::Streaming => Method::Stream,
                ReplyMode::Settled | ReplyMode::AtOnce => Method::Send,
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

/// A message to an agent: a server reads it, a client writes it.
#[derive(Debug, Clone, PartialEq)]
pub struct SendMessage {
    /// The message. [`Message::task_id`] is not set yet. The metadata of the request is merged into the message's.
    pub message: Message,
    /// The task that the message continues or, in 0.1, creates.
    pub task: Option<TaskReference>,
    /// The media types the peer can read. Empty means any.
    pub accepted_output_modes: Vec<String>,
    /// How much of the history the answer includes.
    pub history: HistoryLength,
    /// When the request is answered.
    pub answer: ReplyMode,
    /// Where to push the changes of the task.
    pub push: Option<PushNotificationConfig>,
}

/// The task a message refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskReference {
    /// A task that must exist.
    Existing(TaskName),
    /// A task that is created under this name if it does not exist (0.1).
    ExistingOrNew(TaskName),
}

/// When a message is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyMode {
    /// When its task has ended or waits for input.
    Settled,
    /// Immediately, with the task as it is.
    AtOnce,
    /// With a stream of events.
    Streaming,
}

/// The maximum number of history messages to include, counted from the end. None means all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HistoryLength(pub Option<usize>);

impl HistoryLength {
    /// The messages to include.
    pub fn of<T>(self, messages: &[T]) -> &[T] {
        let begin = self.0.map_or(0, |count| messages.len().saturating_sub(count));
        messages.get(begin..).unwrap_or_default()
    }
}

/// The filter and the page of a task list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListTasks {
    /// Only tasks of this conversation.
    pub context_id: Option<ContextId>,
    /// Only tasks in this state.
    pub state: Option<TaskState>,
    /// Only tasks whose status changed at this time or later.
    pub changed_since: Option<Timestamp>,
    /// The page size, 1 to 100.
    pub page_size: Option<usize>,
    /// The token of the page.
    pub page_token: Option<String>,
    /// How much of each task's history to include.
    pub history: HistoryLength,
    /// Whether to include artifacts.
    pub include_artifacts: bool,
}

/// Where to push the changes of a task, as requested by a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushNotificationConfig {
    /// The peer's id for it. None lets the server choose one.
    pub id: Option<String>,
    pub url: String,
    /// Sent with each push, so that the receiver can authenticate us.
    pub token: Option<Secret>,
    /// Sent as the `Authorization` header.
    pub authentication: Option<PushAuthentication>,
}

/// The `Authorization` header of a push: `{scheme} {credentials}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushAuthentication {
    /// An authentication scheme such as `Bearer`.
    pub scheme: String,
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

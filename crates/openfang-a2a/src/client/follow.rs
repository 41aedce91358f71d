//! Follows the work of an agent on one message, from the first answer to its end.
//!
//! ```text
//!            events              cut, silence, end of stream
//! send ──> Stream ──────────────────────────┐
//!   │         ▲                             ▼
//!   │         │ stream          live     Fetch ──> over, when the task has settled
//!   │     Subscribe <───────────────────────┤ ▲
//!   │         │ refused                live │ │ time is up
//!   └──────> Wait <─────────────────────────┘ │
//!             └───────────────────────────────┘
//! ```
//!
//! A stream that ends is not believed to be complete. One that is silent is kept, because some agents stop working when it is
//! cut, and the task is looked at beside it. A task that ends without a result is fetched once more. An agent
//! that shows no progress, takes too long or sends too much is told to cancel the task.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use openfang_types::event::ArtifactUpdate;
use openfang_types::ids::{ContextId, TaskName};
use openfang_types::limits::A2A_POLL;
use openfang_types::task::{Message, TaskStatus};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::agent::RemoteAgent;
use super::call::Reply;
use super::discovery::Discovery;
use super::error::ClientError;
use super::events::EventStream;
use crate::dialect::Dialect;
use crate::peer::{FollowedTask, PeerAnswer, PeerEvent, PeerTask};

use steps::{unreadable, unseen};

mod steps;

/// What an agent does with a message, in order. The last event is [`Asked`](Self::Asked), [`Ended`](Self::Ended) or
/// [`Replied`](Self::Replied).
#[derive(Debug, Clone, PartialEq)]
pub enum RemoteEvent {
    /// The agent works on a task with these ids. It comes before everything else about the task, so that the ids can be
    /// stored first.
    Known { task: TaskName, context: Option<ContextId> },
    /// The status changed, and the work goes on.
    Status(TaskStatus),
    /// A new artifact, a further chunk, or an artifact that replaces the one of the same id.
    Artifact(ArtifactUpdate),
    /// The agent says something that is not its status.
    Message(Box<Message>),
    /// The task waits for input or for a credential.
    Asked(TaskStatus),
    /// The task has ended.
    Ended(TaskStatus),
    /// The agent answered without a task.
    Replied(Box<Message>),
}

/// The work of an agent on one message. Dropping it stops following; the agent goes on.
pub struct Follower {
    agent: RemoteAgent,
    discovery: Arc<Discovery>,
    /// The task that the message continues.
    continued: Option<TaskName>,
    task: Option<FollowedTask>,
    phase: Phase,
    queue: VecDeque<RemoteEvent>,
    /// Where a stream can be resumed.
    cursor: Option<String>,
    can_subscribe: bool,
    empty_streams: u32,
    pause: Duration,
    begun: Instant,
    last_sign: Instant,
    idle: Duration,
    /// After this time without an event the task is looked at.
    silence: Duration,
    total: Duration,
    spent: Spent,
    /// Notified when it is worth to look at the task.
    wake: Option<Arc<Notify>>,
}

/// What has been received so far, against the limits.
#[derive(Default)]
struct Spent {
    events: u64,
    bytes: usize,
}

enum Phase {
    Stream {
        stream: EventStream,
        is_empty: bool,
    },
    Fetch,
    Subscribe,
    /// Until the next fetch.
    Wait(Instant),
    /// What is queued is told before the error.
    Failing(Box<ClientError>),
    Over,
}

impl Follower {
    pub(super) fn new(agent: RemoteAgent, discovery: Arc<Discovery>, continued: Option<TaskName>) -> Self {
        let (now, settings) = (Instant::now(), agent.settings());
        Self {
            idle: settings.idle,
            total: settings.total,
            silence: settings.silence,
            can_subscribe: discovery.streams() && keeps_tasks_of_readers(discovery.interface.dialect),
            agent,
            discovery,
            continued,
            task: None,
            phase: Phase::Over,
            queue: VecDeque::new(),
            cursor: None,
            empty_streams: 0,
            pause: A2A_POLL,
            begun: now,
            last_sign: now,
            spent: Spent::default(),
            wake: None,
        }
    }

    /// Follows the answer to a message.
    pub(super) async fn begin(mut self, reply: Reply) -> Result<Self, ClientError> {
        match reply {
            Reply::Stream(stream) => self.phase = Phase::Stream { stream, is_empty: true },
            Reply::Answer(PeerAnswer::Task(task)) => {
                self.phase = Phase::Fetch;
                if let Err(error) = self.absorb(PeerEvent::Task(task)) {
                    return Err(self.abandon(error).await);
                }
                if matches!(self.phase, Phase::Fetch) && !self.is_settled() {
                    self.phase = self.next_source();
                }
            }
            Reply::Answer(PeerAnswer::Message(message)) => {
                self.queue.push_back(RemoteEvent::Replied(Box::new(message.message)));
            }
            Reply::Answer(_) => return Err(unreadable("it is neither a task nor a message")),
        }
        Ok(self)
    }

    /// Follows a task that is already known.
    pub(super) fn resume(mut self, task: TaskName, context_id: Option<ContextId>) -> Self {
        self.continued = Some(task.clone());
        let mut followed = FollowedTask::new(unseen(task, context_id));
        followed.resumed();
        self.task = Some(followed);
        self.phase = Phase::Fetch;
        self
    }

    /// Limits the time for the rest of the work, instead of the agent's settings.
    #[must_use]
    pub const fn within(mut self, total: Duration) -> Self {
        self.total = total;
        self
    }

    /// Looks at the task whenever it is told to, and less often by itself.
    #[must_use]
    pub fn woken_by(mut self, wake: Arc<Notify>) -> Self {
        self.wake = Some(wake);
        self
    }

    /// How the agent is asked.
    pub fn discovery(&self) -> &Discovery {
        &self.discovery
    }

    /// The task as it is known so far.
    pub fn task(&self) -> Option<&PeerTask> {
        self.task.as_ref().map(FollowedTask::task)
    }

    /// The next event; none after the last one. The future can be dropped and called again at any time.
    pub async fn next(&mut self) -> Result<Option<RemoteEvent>, ClientError> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return Ok(Some(event));
            }
            if matches!(self.phase, Phase::Over) {
                return Ok(None);
            }
            let (at, limit) = self.limit();
            let outcome = timeout_at(at, self.step()).await.unwrap_or(Err(limit));
            if let Err(error) = outcome {
                return Err(self.abandon(error).await);
            }
            self.gather();
        }
    }

    /// Whether the next event is there already, so that both can be stored together.
    pub fn has_more(&self) -> bool {
        !self.queue.is_empty()
    }

    /// The next time limit, and the error when it is reached.
    fn limit(&self) -> (Instant, ClientError) {
        let (stalls, ends) = (self.last_sign + self.idle, self.begun + self.total);
        if stalls <= ends {
            (stalls, ClientError::Stalled { after: self.idle })
        } else {
            (ends, ClientError::TimedOut { after: self.total })
        }
    }

    /// Ends the work with an error. Where the agent still works for us, it is told to stop.
    async fn abandon(&mut self, error: ClientError) -> ClientError {
        self.phase = Phase::Over;
        let unwanted = match &error {
            ClientError::WrongTask(wrong) => Some(wrong.found.clone()),
            ClientError::Stalled { .. } | ClientError::TimedOut { .. } | ClientError::TooMuch { .. } => {
                self.task().map(|task| task.id.clone())
            }
            _ => None,
        };
        if let Some(task) = unwanted {
            // The error tells what happened, whether or not the agent can be told.
            drop(self.agent.cancel_with(&self.discovery, &task).await);
        }
        error
    }
}

/// Whether a stream can be resumed without harm. A server of the official Python SDK for 0.3 stores what it sends once for each
/// of its readers, and a result then contains every chunk twice.
const fn keeps_tasks_of_readers(dialect: Dialect) -> bool {
    !matches!(dialect, Dialect::V03 | Dialect::V03Proto)
}

impl std::fmt::Debug for Follower {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follower")
            .field("task", &self.task().map(|task| &task.id))
            .finish_non_exhaustive()
    }
}

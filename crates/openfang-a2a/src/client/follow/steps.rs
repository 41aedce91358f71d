//! The steps of a [`Follower`]: what it does with events, fetched tasks and streams.

use futures_util::FutureExt as _;
use openfang_types::event::ArtifactUpdate;
use openfang_types::ids::{ContextId, TaskName};
use openfang_types::limits::{
    A2A_CLIENT_ARTIFACT_BYTES, A2A_CLIENT_ARTIFACTS, A2A_CLIENT_EVENTS, A2A_EMPTY_STREAMS, A2A_POLL, A2A_POLL_MAX,
    A2A_TOGETHER, EXTERNAL_PUSHED_POLL_MAX,
};
use openfang_types::task::{Part, TaskState, TaskStatus};
use serde_json::Map;
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::super::call::Reply;
use super::super::error::ClientError;
use super::super::events::Received;
use super::{Follower, Phase, RemoteEvent};
use crate::peer::{AnswerError, FollowedTask, PeerEvent, PeerTask, TaskChange, WrongTask, cursor};

impl Follower {
    pub(super) async fn step(&mut self) -> Result<(), ClientError> {
        match &mut self.phase {
            Phase::Stream { stream, .. } => {
                let task = self.task.as_ref().map(|followed| &followed.task().id);
                match timeout(self.silence, stream.next(task)).await {
                    Ok(received) => self.received(received),
                    Err(_silent) => self.look_beside_the_stream().await,
                }
            }
            Phase::Fetch => {
                let Some(id) = self.task().map(|task| task.id.clone()) else { return Err(no_task()) };
                let fetched = self.agent.get_with(&self.discovery, &id).await;
                self.fetched(fetched)
            }
            Phase::Subscribe => {
                let Some(id) = self.task().map(|task| task.id.clone()) else { return Err(no_task()) };
                let opened = self.agent.subscribe_with(&self.discovery, &id, self.cursor.as_deref()).await;
                self.subscribed(opened)
            }
            Phase::Wait(at) => {
                match &self.wake {
                    // A push that comes while the task is fetched wakes up the next wait.
                    Some(wake) => drop(timeout_at(*at, wake.notified()).await),
                    None => sleep_until(*at).await,
                }
                self.phase = Phase::Fetch;
                Ok(())
            }
            Phase::Failing(_) => match std::mem::replace(&mut self.phase, Phase::Over) {
                Phase::Failing(error) => Err(*error),
                _ => Ok(()),
            },
            Phase::Over => Ok(()),
        }
    }

    /// Takes in what has arrived with the last event.
    pub(super) fn gather(&mut self) {
        while self.queue.len() < A2A_TOGETHER
            && let Phase::Stream { stream, .. } = &mut self.phase
        {
            let task = self.task.as_ref().map(|followed| &followed.task().id);
            let Some(received) = stream.next(task).now_or_never() else { return };
            if let Err(error) = self.received(received) {
                self.phase = Phase::Failing(Box::new(error));
            }
        }
    }

    /// An agent may have ended the task and forgotten to say so. If it does not answer, the limit on its silence decides.
    async fn look_beside_the_stream(&mut self) -> Result<(), ClientError> {
        let Some(id) = self.task().map(|task| task.id.clone()) else { return Ok(()) };
        match self.agent.get_with(&self.discovery, &id).await {
            Ok(task) if task.is_settled() => self.fetched(Ok(task)),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn received(&mut self, received: Result<Option<Received>, ClientError>) -> Result<(), ClientError> {
        let Ok(Some(received)) = received else {
            return self.stream_ended(received.err());
        };
        if let Phase::Stream { is_empty, .. } = &mut self.phase {
            *is_empty = false;
        }
        self.spent.events += 1;
        if self.spent.events > A2A_CLIENT_EVENTS {
            return Err(ClientError::TooMuch { limit: A2A_CLIENT_EVENTS, what: "events" });
        }
        match received.event {
            Ok(event) => {
                let outcome = self.absorb(event);
                if let (Some(id), Some(task)) = (&received.id, self.task())
                    && let Some(place) = cursor(id, &task.id)
                {
                    self.cursor = Some(place.to_owned());
                }
                outcome
            }
            Err(AnswerError::Peer(error)) if self.task.is_none() => Err(ClientError::refused(error, None)),
            Err(unreadable) if self.task.is_none() => Err(ClientError::Unreadable(unreadable)),
            // The task itself tells whether it goes on.
            Err(AnswerError::Peer(_)) => {
                self.phase = Phase::Fetch;
                Ok(())
            }
            Err(AnswerError::Unreadable { .. }) => {
                self.mark_gap();
                Ok(())
            }
        }
    }

    /// The stream is over. What the agent did not say there is in the task.
    fn stream_ended(&mut self, error: Option<ClientError>) -> Result<(), ClientError> {
        if self.task.is_none() {
            return Err(error.unwrap_or_else(|| unreadable("the stream ended before it said anything")));
        }
        let is_empty = matches!(self.phase, Phase::Stream { is_empty: true, .. });
        self.empty_streams = if is_empty { self.empty_streams + 1 } else { self.empty_streams };
        if self.empty_streams >= A2A_EMPTY_STREAMS {
            self.can_subscribe = false;
        }
        self.mark_gap();
        self.phase = if is_empty { self.wait(None) } else { Phase::Fetch };
        Ok(())
    }

    fn fetched(&mut self, fetched: Result<PeerTask, ClientError>) -> Result<(), ClientError> {
        match fetched {
            Ok(task) => {
                let Some(followed) = &mut self.task else { return Err(no_task()) };
                let changes = followed.fetched(task)?;
                self.changed(changes)?;
                if self.is_settled() {
                    self.finish()
                } else {
                    self.phase = self.next_source()
                }
                Ok(())
            }
            // Something of the result may be missing, so the task is worth a few more tries.
            Err(error) if self.is_settled() && error.is_temporary() && self.pause < A2A_POLL_MAX => {
                self.phase = self.wait(None);
                Ok(())
            }
            // The result is known, only its confirmation is missing.
            Err(_) if self.is_settled() => {
                self.finish();
                Ok(())
            }
            Err(error) if error.is_temporary() => {
                let asked = match &error {
                    ClientError::Refused { retry_after, .. } => *retry_after,
                    _ => None,
                };
                self.phase = self.wait(asked);
                Ok(())
            }
            // Some agents can only be followed.
            Err(ClientError::Refused { error, .. }) if error.had_no_effect() && self.can_subscribe => {
                self.phase = Phase::Subscribe;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn subscribed(&mut self, opened: Result<Reply, ClientError>) -> Result<(), ClientError> {
        match opened {
            Ok(Reply::Stream(stream)) => {
                self.mark_gap();
                self.phase = Phase::Stream { stream, is_empty: true };
            }
            Ok(Reply::Answer(_)) => self.phase = self.wait(None),
            Err(error) => {
                self.can_subscribe &= error.is_temporary();
                self.phase = self.wait(None);
            }
        }
        Ok(())
    }

    /// Takes in one event of the agent.
    pub(super) fn absorb(&mut self, event: PeerEvent) -> Result<(), ClientError> {
        self.last_sign = Instant::now();
        // The answer to a continued task may begin with the task as it was before, with the old question.
        let is_old = self.task.is_none() && self.continued.is_some() && matches!(self.phase, Phase::Stream { .. });
        let changes = match &mut self.task {
            None => {
                let Some(task) = self.first(event)? else { return Ok(()) };
                self.known(task)
            }
            Some(followed) => match followed.apply(event) {
                Ok(changes) => changes,
                // An event about another task says nothing about ours.
                Err(WrongTask { .. }) => return Ok(()),
            },
        };
        self.changed(changes)?;
        let is_asking = self.task().is_some_and(|task| task.status.state.is_interrupted());
        if self.is_settled() && !(is_old && is_asking) {
            match self.task.as_ref().is_some_and(FollowedTask::needs_fetch) {
                true => self.phase = Phase::Fetch,
                false => self.finish(),
            }
        }
        Ok(())
    }

    /// The task that the first event is about. None if it is a reply without a task.
    fn first(&mut self, event: PeerEvent) -> Result<Option<PeerTask>, ClientError> {
        let (id, context_id) = match &event {
            PeerEvent::Task(task) => (Some(task.id.clone()), task.context_id.clone()),
            PeerEvent::Status(changed) => (changed.task.clone(), changed.context_id.clone()),
            PeerEvent::Artifact(brought) => (brought.task.clone(), brought.context_id.clone()),
            PeerEvent::Message(said) => {
                self.queue.push_back(RemoteEvent::Replied(Box::new(said.message.clone())));
                self.phase = Phase::Over;
                return Ok(None);
            }
        };
        let Some(id) = id.or_else(|| self.continued.clone()) else { return Err(no_task()) };
        if let Some(expected) = self.continued.as_ref().filter(|expected| **expected != id) {
            return Err(WrongTask { expected: expected.clone(), found: id }.into());
        }
        let mut followed = FollowedTask::new(unseen(id, context_id));
        drop(followed.apply(event)?);
        Ok(Some(followed.task().clone()))
    }

    /// Begins with a task as it is. Everything in it is news.
    fn known(&mut self, task: PeerTask) -> Vec<TaskChange> {
        self.queue
            .push_back(RemoteEvent::Known { task: task.id.clone(), context: task.context_id.clone() });
        let whole =
            |artifact: &_| ArtifactUpdate { artifact: Clone::clone(artifact), append: false, last_chunk: false };
        let artifacts = task.artifacts.iter().map(|artifact| TaskChange::Artifact(whole(artifact)));
        let changes = artifacts.chain([TaskChange::Status(task.status.clone())]).collect();
        self.task = Some(FollowedTask::new(task));
        changes
    }

    /// Queues what changed. The status that settles the task is left to [`Self::finish`].
    fn changed(&mut self, changes: Vec<TaskChange>) -> Result<(), ClientError> {
        if !changes.is_empty() {
            self.last_sign = Instant::now();
            self.pause = A2A_POLL;
        }
        for change in changes {
            self.spent.bytes += size(&change);
            let event = match change {
                TaskChange::Status(status) if is_settled(status.state) => continue,
                TaskChange::Status(status) => RemoteEvent::Status(status),
                TaskChange::Artifact(update) => RemoteEvent::Artifact(update),
                TaskChange::Message(message) => RemoteEvent::Message(message),
            };
            self.queue.push_back(event);
        }
        if self.spent.bytes > A2A_CLIENT_ARTIFACT_BYTES {
            return Err(ClientError::TooMuch { limit: A2A_CLIENT_ARTIFACT_BYTES as u64, what: "bytes" });
        }
        if self.task().is_some_and(|task| task.artifacts.len() > A2A_CLIENT_ARTIFACTS) {
            return Err(ClientError::TooMuch { limit: A2A_CLIENT_ARTIFACTS as u64, what: "artifacts" });
        }
        Ok(())
    }

    fn finish(&mut self) {
        self.phase = Phase::Over;
        let Some(status) = self.task().map(|task| task.status.clone()) else { return };
        self.queue.push_back(match status.state.is_terminal() {
            true => RemoteEvent::Ended(status),
            false => RemoteEvent::Asked(status),
        });
    }

    pub(super) fn is_settled(&self) -> bool {
        self.task().is_some_and(PeerTask::is_settled)
    }

    fn mark_gap(&mut self) {
        if let Some(followed) = &mut self.task {
            followed.resumed();
        }
    }

    /// How to go on with a task that is still being worked on.
    pub(super) fn next_source(&mut self) -> Phase {
        if self.can_subscribe { Phase::Subscribe } else { self.wait(None) }
    }

    /// Waits longer each time, until something changes.
    fn wait(&mut self, asked: Option<Duration>) -> Phase {
        let pause = asked.unwrap_or(self.pause).max(self.pause);
        let longest = if self.wake.is_some() { EXTERNAL_PUSHED_POLL_MAX } else { A2A_POLL_MAX };
        self.pause = (self.pause * 2).min(longest);
        Phase::Wait(Instant::now() + pause)
    }
}

/// A task of which nothing but its name is known.
pub(super) fn unseen(id: TaskName, context_id: Option<ContextId>) -> PeerTask {
    let status = TaskStatus { state: TaskState::Submitted, message: None, timestamp: jiff::Timestamp::now() };
    PeerTask { id, context_id, status, history: Vec::new(), artifacts: Vec::new(), metadata: Map::new() }
}

const fn is_settled(state: TaskState) -> bool {
    state.is_terminal() || state.is_interrupted()
}

/// The memory that a change takes. Empty parts count too.
fn size(change: &TaskChange) -> usize {
    let parts = match change {
        TaskChange::Status(status) => status.message.as_ref().map_or(&[][..], |message| &message.parts),
        TaskChange::Artifact(update) => &update.artifact.parts,
        TaskChange::Message(message) => &message.parts,
    };
    parts.iter().map(|part| part.size() + size_of::<Part>()).sum()
}

pub(super) fn unreadable(why: &str) -> ClientError {
    ClientError::Unreadable(AnswerError::Unreadable { at: String::new(), why: why.to_owned() })
}

fn no_task() -> ClientError {
    unreadable("it names no task")
}

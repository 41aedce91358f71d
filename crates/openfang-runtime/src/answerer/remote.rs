//! An agent of another server answers: a turn is a message to it, and what it does becomes the events of our task.
//!
//! What is known of the remote side is stored before it is used. `begun` is stored before the message is sent, `known` before
//! anything of the agent's task is shown. So after a crash the next process knows what it can know: it follows a task that
//! is known, and asks the agent whether a message arrived that may have. A message is never sent again on a guess.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use openfang_a2a::client::{ClientError, Delivery, DialectName, Follower, Outgoing, RemoteAgent, RemoteEvent};
use openfang_store::{RemotePhase, RemoteRecord};
use openfang_types::agent::AgentManifest;
use openfang_types::call::Outcome;
use openfang_types::ids::{AgentName, ContextId, MessageId, TaskId};
use openfang_types::limits::{EXTERNAL_MAX, EXTERNAL_QUESTIONS};
use openfang_types::task::{Message, Part, Role, TaskState, TaskStatus};
use openfang_types::trace::{HOPS, TRACEPARENT};

use super::{AgentRun, Answerer, Ending, PushHint, Recovery, RunEvent, RunStopped, SignIn, Turn};
use crate::catalog::Catalog;
use crate::external_call::{GuardedAgent, MessageSent, SendToAgent, traced};

use delivered::Arrival;

mod canceled;
mod delivered;
mod signing_in;

/// The external agents there are; the kernel implements it.
pub trait ExternalAgents: Send + Sync {
    /// The way to an agent, or why it cannot be used now.
    fn way_to(&self, agent: &AgentName) -> Result<Arc<GuardedAgent>, String>;
}

/// Answers by asking an agent of another server.
pub struct Remote {
    name: AgentName,
    agents: Arc<dyn ExternalAgents>,
}

impl Remote {
    /// Answers for the external agent of this name.
    pub const fn new(name: AgentName, agents: Arc<dyn ExternalAgents>) -> Self {
        Self { name, agents }
    }
}

impl Answerer for Remote {
    fn plain_reply(&self, _: &Message) -> Option<Vec<Part>> {
        None
    }

    fn recovery(&self, _: &Turn<'_>, _: &AgentManifest, _: &Catalog) -> Recovery {
        // What is stored of the remote side decides, once the agent can be asked.
        Recovery::Resume
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn limit(&self) -> Option<Duration> {
        // The agent's own limits are shorter, and stand still while a person is asked.
        Some(EXTERNAL_MAX)
    }

    fn run<'a>(&'a self, run: &'a AgentRun<'a>, turn: &'a Turn<'a>) -> BoxFuture<'a, Result<Ending, RunStopped>> {
        Box::pin(async move {
            match self.agents.way_to(&self.name) {
                Ok(agent) => {
                    let cx = run.cx;
                    let call = run.pipeline.outward_calls().begin(cx.trace, cx.principal.owner(), cx.hops);
                    let remote = traced(agent.remote(), call.parent(), cx.hops);
                    RemoteTurn { run, turn, agent: &agent, remote }.run().await
                }
                Err(why) => Ok(failed(format!("the A2A agent {} cannot be used: {why}", self.name))),
            }
        })
    }

    fn cancel(&self, remote: RemoteRecord) -> Option<BoxFuture<'static, ()>> {
        let agent = self.agents.way_to(&self.name).ok()?;
        Some(Box::pin(async move { canceled::tell(agent.remote(), &remote).await }))
    }

    fn signed_in(&self, remote: RemoteRecord, push: Option<PushHint>) -> Option<BoxFuture<'static, SignIn>> {
        Some(Box::pin(signing_in::over(Arc::clone(&self.agents), self.name.clone(), remote, push)))
    }

    fn takes_pushes(&self) -> bool {
        self.agents.way_to(&self.name).is_ok_and(|agent| agent.entry().push)
    }
}

/// The work of the agent on the message, or how the turn ended before there was any.
type TurnStart = Result<(RemoteRecord, Box<Follower>), Ending>;

/// One turn of a remote agent.
struct RemoteTurn<'a> {
    run: &'a AgentRun<'a>,
    turn: &'a Turn<'a>,
    agent: &'a GuardedAgent,
    remote: RemoteAgent,
}

impl RemoteTurn<'_> {
    async fn run(&self) -> Result<Ending, RunStopped> {
        // A turn that goes on after a restart keeps its place, however many there are.
        let room = self.agent.room();
        let is_new = self.turn.remote.is_none();
        if room.is_none() && is_new {
            let limit = self.agent.entry().max_live;
            return Ok(failed(format!("{limit} messages are under way to the A2A agent {}; retry later", self.name())));
        }
        let (mut record, follower) = match self.begin().await? {
            Ok(begun) => begun,
            Err(ending) => return Ok(ending),
        };
        self.follow(&mut record, follower).await
    }

    /// Sends the message, or goes on with what a process before this one did.
    async fn begin(&self) -> Result<TurnStart, RunStopped> {
        match self.turn.remote {
            None => self.send(None, self.turn.remote_context.cloned()).await,
            Some(record) => match (record.phase, &record.remote_task) {
                (RemotePhase::Asked, Some(_)) => self.send(Some(record), record.remote_context.clone()).await,
                (RemotePhase::Known | RemotePhase::Canceling, Some(_)) => self.rejoin(record.clone()).await,
                (RemotePhase::Begun, _) | (_, None) => self.find_out(record.clone()).await,
            },
        }
    }

    /// Sends the message of the turn, to the task that asked or to a new one. What is about to happen is stored first.
    async fn send(&self, asked: Option<&RemoteRecord>, context: Option<ContextId>) -> Result<TurnStart, RunStopped> {
        let cx = self.run.cx;
        let limit = cx.config.limits.agent_depth;
        if cx.hops >= limit {
            let why = format!(
                "agents may call agents {limit} deep, and this call would be one more; answer with what you have"
            );
            return Ok(Err(failed(why)));
        }
        if self.turn.number > EXTERNAL_QUESTIONS {
            if let Some(asked) = asked {
                canceled::tell(&self.remote, asked).await;
            }
            let why = format!("the A2A agent {} asked more than {EXTERNAL_QUESTIONS} times in one task", self.name());
            return Ok(Err(failed(why)));
        }
        let known = match self.remote.known() {
            Some(known) => Ok(known),
            None => self.remote.discover().await,
        };
        let discovery = match known {
            Ok(discovery) => discovery,
            Err(error) => return Ok(Err(self.failure(&error))),
        };
        let now = self.now();
        let message = self.message(context.clone());
        let mut record = RemoteRecord {
            agent: self.name().clone(),
            endpoint: discovery.interface.url.clone(),
            dialect: dialect_word(DialectName::from(discovery.interface.dialect)),
            message_id: message.message_id.clone(),
            remote_task: asked.and_then(|asked| asked.remote_task.clone()),
            remote_context: context,
            phase: RemotePhase::Begun,
            trace: cx.trace,
            hops: cx.hops,
            begun_at: now,
            seen_at: now,
        };
        self.run.events.remember(record.clone()).await;
        match self.pass_the_guards(&record, message).await {
            Ok(Ok(follower)) => Ok(Ok((record, follower))),
            Ok(Err(error)) if error.delivery() == Delivery::Unknown => {
                record.seen_at = self.now();
                self.find_out(record).await
            }
            Ok(Err(error)) => Ok(Err(self.failure(&error))),
            Err(ending) => Ok(Err(ending)),
        }
    }

    /// Sends through the guards: capability, labels at the sink, the audit row, and the task on disk.
    async fn pass_the_guards(
        &self,
        record: &RemoteRecord,
        message: Message,
    ) -> Result<Result<Box<Follower>, ClientError>, Ending> {
        let outgoing = match &record.remote_task {
            Some(task) => Outgoing::continuing(message, task.clone()),
            None => Outgoing::new(message),
        };
        let outgoing = Outgoing { push: self.push().map(|push| push.config.clone()), ..outgoing };
        let sending = SendToAgent::new(self.agent, &self.remote, outgoing);
        let arguments = sending.arguments();
        match self.run.pipeline.hand_through(self.run.cx, &sending, arguments).await {
            Ok(Outcome::Done(MessageSent(sent))) => Ok(sent),
            Ok(Outcome::NeedsInput(_)) => Err(failed("the message was not sent".to_owned())),
            Err(refused) => Err(failed(refused.to_string())),
        }
    }

    /// Goes on with a task that the agent is known to have.
    async fn rejoin(&self, record: RemoteRecord) -> Result<TurnStart, RunStopped> {
        let Some(task) = record.remote_task.clone() else {
            return Ok(Err(failed(format!("the task of the A2A agent {} is not known", self.name()))));
        };
        match self.remote.follow(task, record.remote_context.clone()).await {
            Ok(follower) => Ok(Ok((record, Box::new(follower)))),
            Err(error) => Ok(Err(self.failure(&error))),
        }
    }

    /// Finds out whether a message arrived, and acts on it.
    async fn find_out(&self, mut record: RemoteRecord) -> Result<TurnStart, RunStopped> {
        match delivered::find_out(self.agent, &self.remote, &record, self.run.pipeline.clock()).await {
            Ok(Arrival::Arrived { task, context }) => {
                record.remote_task = Some(task);
                record.remote_context = context.or(record.remote_context);
                self.note(&mut record).await;
                self.reach_durable_point().await?;
                self.rejoin(record).await
            }
            Ok(Arrival::SendAgain) => {
                let message =
                    Message { message_id: record.message_id.clone(), ..self.message(record.remote_context.clone()) };
                record.begun_at = self.now();
                self.run.events.remember(record.clone()).await;
                match self.pass_the_guards(&record, message).await {
                    Ok(Ok(follower)) => Ok(Ok((record, follower))),
                    Ok(Err(error)) => Ok(Err(self.failure(&error))),
                    Err(ending) => Ok(Err(ending)),
                }
            }
            Ok(Arrival::Unknowable) => Ok(Err(failed(format!(
                "interrupted: whether the message reached the A2A agent {} is not known, and it is not sent twice",
                self.name()
            )))),
            Err(error) => Ok(Err(self.failure(&error))),
        }
    }

    /// Tells what the agent does, until the turn has ended.
    async fn follow(&self, record: &mut RemoteRecord, follower: Box<Follower>) -> Result<Ending, RunStopped> {
        let mut follower = match self.push() {
            Some(push) => Box::new(follower.woken_by(Arc::clone(&push.wake))),
            None => follower,
        };
        let mut is_noted = false;
        loop {
            let event = match follower.next().await {
                Ok(Some(event)) => event,
                Ok(None) => return Ok(failed(format!("the A2A agent {} said nothing more", self.name()))),
                Err(error) => return Ok(self.failure(&error)),
            };
            match event {
                RemoteEvent::Known { task, context } => {
                    record.remote_task = Some(task);
                    record.remote_context = context.or(record.remote_context.take());
                    self.note(record).await;
                    is_noted = true;
                }
                RemoteEvent::Status(TaskStatus { message, .. }) => {
                    // That the agent works is no news unless it says something.
                    if let Some(message) = message.filter(|message| !message.parts.is_empty()) {
                        self.emit(RunEvent::Working(message.parts), &follower).await?;
                    }
                }
                RemoteEvent::Message(message) => self.emit(RunEvent::Working(message.parts), &follower).await?,
                RemoteEvent::Artifact(update) => self.emit(RunEvent::Artifact(update), &follower).await?,
                RemoteEvent::Asked(status) => {
                    record.phase = RemotePhase::Asked;
                    record.seen_at = self.now();
                    self.run.events.remember(record.clone()).await;
                    return Ok(self.ending(status));
                }
                RemoteEvent::Ended(status) => return Ok(self.ending(status)),
                RemoteEvent::Replied(message) => {
                    record.remote_context = message.context_id.clone().or(record.remote_context.take());
                    self.run.events.remember(record.clone()).await;
                    self.hear(&message.parts);
                    return Ok(Ending::of_parts(TaskState::Completed, message.parts));
                }
            }
            // What comes with the news that the agent has the task is stored with it.
            if is_noted && !follower.has_more() {
                is_noted = false;
                self.reach_durable_point().await?;
            }
        }
    }

    /// Where the agent pushes changes: only an agent that can, and that has no streams, is told.
    fn push(&self) -> Option<&PushHint> {
        let known = self.remote.known()?;
        let can_push = known.card.as_ref().is_some_and(|card| card.push_notifications);
        self.turn.push.filter(|_| can_push && !known.streams())
    }

    /// Notes that the agent has the task. It is stored before anything of it is shown.
    async fn note(&self, record: &mut RemoteRecord) {
        record.phase = RemotePhase::Known;
        record.seen_at = self.now();
        self.run.events.remember(record.clone()).await;
    }

    async fn reach_durable_point(&self) -> Result<(), RunStopped> {
        match &self.run.cx.run {
            Some(run) => run.reach_durable_point().await.map_err(|_| RunStopped),
            None => Ok(()),
        }
    }

    fn ending(&self, status: TaskStatus) -> Ending {
        let parts = status.message.map(|message| message.parts).unwrap_or_default();
        self.hear(&parts);
        Ending::of_parts(status.state, parts)
    }

    /// Tells an event, together with what the agent has said after it.
    async fn emit(&self, event: RunEvent, follower: &Follower) -> Result<(), RunStopped> {
        match &event {
            RunEvent::Working(parts) => self.hear(parts),
            RunEvent::Artifact(update) => self.hear(&update.artifact.parts),
            RunEvent::Text(_) => {}
        }
        if follower.has_more() {
            self.run.events.emit_with_next(event).await;
            return Ok(());
        }
        self.run.events.emit(event).await
    }

    /// What the agent says enters the run, with its label and what it says about itself.
    fn hear(&self, parts: &[Part]) {
        if let Some(run) = &self.run.cx.run {
            run.enters(&self.agent.labels());
            run.enters(&self.run.pipeline.labels_of(parts));
        }
    }

    fn now(&self) -> jiff::Timestamp {
        self.run.pipeline.clock().now()
    }

    fn name(&self) -> &AgentName {
        &self.agent.entry().name
    }

    /// The message of the turn, as the agent gets it: ours in id, context and metadata. Nothing in it names the caller.
    fn message(&self, context: Option<ContextId>) -> Message {
        let said = self.turn.message;
        let mut metadata = said.metadata.clone();
        metadata.remove(TRACEPARENT);
        metadata.insert(HOPS.to_owned(), self.run.cx.hops.saturating_add(1).into());
        Message {
            context_id: context,
            metadata,
            extensions: said.extensions.clone(),
            ..Message::of_parts(message_id(self.turn.task, self.turn.number), Role::User, said.parts.clone())
        }
    }

    fn failure(&self, error: &ClientError) -> Ending {
        self.hear(&[]);
        failed(format!("the A2A agent {}: {error}", self.name()))
    }
}

/// The id of a message: the same for the same turn of the same task, in whichever process.
#[expect(clippy::expect_used, reason = "an id and a number are a valid message id")]
fn message_id(task: TaskId, number: usize) -> MessageId {
    format!("{task}-{number}").parse().expect("an id and a number are a valid message id")
}

fn dialect_word(name: DialectName) -> String {
    serde_json::to_value(name)
        .ok()
        .and_then(|word| word.as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn failed(why: String) -> Ending {
    Ending::saying(TaskState::Failed, why)
}

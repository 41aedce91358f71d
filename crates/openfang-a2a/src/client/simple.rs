//! A small client for programs that send a text to an agent and read the task: one call each.

use std::time::Duration;

use futures_util::StreamExt as _;
use openfang_egress::http::{HttpConfig, HttpDoor};
use openfang_types::config::ExternalAgent;
use openfang_types::ids::{ContextId, IdError, TaskName};
use openfang_types::limits::{A2A_CLIENT_TIMEOUT, A2A_DISCOVERIES};
use openfang_types::task::{Message, Role};
use tokio::time::timeout;
use uuid::Uuid;

use super::agent::{Outgoing, RemoteAgent};
use super::call::Reply;
use super::error::ClientError;
use super::follow::RemoteEvent;
use super::interface::{Binding, Interface};
use super::settings::RemoteSettings;
use crate::card::AgentCard;
use crate::dialect::{A2aTask, Dialect};
use crate::operation::{HistoryLength, Operation, ReplyMode, SendMessage};
use crate::peer::{AnswerError, PeerAnswer};

/// A client that asks agents by their URLs. The URLs are the program's own: they may lead to this machine and to private
/// networks. Clones share connections.
#[derive(Clone)]
pub struct A2aClient {
    /// Always there: only extra trust roots can be wrong, and there are none.
    door: Option<HttpDoor>,
    timeout: Duration,
}

impl A2aClient {
    /// A client that waits 30 seconds for an answer.
    pub fn new() -> Self {
        Self { door: HttpDoor::new(HttpConfig::default()).ok(), timeout: A2A_CLIENT_TIMEOUT }
    }

    /// Fetches the card of an agent, from the URL itself or from the paths below it that the versions of A2A define.
    pub async fn discover(&self, url: &str) -> Result<AgentCard, ClientError> {
        let found = self.agent(url)?.discover().await?;
        let card = found.card.as_ref().ok_or_else(|| unreadable("the agent has no card"))?;
        Ok(AgentCard::from(&**card))
    }

    /// Sends a text to an agent and returns its task. An agent that does not know the method `tasks/send` is asked in the
    /// version that it speaks, and its work is followed as long as the client waits.
    pub async fn send_task(&self, url: &str, message: &str, session_id: Option<&str>) -> Result<A2aTask, ClientError> {
        let agent = self.agent(url)?;
        let id = Uuid::new_v4().to_string().parse().map_err(not_sent)?;
        let context_id: Option<ContextId> = session_id.map(str::parse).transpose().map_err(not_sent)?;
        let message = Message { context_id, ..Message::text(id, Role::User, message) };
        let sending = SendMessage {
            message: message.clone(),
            task: None,
            accepted_output_modes: Vec::new(),
            history: HistoryLength::default(),
            answer: ReplyMode::Settled,
            push: None,
        };
        match self.documented(&agent, url, Operation::Send(Box::new(sending))).await {
            Err(error) if error.refusal().is_some_and(|refusal| refusal.had_no_effect()) => {
                self.follow(&agent, message).await
            }
            answered => answered,
        }
    }

    /// Reads a task of an agent.
    pub async fn get_task(&self, url: &str, task_id: &str) -> Result<A2aTask, ClientError> {
        let agent = self.agent(url)?;
        let task: TaskName = task_id.parse().map_err(not_sent)?;
        let operation = Operation::Get { task: task.clone(), history: HistoryLength::default() };
        match self.documented(&agent, url, operation).await {
            Err(error) if error.refusal().is_some_and(|refusal| refusal.had_no_effect()) => {
                Ok(A2aTask::of_peer(&agent.get_task(&task).await?))
            }
            answered => answered,
        }
    }

    fn agent(&self, url: &str) -> Result<RemoteAgent, ClientError> {
        let door = self
            .door
            .clone()
            .ok_or_else(|| ClientError::NotSent("there is no HTTP client".to_owned()))?;
        let settings = RemoteSettings { timeout: self.timeout, total: self.timeout, ..RemoteSettings::operator(url) };
        RemoteAgent::new(door, settings).map_err(|error| ClientError::NotSent(error.to_string()))
    }

    /// Asks with the method that this client has always used.
    async fn documented(&self, agent: &RemoteAgent, url: &str, operation: Operation) -> Result<A2aTask, ClientError> {
        let (binding, dialect) = (Binding::JsonRpc, Dialect::V01);
        let interface = Interface { url: url.to_owned(), binding, dialect, tenant: None };
        match agent.call(&interface, self.timeout, Some(self.timeout)).perform(operation).await? {
            Reply::Answer(PeerAnswer::Task(task)) => Ok(A2aTask::of_peer(&task)),
            Reply::Answer(PeerAnswer::Message(reply)) => Ok(A2aTask::of_reply(&reply.message)),
            Reply::Answer(_) | Reply::Stream(_) => Err(unreadable("it is not a task")),
        }
    }

    /// Sends a message in the agent's own version and waits until its task has settled, or the time is over.
    async fn follow(&self, agent: &RemoteAgent, message: Message) -> Result<A2aTask, ClientError> {
        let mut follower = agent.send(Outgoing::new(message)).await?;
        let mut reply = None;
        let following = async {
            while let Some(event) = follower.next().await? {
                if let RemoteEvent::Replied(message) = event {
                    reply = Some(message);
                }
            }
            Ok::<_, ClientError>(())
        };
        if let Ok(ended) = timeout(self.timeout / 2, following).await {
            ended?;
        }
        let task = follower.task().map(A2aTask::of_peer);
        task.or_else(|| reply.map(|message| A2aTask::of_reply(&message)))
            .ok_or_else(|| unreadable("the agent named no task in time"))
    }
}

impl Default for A2aClient {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for A2aClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("A2aClient").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

/// Fetches the cards of these agents at the same time. Agents that cannot be found are logged and left out.
pub async fn discover_external_agents(agents: &[ExternalAgent]) -> Vec<(String, AgentCard)> {
    let client = A2aClient::new();
    let discoveries = agents.iter().map(|agent| {
        let client = &client;
        async move {
            match client.discover(&agent.url).await {
                Ok(card) => {
                    tracing::info!(name = %agent.name, url = %agent.url, skills = card.skills.len(), "found an external agent");
                    Some((agent.name.to_string(), card))
                }
                Err(error) => {
                    tracing::warn!(name = %agent.name, %error, "an external agent was not found");
                    None
                }
            }
        }
    });
    let found: Vec<_> = futures_util::stream::iter(discoveries).buffered(A2A_DISCOVERIES).collect().await;
    found.into_iter().flatten().collect()
}

fn not_sent(error: IdError) -> ClientError {
    ClientError::NotSent(error.to_string())
}

fn unreadable(why: &str) -> ClientError {
    ClientError::Unreadable(AnswerError::Unreadable { at: String::new(), why: why.to_owned() })
}

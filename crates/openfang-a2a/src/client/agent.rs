//! An agent on another server.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use openfang_egress::http::HttpDoor;
use openfang_types::ids::{ContextId, TaskName};
use openfang_types::limits::{A2A_CANCEL_TOTAL, A2A_CARD_REFETCH, HTTP_TOTAL};
use openfang_types::task::Message;
use tokio::time::Instant;

use super::call::{Call, Reply};
use super::discovery::Discovery;
use super::error::ClientError;
use super::follow::Follower;
use super::interface::Interface;
use super::settings::{RemoteSettings, SettingsError};
use super::site::Site;
use crate::operation::{HistoryLength, ListTasks, Operation, PushNotificationConfig};
use crate::peer::{AnswerError, PeerAnswer, PeerPage, PeerTask};

/// An agent on another server. Clones are cheap and share what is known about the agent.
#[derive(Clone)]
pub struct RemoteAgent {
    inner: Arc<Inner>,
    /// Headers of each request, such as the trace.
    extra: HeaderMap,
}

struct Inner {
    site: Site,
    settings: RemoteSettings,
    known: Mutex<Option<Arc<Discovery>>>,
    /// Held during a discovery, so that a second one waits for the first.
    discovering: tokio::sync::Mutex<()>,
    /// When the agent last did not understand a request.
    relearned: Mutex<Option<Instant>>,
}

/// A message to an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// The message. Its context is the agent's id of the conversation.
    pub message: Message,
    /// The task that the message continues, by the agent's id.
    pub task: Option<TaskName>,
    /// The media types that the caller can read. Empty means any.
    pub accepted_output_modes: Vec<String>,
    /// Where the agent may push the changes of the task.
    pub push: Option<PushNotificationConfig>,
}

impl Outgoing {
    /// A message that starts a task.
    pub const fn new(message: Message) -> Self {
        Self { message, task: None, accepted_output_modes: Vec::new(), push: None }
    }

    /// A message that continues a task.
    pub fn continuing(message: Message, task: TaskName) -> Self {
        Self { task: Some(task), ..Self::new(message) }
    }
}

impl RemoteAgent {
    /// An agent with these settings. Nothing is sent yet.
    pub fn new(door: HttpDoor, settings: RemoteSettings) -> Result<Self, SettingsError> {
        let site = Site::new(door, &settings)?;
        let inner = Inner {
            site,
            settings,
            known: Mutex::default(),
            discovering: tokio::sync::Mutex::default(),
            relearned: Mutex::default(),
        };
        Ok(Self { inner: Arc::new(inner), extra: HeaderMap::new() })
    }

    /// The same agent, asked with one more header, such as `traceparent`. The header is not a secret.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.extra.insert(name, value);
        self
    }

    /// What is known about the agent, whether it is fresh or not.
    pub fn known(&self) -> Option<Arc<Discovery>> {
        self.inner.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What is known about the agent. The card is fetched if it is not known or not fresh any more.
    pub async fn discover(&self) -> Result<Arc<Discovery>, ClientError> {
        match self.known().filter(|known| known.is_fresh()) {
            Some(known) => Ok(known),
            None => self.refresh().await,
        }
    }

    /// Sends a message and follows what becomes of it. When this returns, the agent has answered or begun to.
    pub async fn send(&self, outgoing: Outgoing) -> Result<Follower, ClientError> {
        let discovery = self.current().await?;
        let (discovery, reply) = match self.deliver(&discovery, &outgoing).await {
            Ok(reply) => (discovery, reply),
            Err(error) => {
                let Some(learned) = self.relearn(&discovery, &error).await else { return Err(error) };
                let reply = self.deliver(&learned, &outgoing).await?;
                (learned, reply)
            }
        };
        let continued = outgoing.task.clone();
        Follower::new(self.clone(), discovery, continued).begin(reply).await
    }

    /// Follows a task that the agent is known to have, for example after a restart.
    pub async fn follow(&self, task: TaskName, context: Option<ContextId>) -> Result<Follower, ClientError> {
        let discovery = self.current().await?;
        Ok(Follower::new(self.clone(), discovery, None).resume(task, context))
    }

    /// Reads one task of the agent.
    pub async fn get_task(&self, task: &TaskName) -> Result<PeerTask, ClientError> {
        let discovery = self.current().await?;
        match self.get_with(&discovery, task).await {
            Err(error) => match self.relearn(&discovery, &error).await {
                Some(learned) => self.get_with(&learned, task).await,
                None => Err(error),
            },
            found => found,
        }
    }

    /// One page of the caller's tasks.
    pub async fn list_tasks(&self, listing: ListTasks) -> Result<PeerPage, ClientError> {
        let discovery = self.current().await?;
        match self.short(&discovery.interface).perform(Operation::List(listing)).await? {
            Reply::Answer(PeerAnswer::Tasks(page)) => Ok(page),
            Reply::Answer(_) | Reply::Stream(_) => Err(unexpected("a list of tasks")),
        }
    }

    /// Cancels a task. The answer is the task as it is then.
    pub async fn cancel(&self, task: &TaskName) -> Result<PeerTask, ClientError> {
        let discovery = self.current().await?;
        self.cancel_with(&discovery, task).await
    }

    pub(super) fn site(&self) -> &Site {
        &self.inner.site
    }

    /// The settings of the agent.
    pub fn settings(&self) -> &RemoteSettings {
        &self.inner.settings
    }

    pub(super) const fn extra(&self) -> &HeaderMap {
        &self.extra
    }

    pub(super) fn discovering(&self) -> &tokio::sync::Mutex<()> {
        &self.inner.discovering
    }

    /// Whether the agent may be looked at again because it did not understand a request. The answer is yes at most once a
    /// minute.
    pub(super) fn may_relearn(&self) -> bool {
        let mut relearned = self.inner.relearned.lock().unwrap_or_else(PoisonError::into_inner);
        let is_soon = relearned.is_some_and(|at| at.elapsed() < A2A_CARD_REFETCH);
        if !is_soon {
            *relearned = Some(Instant::now());
        }
        !is_soon
    }

    /// Remembers what was found out.
    pub(super) fn remember(&self, discovery: Discovery) -> Arc<Discovery> {
        let discovery = Arc::new(discovery);
        *self.inner.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&discovery));
        discovery
    }

    /// What is known, or found out now. A card that is not fresh is still used: who refreshes it does so in the
    /// background.
    pub(super) async fn current(&self) -> Result<Arc<Discovery>, ClientError> {
        match self.known() {
            Some(known) => Ok(known),
            None => self.refresh().await,
        }
    }

    /// A request whose answer comes soon.
    pub(super) fn short<'a>(&'a self, interface: &'a Interface) -> Call<'a> {
        self.call(interface, self.inner.settings.timeout, Some(HTTP_TOTAL))
    }

    pub(super) fn call<'a>(
        &'a self,
        interface: &'a Interface,
        first_byte: Duration,
        total: Option<Duration>,
    ) -> Call<'a> {
        Call {
            site: &self.inner.site,
            interface,
            extensions: &self.inner.settings.extensions,
            extra: &self.extra,
            first_byte,
            total,
            resume_after: None,
        }
    }

    pub(super) async fn get_with(&self, discovery: &Discovery, task: &TaskName) -> Result<PeerTask, ClientError> {
        let operation = Operation::Get { task: task.clone(), history: HistoryLength::default() };
        task_of(self.short(&discovery.interface).perform(operation).await?)
    }

    pub(super) async fn cancel_with(&self, discovery: &Discovery, task: &TaskName) -> Result<PeerTask, ClientError> {
        let limit = A2A_CANCEL_TOTAL;
        let call = self.call(&discovery.interface, limit, Some(limit));
        task_of(call.perform(Operation::Cancel { task: task.clone() }).await?)
    }

    pub(super) async fn subscribe_with(
        &self,
        discovery: &Discovery,
        task: &TaskName,
        resume_after: Option<&str>,
    ) -> Result<Reply, ClientError> {
        let call = Call { resume_after, ..self.call(&discovery.interface, self.inner.settings.timeout, None) };
        call.perform(Operation::Subscribe { task: task.clone() }).await
    }
}

impl std::fmt::Debug for RemoteAgent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RemoteAgent")
            .field("origin", &self.inner.site.home())
            .finish_non_exhaustive()
    }
}

fn task_of(reply: Reply) -> Result<PeerTask, ClientError> {
    match reply {
        Reply::Answer(PeerAnswer::Task(task)) => Ok(*task),
        Reply::Answer(_) | Reply::Stream(_) => Err(unexpected("a task")),
    }
}

fn unexpected(what: &str) -> ClientError {
    ClientError::Unreadable(AnswerError::Unreadable { at: String::new(), why: format!("it is not {what}") })
}

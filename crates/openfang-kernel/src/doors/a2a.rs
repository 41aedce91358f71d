//! The kernel as a host for A2A peers: tasks under the names that peers give them, refusals in A2A's own terms.

use std::sync::Arc;
use std::time::Duration;

use openfang_a2a::answer::{NamedTask, TaskPushConfig};
use openfang_a2a::card::CardForm;
use openfang_a2a::error::A2aError;
use openfang_a2a::host::{AgentHost, Follower, HostFuture, SendOutcome, TaskMatches};
use openfang_a2a::operation::{HistoryLength, ListTasks, PushNotificationConfig, SendMessage};
use openfang_a2a::server::{Offers, Server};
use openfang_store::{StoreError, TaskRecord};
use openfang_types::config::Config;
use openfang_types::event::{Seq, StreamItem, Until};
use openfang_types::ids::{AgentName, TaskId, TaskName};
use openfang_types::limits::{PAGE_DEFAULT_TASKS, PAGE_MAX_TASKS};
use openfang_types::task::{Origin, TaskParts};
use serde_json::value::RawValue;

use crate::doors::Doors;
use crate::tasks::Tasks;
use crate::tasks::list::TaskFilter;
use crate::tasks::streams::{Begin, Follow, TaskStream};
use crate::{Caller, KernelError};

use refusals::refused;

mod refusals;
mod send;

/// The A2A server of this house.
pub type A2aServer = Server<A2aHost>;

/// The kernel, as a host for A2A peers.
pub struct A2aHost {
    doors: Doors,
}

impl Doors {
    /// An A2A server on this kernel, if this config wants one.
    pub(crate) fn a2a_server(&self, config: &Config) -> Option<A2aServer> {
        let a2a = config.a2a()?;
        let offers = Offers {
            streaming: a2a.streaming,
            push: a2a.push_notifications,
            extended_card: a2a.extended_card,
            required_extensions: a2a.required_extensions.clone(),
            keep_alive: Duration::from_secs(config.limits.stream_keep_alive_secs),
        };
        Some(Server::new(Arc::new(A2aHost { doors: self.clone() }), offers))
    }
}

impl A2aHost {
    fn room(&self) -> &Tasks {
        &self.doors.inner.tasks
    }

    /// One's own task under a peer's name for it: our id, or one of its own making.
    async fn named(&self, caller: &Caller, name: &TaskName) -> Result<TaskRecord, A2aError> {
        let found = self.found(caller, name).await;
        if matches!(found, Err(A2aError::TaskNotFound)) {
            self.doors.inner.unknown_tasks.inc();
        }
        found
    }

    /// The same for a name that may well be new.
    async fn found(&self, caller: &Caller, name: &TaskName) -> Result<TaskRecord, A2aError> {
        if let Ok(id) = name.as_str().parse() {
            match self.room().record(caller, id).await {
                Err(KernelError::UnknownTask(_)) => {}
                found => return found.map_err(refused),
            }
        }
        match self.room().find(caller, name).await {
            Ok(id) => self.room().record(caller, id).await.map_err(refused),
            Err(StoreError::NotFound) => Err(A2aError::TaskNotFound),
            Err(error) => Err(refused(error.into())),
        }
    }

    async fn held(&self, caller: &Caller, id: TaskId) -> Result<NamedTask, A2aError> {
        self.room().record(caller, id).await.map(held).map_err(refused)
    }
}

fn held(record: TaskRecord) -> NamedTask {
    NamedTask { task: record.task, origin: record.origin, peer_name: record.peer_name }
}

impl AgentHost for A2aHost {
    type Caller = Caller;

    fn agent(&self, caller: &Caller, named: &str) -> Option<AgentName> {
        let name = named.parse().ok()?;
        self.doors
            .inner
            .settings()
            .agent(&caller.principal, &name)
            .ok()
            .map(|agent| agent.manifest.name.clone())
    }

    fn send<'a>(
        &'a self,
        caller: &'a Caller,
        to: Option<AgentName>,
        sending: SendMessage,
        origin: Origin,
    ) -> HostFuture<'a, SendOutcome> {
        Box::pin(self.take_in(caller, to, sending, origin))
    }

    fn task<'a>(
        &'a self,
        caller: &'a Caller,
        of: Option<&'a AgentName>,
        name: &'a TaskName,
    ) -> HostFuture<'a, NamedTask> {
        Box::pin(async move {
            let record = self.named(caller, name).await?;
            let is_there = of.is_none_or(|agent| record.task.agent == *agent);
            if is_there { Ok(held(record)) } else { Err(A2aError::TaskNotFound) }
        })
    }

    fn tasks<'a>(
        &'a self,
        caller: &'a Caller,
        of: Option<AgentName>,
        listing: ListTasks,
    ) -> HostFuture<'a, TaskMatches> {
        Box::pin(async move {
            let page_size = listing.page_size.unwrap_or(PAGE_DEFAULT_TASKS).clamp(1, PAGE_MAX_TASKS);
            let filter = TaskFilter {
                agent: of,
                state: listing.state,
                context_id: listing.context_id,
                changed_since: listing.changed_since,
                page_size: Some(page_size),
                page_token: listing.page_token.filter(|token| !token.is_empty()),
                parts: TaskParts {
                    status_message: true,
                    history: listing.history != HistoryLength(Some(0)),
                    artifacts: listing.include_artifacts,
                },
            };
            let page = self.room().records(caller, filter).await.map_err(refused)?;
            Ok(TaskMatches {
                tasks: page.tasks.into_iter().map(held).collect(),
                next_page_token: page.next_page_token,
                page_size,
                total: page.total,
            })
        })
    }

    fn cancel<'a>(&'a self, caller: &'a Caller, held: &'a NamedTask) -> HostFuture<'a, NamedTask> {
        Box::pin(async move {
            let task = self.room().cancel_task(caller, held.task.id).await.map_err(refused)?;
            Ok(NamedTask { task, ..held.clone() })
        })
    }

    fn follow<'a>(
        &'a self,
        caller: &'a Caller,
        held: &'a NamedTask,
        after: Option<Seq>,
        until: Until,
    ) -> HostFuture<'a, Box<dyn Follower>> {
        Box::pin(async move {
            let begin = after.map_or(Begin::Now, Begin::AsOf);
            let stream = self.room().follow(caller, held.task.id, Follow { begin, until }).await;
            Ok(Box::new(stream.map_err(refused)?) as Box<dyn Follower>)
        })
    }

    fn set_push<'a>(
        &'a self,
        caller: &'a Caller,
        held: &'a NamedTask,
        config: PushNotificationConfig,
        origin: Origin,
    ) -> HostFuture<'a, TaskPushConfig> {
        Box::pin(async move { self.room().set_push(caller, held.task.id, config, origin).await.map_err(refused) })
    }

    fn pushes<'a>(&'a self, caller: &'a Caller, held: &'a NamedTask) -> HostFuture<'a, Vec<TaskPushConfig>> {
        Box::pin(async move { self.room().pushes(caller, held.task.id).await.map_err(refused) })
    }

    fn delete_push<'a>(&'a self, caller: &'a Caller, held: &'a NamedTask, id: &'a str) -> HostFuture<'a, ()> {
        Box::pin(async move { self.room().delete_push(caller, held.task.id, id).await.map_err(refused) })
    }

    fn extended_card(&self, caller: &Caller, of: Option<&AgentName>, is_strict: bool) -> Option<Box<RawValue>> {
        let form = if is_strict { CardForm::Strict } else { CardForm::Superset };
        if of.is_none() {
            // The placeholder of a house without agents is for strangers.
            self.doors.default_agent(Some(&caller.principal))?;
        }
        let card = self.doors.card(Some(&caller.principal), of, form)?;
        serde_json::from_slice(&card.body).ok()
    }
}

impl Follower for TaskStream {
    fn next(&mut self) -> HostFuture<'_, Option<StreamItem>> {
        Box::pin(async move { Self::next(self).await.map_err(refused) })
    }
}

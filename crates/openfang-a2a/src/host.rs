//! The interface the A2A server needs from its host. The kernel implements it.

use futures_util::future::BoxFuture;
use openfang_types::event::{Seq, StreamItem, Until};
use openfang_types::ids::{AgentName, TaskName};
use openfang_types::task::{Message, Origin};
use serde_json::value::RawValue;

use crate::answer::{NamedTask, TaskPushConfig};
use crate::error::A2aError;
use crate::operation::{ListTasks, PushNotificationConfig, SendMessage};

/// What a host call returns.
pub type HostFuture<'a, T> = BoxFuture<'a, Result<T, A2aError>>;

/// The tasks, agents and push configurations of callers that are already authenticated.
pub trait AgentHost: Send + Sync + 'static {
    /// The authenticated caller of a request.
    type Caller: Clone + Send + Sync + 'static;

    /// The agent with the name a peer used, if the caller may see it.
    fn agent(&self, caller: &Self::Caller, named: &str) -> Option<AgentName>;
    /// Accepts a message and waits as it asks. Without an agent, the message goes to the agent of the task it
    /// continues, otherwise to the default agent.
    fn send<'a>(
        &'a self,
        caller: &'a Self::Caller,
        to: Option<AgentName>,
        sending: SendMessage,
        origin: Origin,
    ) -> HostFuture<'a, SendOutcome>;
    /// A task of the caller. With an agent, only a task of that agent.
    fn task<'a>(
        &'a self,
        caller: &'a Self::Caller,
        of: Option<&'a AgentName>,
        name: &'a TaskName,
    ) -> HostFuture<'a, NamedTask>;
    /// The caller's own tasks.
    fn tasks<'a>(
        &'a self,
        caller: &'a Self::Caller,
        of: Option<AgentName>,
        listing: ListTasks,
    ) -> HostFuture<'a, TaskMatches>;
    /// Cancels a task that is running.
    fn cancel<'a>(&'a self, caller: &'a Self::Caller, task: &'a NamedTask) -> HostFuture<'a, NamedTask>;
    /// Follows a task from its current state. With `after`, it replays the state after that event and continues from
    /// there.
    fn follow<'a>(
        &'a self,
        caller: &'a Self::Caller,
        task: &'a NamedTask,
        after: Option<Seq>,
        until: Until,
    ) -> HostFuture<'a, Box<dyn Follower>>;
    /// Adds a push configuration, or replaces the one of the same id.
    fn set_push<'a>(
        &'a self,
        caller: &'a Self::Caller,
        task: &'a NamedTask,
        config: PushNotificationConfig,
        origin: Origin,
    ) -> HostFuture<'a, TaskPushConfig>;
    /// The push configurations of a task, oldest first.
    fn pushes<'a>(&'a self, caller: &'a Self::Caller, task: &'a NamedTask) -> HostFuture<'a, Vec<TaskPushConfig>>;
    /// Deletes a push configuration. A missing one is not an error.
    fn delete_push<'a>(&'a self, caller: &'a Self::Caller, task: &'a NamedTask, id: &'a str) -> HostFuture<'a, ()>;
    /// The extended card of an agent, or of the default agent, with everything this caller may use.
    fn extended_card(&self, caller: &Self::Caller, of: Option<&AgentName>, is_strict: bool) -> Option<Box<RawValue>>;
}

/// The result of sending a message.
pub enum SendOutcome {
    /// A message without a task.
    Reply(Message),
    /// A task in its current state.
    Task(Box<NamedTask>),
    /// A task and its further changes.
    Stream(Box<NamedTask>, Box<dyn Follower>),
}

/// The tasks that match a filter, one page of them.
pub struct TaskMatches {
    /// Sorted by their latest change, newest first.
    pub tasks: Vec<NamedTask>,
    /// The token of the next page, if there is one.
    pub next_page_token: Option<String>,
    /// The maximum number of tasks on a page.
    pub page_size: usize,
    /// The number of tasks on all pages.
    pub total: usize,
}

/// Follows the changes of one task.
pub trait Follower: Send {
    /// The next item; none at the end. The future can be dropped at any time.
    fn next(&mut self) -> HostFuture<'_, Option<StreamItem>>;
}

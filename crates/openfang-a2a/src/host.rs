//! What the A2A server needs from above. The kernel implements it.

use futures_util::future::BoxFuture;
use openfang_types::event::{Seq, StreamItem, Until};
use openfang_types::ids::{AgentName, TaskName};
use openfang_types::task::{Message, Origin};
use serde_json::value::RawValue;

use crate::answer::{Held, Push};
use crate::error::A2aError;
use crate::operation::{Listing, NewPush, Sending};

/// What a host call returns.
pub type HostFuture<'a, T> = BoxFuture<'a, Result<T, A2aError>>;

/// Tasks, agents and push configurations, for callers that are known already.
pub trait AgentHost: Send + Sync + 'static {
    /// Who is asking.
    type Caller: Clone + Send + Sync + 'static;

    /// The agent that a peer names, if it is there for this caller.
    fn agent(&self, caller: &Self::Caller, named: &str) -> Option<AgentName>;
    /// Takes a message in, and waits as it says. Without an agent it goes to that of the task it continues, else to
    /// the default one.
    fn send<'a>(
        &'a self,
        caller: &'a Self::Caller,
        to: Option<AgentName>,
        sending: Sending,
        origin: Origin,
    ) -> HostFuture<'a, Sent>;
    /// One's own task; with an agent only if it is that agent's.
    fn task<'a>(
        &'a self,
        caller: &'a Self::Caller,
        of: Option<&'a AgentName>,
        name: &'a TaskName,
    ) -> HostFuture<'a, Held>;
    /// One's own tasks.
    fn tasks<'a>(&'a self, caller: &'a Self::Caller, of: Option<AgentName>, listing: Listing)
    -> HostFuture<'a, Listed>;
    /// Stops a task.
    fn cancel<'a>(&'a self, caller: &'a Self::Caller, held: &'a Held) -> HostFuture<'a, Held>;
    /// Follows a task: from where it stands, or as it stood after an event and then what came after it.
    fn follow<'a>(
        &'a self,
        caller: &'a Self::Caller,
        held: &'a Held,
        after: Option<Seq>,
        until: Until,
    ) -> HostFuture<'a, Box<dyn Follower>>;
    /// Adds a push configuration, or replaces the one of the same id.
    fn set_push<'a>(
        &'a self,
        caller: &'a Self::Caller,
        held: &'a Held,
        config: NewPush,
        origin: Origin,
    ) -> HostFuture<'a, Push>;
    /// The push configurations of a task, those made first first.
    fn pushes<'a>(&'a self, caller: &'a Self::Caller, held: &'a Held) -> HostFuture<'a, Vec<Push>>;
    /// Takes a push configuration away; one that is not there is no error.
    fn delete_push<'a>(&'a self, caller: &'a Self::Caller, held: &'a Held, id: &'a str) -> HostFuture<'a, ()>;
    /// The card of an agent, or of the default one, with all that this caller may use.
    fn extended_card(&self, caller: &Self::Caller, of: Option<&AgentName>, is_strict: bool) -> Option<Box<RawValue>>;
}

/// What a message led to.
pub enum Sent {
    /// A message, and no task.
    Reply(Message),
    /// A task, as it stands.
    Task(Box<Held>),
    /// A task, and what happens to it.
    Stream(Box<Held>, Box<dyn Follower>),
}

/// A page of tasks.
pub struct Listed {
    /// Latest change first.
    pub tasks: Vec<Held>,
    /// Leads to the next page, if there is one.
    pub next_page_token: Option<String>,
    /// How many fit on a page.
    pub page_size: usize,
    /// How many there are on all pages.
    pub total: usize,
}

/// A task that is being followed.
pub trait Follower: Send {
    /// The next item; none when it is over. Safe to drop at any time.
    fn next(&mut self) -> HostFuture<'_, Option<StreamItem>>;
}

//! What the server needs from above: somebody who has tools, prompts and resources, and speaks the newest revision.
//!
//! A host never asks its client: where it needs something it returns [`Outcome::NeedsInput`] and is called again
//! with the answers. How the client is asked depends on its era, and is the server's business.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::Stream;
use serde_json::value::RawValue;

use openfang_types::call::{Capability, ClientCapabilities};
pub use openfang_types::call::{InputRequest, InputRequired, Outcome, Resumed};
use openfang_types::content::ToolOutput;

use crate::call_task::CallTask;
use crate::client_name::ClientName;
use crate::content::{Completion, PromptResult, ResourceContents};
use crate::error::McpError;
use crate::listing::{Listed, Listing};
use crate::revision::Era;
use crate::server::Reporter;

pub use journal::{EndedSession, Forgetful, JournalFuture, SessionJournal};

mod journal;

/// What a host's method returns.
pub type HostFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, McpError>> + Send + 'a>>;
/// Ticks when there is something new.
pub type Ticks = Pin<Box<dyn Stream<Item = ()> + Send>>;
/// What changes, as it changes.
pub type Changes = Pin<Box<dyn Stream<Item = Change> + Send>>;

/// Whoever has tools, prompts and resources.
pub trait Host: Send + Sync + 'static {
    /// Who is calling, as the door found out.
    type Caller: Clone + Send + Sync + 'static;

    /// Who this is, as far as it is known by now.
    fn identity(&self) -> Arc<Identity>;

    /// What there is for a caller.
    fn offers(&self, caller: &Self::Caller) -> Offers;

    /// Whose sessions and states these are; no other owner can use them.
    fn owner(&self, caller: &Self::Caller) -> String;

    /// Which of the owner's credentials speaks, with its label: what one is asked, no other answers.
    fn credential(&self, caller: &Self::Caller) -> String {
        self.owner(caller)
    }

    /// What narrows the caller, such as the name of a profile. Sessions and states are good in the scope that they began in.
    fn scope(&self, _: &Self::Caller) -> String {
        String::new()
    }

    /// Whether some tool asks for headers that repeat its arguments; if so, calls are held against the list.
    fn has_mirrored_arguments(&self) -> bool {
        true
    }

    /// The tools a caller may use.
    fn tools<'a>(&'a self, caller: &'a Self::Caller) -> HostFuture<'a, Arc<Listing>>;

    /// Calls a tool. `arguments` is an object or absent.
    fn call_tool<'a>(
        &'a self,
        call: Call<'a, Self::Caller>,
        name: &'a str,
        arguments: Option<&'a RawValue>,
    ) -> HostFuture<'a, ToolAnswer>;

    /// A page of the calls of the caller that became tasks.
    fn call_tasks<'a>(&'a self, _: Call<'a, Self::Caller>, _: Option<&'a str>) -> HostFuture<'a, CallTaskPage> {
        Box::pin(async { Ok(CallTaskPage::default()) })
    }

    /// How a task stands that a call became.
    fn task<'a>(&'a self, _: Call<'a, Self::Caller>, id: &'a str) -> HostFuture<'a, CallTask> {
        Box::pin(async move { Err(McpError::unknown_task(id)) })
    }

    /// The same, once nobody works on it: it has ended, or asks for something.
    fn settled_task<'a>(&'a self, call: Call<'a, Self::Caller>, id: &'a str) -> HostFuture<'a, CallTask> {
        self.task(call, id)
    }

    /// Gives a task answers to its questions. Those that nobody asked for are left out.
    fn answer_task<'a>(
        &'a self,
        _: Call<'a, Self::Caller>,
        id: &'a str,
        _: BTreeMap<String, Box<RawValue>>,
    ) -> HostFuture<'a, ()> {
        Box::pin(async move { Err(McpError::unknown_task(id)) })
    }

    /// Cancels a task, and returns how it stands then. One that has ended stays as it is.
    fn cancel_task<'a>(&'a self, call: Call<'a, Self::Caller>, id: &'a str) -> HostFuture<'a, CallTask> {
        self.task(call, id)
    }

    /// Ticks at once, and whenever a task of the caller may stand otherwise. None where nobody tells.
    fn task_changes(&self, _: Call<'_, Self::Caller>, _: &str) -> Option<Ticks> {
        None
    }

    /// The prompts a caller may use.
    fn prompts<'a>(&'a self, caller: &'a Self::Caller) -> HostFuture<'a, Arc<Listing>>;

    /// Fills a prompt in.
    fn prompt<'a>(
        &'a self,
        call: Call<'a, Self::Caller>,
        name: &'a str,
        arguments: &'a BTreeMap<String, String>,
    ) -> HostFuture<'a, Outcome<PromptResult>>;

    /// A page of the resources a caller may read.
    fn resources<'a>(&'a self, caller: &'a Self::Caller, cursor: Option<&'a str>) -> HostFuture<'a, ResourcePage>;

    /// The patterns of resources.
    fn templates<'a>(&'a self, caller: &'a Self::Caller) -> HostFuture<'a, Arc<Listing>>;

    fn read<'a>(&'a self, call: Call<'a, Self::Caller>, uri: &'a str) -> HostFuture<'a, Outcome<ResourceContents>>;

    /// The skills a caller may read, by the URIs of their instructions.
    fn skills<'a>(&'a self, _: &'a Self::Caller) -> HostFuture<'a, Arc<Listing>> {
        Box::pin(async { Ok(Arc::new(Listing::new(Listed::Skills, Vec::new()))) })
    }

    /// What lies directly in a directory of resources.
    fn directory<'a>(&'a self, _: &'a Self::Caller, uri: &'a str) -> HostFuture<'a, Arc<Listing>> {
        Box::pin(async move { Err(McpError::no_directory(uri)) })
    }

    fn complete<'a>(&'a self, caller: &'a Self::Caller, asked: Completing<'a>) -> HostFuture<'a, Completion>;

    /// Tells of changes until the stream is dropped. A resource that the caller may not read never changes.
    fn changes(&self, caller: &Self::Caller, wanted: &ChangeFilter) -> Changes;
}

/// Who a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub name: String,
    /// What it is called, for people; empty where it has no such name.
    pub title: String,
    pub version: String,
    /// What a model should know about it.
    pub instructions: Option<String>,
    /// Which OpenFang it is, so that none becomes its own server.
    pub instance: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a capability of its own, declared or not")]
pub struct Offers {
    pub tools: bool,
    pub prompts: bool,
    pub resources: bool,
    /// Resources can be subscribed to.
    pub subscriptions: bool,
    pub completions: bool,
    pub logging: bool,
    /// Calls can become tasks.
    pub tasks: bool,
    /// Skills can be listed and read.
    pub skills: bool,
}

/// Whether a call becomes a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskChoice {
    Never,
    /// The server decides: what takes long.
    IfLong,
    /// The client counts on it, as in the legacy era.
    Always,
}

/// What a call of a tool is answered with.
#[derive(Debug)]
pub enum ToolAnswer {
    Ended(Outcome<ToolOutput>),
    /// The call goes on as a task; only where [`Call::may_be_task`] says so.
    Task(Box<CallTask>),
}

impl From<Outcome<ToolOutput>> for ToolAnswer {
    fn from(outcome: Outcome<ToolOutput>) -> Self {
        Self::Ended(outcome)
    }
}

/// What surrounds one call.
pub struct Call<'a, C> {
    pub caller: &'a C,
    /// What the client can be asked for.
    pub client: ClientCapabilities,
    pub client_name: ClientName,
    /// The era that the client speaks.
    pub era: Era,
    /// Whether the client wants a task in the place of a result.
    pub task: TaskChoice,
    /// What the client's `_meta` says beyond what the protocol wants there, for passing on.
    pub meta: Option<&'a Arc<RawValue>>,
    /// What the client answered to an earlier [`Outcome::NeedsInput`] of this call.
    pub resumed: Option<&'a Resumed>,
    /// Tells the client how it goes, and says when to stop.
    pub reporter: &'a Arc<Reporter>,
}

impl<C> Clone for Call<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Call<'_, C> {}

impl<C> Call<'_, C> {
    /// Whether the client can be asked for this; the error is for returning.
    pub fn needs(&self, capability: Capability) -> Result<(), McpError> {
        if self.client.has(capability) { Ok(()) } else { Err(McpError::MissingCapability(capability)) }
    }

    /// Whether the client waits for a task in the place of a result.
    pub fn may_be_task(&self) -> bool {
        self.task != TaskChoice::Never
    }

    /// The answer to a request of the round before.
    pub fn answer(&self, key: &str) -> Option<&RawValue> {
        self.resumed?.answers.get(key).map(|raw| &**raw)
    }
}

/// A page of resources.
#[derive(Debug, Clone, Default)]
pub struct ResourcePage {
    /// The resources, each as the newest revision has it.
    pub resources: Vec<Box<RawValue>>,
    /// Leads to the next page.
    pub next_cursor: Option<String>,
}

/// A page of calls that became tasks.
#[derive(Debug, Clone, Default)]
pub struct CallTaskPage {
    pub tasks: Vec<CallTask>,
    /// Leads to the next page.
    pub next_cursor: Option<String>,
}

/// An argument to complete.
#[derive(Debug, Clone, Copy)]
pub struct Completing<'a> {
    pub of: CompletionOf<'a>,
    pub argument: &'a str,
    /// What is there already.
    pub value: &'a str,
    /// What the other arguments are.
    pub context: Option<&'a RawValue>,
}

/// What an argument belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionOf<'a> {
    Prompt(&'a str),
    Template(&'a str),
}

/// What to tell of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangeFilter {
    /// That the tools changed.
    pub tools: bool,
    /// That the prompts changed.
    pub prompts: bool,
    /// That the resources changed.
    pub resources: bool,
    /// That one of these changed.
    pub uris: Vec<String>,
}

impl ChangeFilter {
    /// Whether there is nothing to tell of.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources.
    Resources,
    Resource(String),
}

/// Makes tokens that can be read by anybody and made or changed by nobody else.
pub trait Seal: Send + Sync {
    /// Seals a payload for an owner.
    fn seal(&self, purpose: SealedFor, owner: &str, payload: &[u8]) -> String;

    /// Opens what [`Seal::seal`] made for the same purpose and owner.
    fn open(&self, purpose: SealedFor, owner: &str, token: &str) -> Option<Vec<u8>>;
}

/// What a token is for; one made for one purpose means nothing to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SealedFor {
    Session,
    /// What a host wants back with the answers of a client.
    RequestState,
}

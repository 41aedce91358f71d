//! What a house can do for an MCP peer, wherever it stands: in this process or behind a daemon.

use std::pin::Pin;

use futures_util::Stream;
use openfang_mcp::McpError;
use openfang_mcp::listing::Entry;
use openfang_mcp::server::Reporter;
use openfang_types::call::Outcome;
use openfang_types::content::ToolOutput;
use openfang_types::ids::{AgentName, TaskId, ToolName};
use openfang_types::limits::Limits;
use openfang_types::task::{Message, Part, Task};
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::servers::ServerContents;
use crate::agents::AgentSummary;
use crate::context::WayBack;

/// What a house's method returns.
pub type HouseFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, HouseError>> + Send + 'a>>;
/// Something happened to a task.
pub type Ticks = Pin<Box<dyn Stream<Item = ()> + Send>>;

/// Agents, tools and tasks.
pub trait House: Send + Sync + 'static {
    /// Who is calling.
    type Caller: Clone + Send + Sync + 'static;

    /// Whose tasks these are.
    fn owner(&self, caller: &Self::Caller) -> String;

    /// Which of the owner's credentials speaks, with its label.
    fn credential(&self, caller: &Self::Caller) -> String {
        self.owner(caller)
    }

    /// The limits of what it answers.
    fn limits(&self) -> Limits {
        Limits::default()
    }

    /// Callers with the same word are shown the same, as long as the number is the same; none when that can change at any
    /// time.
    fn audience(&self, caller: &Self::Caller) -> Option<(String, u64)>;

    /// The agents a caller may talk to.
    fn agents<'a>(&'a self, caller: &'a Self::Caller) -> HouseFuture<'a, Vec<AgentSummary>>;

    /// The tools a caller may use, or those that an agent can use for it, as entries of a list.
    fn tools<'a>(&'a self, caller: &'a Self::Caller, through: Option<&'a AgentName>) -> HouseFuture<'a, Vec<Entry>>;

    /// Ticks whenever there are other tools.
    fn tool_changes(&self) -> Ticks;

    /// Ticks whenever there are other agents.
    fn agent_changes(&self) -> Ticks {
        Box::pin(futures_util::stream::pending())
    }

    /// Calls a tool.
    fn call_tool<'a>(
        &'a self,
        caller: &'a Self::Caller,
        request: ToolRequest<'a>,
    ) -> HouseFuture<'a, Outcome<ToolOutput>>;

    /// Sends a message and waits until its task has ended or asks for something.
    fn send<'a>(&'a self, caller: &'a Self::Caller, sending: Sending<'a>) -> HouseFuture<'a, HouseReply>;

    /// A page of one's own tasks, and where the next one begins. Messages and artifacts need not be in them.
    fn tasks<'a>(
        &'a self,
        caller: &'a Self::Caller,
        page: Option<&'a str>,
    ) -> HouseFuture<'a, (Vec<Task>, Option<String>)>;

    /// One's own task.
    fn task<'a>(&'a self, caller: &'a Self::Caller, id: TaskId) -> HouseFuture<'a, Task>;

    /// What MCP servers have besides tools, where the house is connected to them.
    fn servers(&self) -> Option<&dyn ServerContents<Self::Caller>> {
        None
    }

    /// Ticks whenever something happens to one's own task.
    fn follow(&self, caller: &Self::Caller, id: TaskId) -> Ticks;
}

/// A tool call of a client.
pub struct ToolRequest<'a> {
    /// Which tool.
    pub name: &'a ToolName,
    /// What the tool is given.
    pub arguments: Option<&'a RawValue>,
    /// The way back to the client.
    pub back: WayBack,
    /// Fires when the client cancels.
    pub cancel: &'a CancellationToken,
}

/// A message on its way to an agent.
#[derive(Clone, Copy)]
pub struct Sending<'a> {
    /// To whom.
    pub agent: &'a AgentName,
    /// What is said.
    pub parts: &'a [Part],
    /// The task that it continues.
    pub task: Option<TaskId>,
    /// Hears how it goes, and stops it.
    pub reporter: &'a Reporter,
}

/// What came of a message.
#[derive(Debug, Clone)]
pub enum HouseReply {
    /// A task that has ended or asks for something.
    Task(Box<Task>),
    /// An answer that needed none.
    Message(Message),
}

/// Why a house did not do it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HouseError {
    /// There is none, or not for this caller: the two look the same.
    #[error("there is none")]
    Unknown,
    /// Refused or failed, in a sentence a model can act on.
    #[error("{0}")]
    Refused(String),
    /// The place in a list was not one that we named.
    #[error("the page is not valid")]
    BadPage,
    /// The caller canceled.
    #[error("canceled")]
    Canceled,
    /// Too much is under way; waiting helps.
    #[error("{0}")]
    TooMuch(String),
    /// The house cannot be reached; the sentence says what was lost.
    #[error("{0}")]
    Lost(String),
}

impl From<HouseError> for McpError {
    fn from(error: HouseError) -> Self {
        match error {
            HouseError::Unknown => Self::InvalidParams("there is none of that name".to_owned()),
            HouseError::Refused(why) => Self::InvalidParams(why),
            HouseError::BadPage => Self::BadCursor,
            HouseError::Canceled => Self::Canceled,
            HouseError::TooMuch(why) => Self::TooMuch(why),
            HouseError::Lost(what) => Self::Busy(what),
        }
    }
}

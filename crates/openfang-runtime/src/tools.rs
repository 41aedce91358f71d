//! The built-in tools, one file each: name, arguments, definition and code together.
//!
//! A new tool is a file here and a line in [`builtin`]. Tools know nothing about who called them beyond the context
//! they are given, and cannot be called without a [`Permit`].

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use openfang_mcp::client::Withdrawn;
use openfang_store::{EventStore, KeyValueStore, QueueStore, ResultStore, ScheduleStore};
use openfang_types::call::{Arguments, Outcome};
use openfang_types::clock::Clock;
use openfang_types::content::ToolOutput;
use openfang_types::ids::ToolName;
use openfang_types::jsonrpc::ErrorObject;
use openfang_types::taint::{Labels, SinkKind};
use openfang_types::tool::{ToolDefinition, ToolTraits};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::context::CallContext;
use crate::files::Files;
use crate::foreign_agents::{ForeignAgents, ForeignCalls};
use crate::pipeline::Permit;
use crate::programs::{self, Programs};
use crate::web::{self, Web};
use schedules::{schedule_create, schedule_delete, schedule_list};
use work_queue::{task_claim, task_complete, task_list, task_post};

mod a2a_discover;
mod a2a_send;
mod add_numbers;
mod agent_find;
mod agent_list;
mod agent_send;
mod current_time;
mod event_publish;
mod file_list;
mod file_read;
mod file_write;
mod get_counter;
mod get_greeting;
mod image_analyze;
mod is_admin;
mod memory_recall;
mod memory_store;
mod result_read;
mod schedules;
mod shell_exec;
mod web_fetch;
mod web_search;
mod work_queue;

/// What a call returns.
pub type ToolFuture<'a> = BoxFuture<'a, Result<Outcome<ToolOutput>, ToolFailure>>;

/// Something that can be called.
pub trait Tool: Send + Sync {
    /// What it says about itself.
    fn definition(&self) -> ToolDefinition;
    /// What the guards need to know of it; asked once, when it enters the catalogue.
    fn traits(&self) -> ToolTraits {
        ToolTraits::from(&self.definition())
    }
    /// What a call does with these arguments, where not every call of the tool does the same.
    fn sink(&self, _: &Value, usual: SinkKind) -> SinkKind {
        usual
    }
    /// The URL that a call with these arguments asks, where the tool fetches. Without one, the host of a fetch is not known.
    fn target<'v>(&self, _: &'v Value) -> Option<&'v str> {
        None
    }
    /// What the tool itself says about a call before it is made, where it has rules of its own.
    fn review<'a>(&'a self, _: &'a CallContext, _: &'a Value) -> Option<BoxFuture<'a, Result<Review, ToolFailure>>> {
        None
    }
    /// Does it, or says what it needs from the caller first. Checked arguments fit the schema. Every await may be the last.
    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, permit: Permit) -> ToolFuture<'a>;
}

/// What a tool says about a call before it is made.
#[derive(Debug)]
pub struct Review {
    pub ruling: Ruling,
    /// What the call depends on besides its arguments. An approval is for this, too.
    pub subject: String,
}

/// What the rules of a tool say about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    Allow,
    /// A person at this machine decides. The text says why, and which rule would answer it.
    Ask(String),
    /// The call is not made, whoever approves it.
    Refuse(String),
}

/// What the tool could not do, in a sentence its caller can act on.
#[derive(Debug, Clone)]
pub struct ToolFailure {
    why: String,
    of_server: Option<Arc<ErrorObject>>,
    /// The tool was not called: it is not what it was.
    withdrawn: Option<Withdrawn>,
    labels: Labels,
}

impl ToolFailure {
    /// A failure in the tool's own words.
    pub fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), of_server: None, withdrawn: None, labels: Labels::none() }
    }

    /// A failure that a server has reported with this error.
    pub fn reported(why: impl Into<String>, error: ErrorObject) -> Self {
        Self { of_server: Some(Arc::new(error)), ..Self::new(why) }
    }

    /// The tool was not called: when its server was connected, it was not what it had been.
    pub(crate) fn withdrawn(why: Withdrawn) -> Self {
        Self { withdrawn: Some(why), ..Self::new(why.to_string()) }
    }

    /// Why the tool was not called once its server was connected.
    pub(crate) const fn withdrawal(&self) -> Option<Withdrawn> {
        self.withdrawn
    }

    /// The same failure with the labels of whoever worded it.
    #[must_use]
    pub fn labelled(self, labels: Labels) -> Self {
        Self { labels, ..self }
    }

    /// The error that a server has reported.
    pub fn of_server(&self) -> Option<&ErrorObject> {
        self.of_server.as_deref()
    }

    /// Where the words came from.
    pub const fn labels(&self) -> &Labels {
        &self.labels
    }
}

impl PartialEq for ToolFailure {
    fn eq(&self, other: &Self) -> bool {
        let said = |failure: &Self| failure.of_server().map(|error| (error.code, error.message.clone()));
        self.why == other.why && said(self) == said(other) && self.labels == other.labels
    }
}

impl Eq for ToolFailure {}

impl fmt::Display for ToolFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl<E: std::error::Error> From<E> for ToolFailure {
    fn from(error: E) -> Self {
        Self::new(error.to_string())
    }
}

/// What the built-in tools work on.
pub struct Surroundings {
    pub memory: Arc<dyn KeyValueStore>,
    /// The way to agents at URLs.
    pub foreign: Arc<dyn ForeignAgents>,
    /// The way to the web.
    pub web: Arc<dyn Web>,
    /// The way to programs.
    pub programs: Arc<dyn Programs>,
    /// The files of workspaces.
    pub files: Files,
    /// What results lost on their way.
    pub results: Arc<dyn ResultStore>,
    pub queue: Arc<dyn QueueStore>,
    pub events: Arc<dyn EventStore>,
    pub schedules: Arc<dyn ScheduleStore>,
    pub clock: Arc<dyn Clock>,
}

pub fn builtin(around: Surroundings) -> Vec<Box<dyn Tool>> {
    let Surroundings { memory, foreign, web, programs, files, results, queue, events, schedules, clock } = around;
    let calls = Arc::<ForeignCalls>::default();
    let web_calls = Arc::new(web::calls());
    vec![
        Box::new(a2a_discover::A2aDiscover { foreign: Arc::clone(&foreign), calls: Arc::clone(&calls) }),
        Box::new(a2a_send::A2aSend { foreign, calls }),
        Box::new(add_numbers::AddNumbers),
        Box::new(agent_find::AgentFind),
        Box::new(agent_list::AgentList),
        Box::new(agent_send::AgentSend),
        Box::new(current_time::CurrentTime { clock: Arc::clone(&clock) }),
        Box::new(event_publish::EventPublish { events, clock: Arc::clone(&clock) }),
        Box::new(file_list::FileList { files: files.clone() }),
        Box::new(file_read::FileRead { files: files.clone() }),
        Box::new(file_write::FileWrite { files: files.clone() }),
        Box::new(get_counter::GetCounter::default()),
        Box::new(get_greeting::GetGreeting),
        Box::new(image_analyze::ImageAnalyze { files: files.clone() }),
        Box::new(is_admin::IsAdmin),
        Box::new(memory_recall::MemoryRecall { memory: Arc::clone(&memory) }),
        Box::new(memory_store::MemoryStore { memory }),
        Box::new(result_read::ResultRead { results, clock: Arc::clone(&clock) }),
        Box::new(schedule_create::ScheduleCreate { schedules: Arc::clone(&schedules), clock: Arc::clone(&clock) }),
        Box::new(schedule_delete::ScheduleDelete { schedules: Arc::clone(&schedules) }),
        Box::new(schedule_list::ScheduleList { schedules, clock: Arc::clone(&clock) }),
        Box::new(shell_exec::ShellExec { programs, calls: programs::calls(), files }),
        Box::new(task_claim::TaskClaim { queue: Arc::clone(&queue), clock: Arc::clone(&clock) }),
        Box::new(task_complete::TaskComplete { queue: Arc::clone(&queue), clock: Arc::clone(&clock) }),
        Box::new(task_list::TaskList { queue: Arc::clone(&queue), clock: Arc::clone(&clock) }),
        Box::new(task_post::TaskPost { queue, clock }),
        Box::new(web_fetch::WebFetch { web: Arc::clone(&web), calls: Arc::clone(&web_calls) }),
        Box::new(web_search::WebSearch::new(web, web_calls)),
    ]
}

/// The arguments as a type.
fn parse<T: DeserializeOwned>(arguments: Arguments<'_>) -> Result<T, ToolFailure> {
    Ok(serde_json::from_value(arguments.into_value()?)?)
}

/// The name of a built-in tool.
#[expect(clippy::expect_used, reason = "the names are literals in this folder, and a test registers every one")]
fn name(literal: &'static str) -> ToolName {
    literal.parse().expect("a built-in tool has a valid name")
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;

//! An MCP server with every feature the official conformance suite tests, in every revision.
//!
//! [`start`] serves a [`Fixture`] on a free port: Streamable HTTP at `/mcp`, the transport of 2024-11-05 at `/sse`.
//! [`server`] is the same without a transport, for pipes. `tools.rs` is the table of tools; their implementations are
//! in `answering.rs`, `telling.rs` and `asking.rs`. Requests with another Host or Origin are refused.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::StreamExt as _;
use openfang_mcp::content::{Completion, PromptResult, ResourceContents};
use openfang_mcp::error::McpError;
use openfang_mcp::host::{
    Call, Change, ChangeFilter, Changes, Completing, HostFuture, Identity, Offers, Outcome, ResourcePage, ToolAnswer,
};
use openfang_mcp::listing::Listing;
use openfang_mcp::{CallTask, Host};
use openfang_types::content::ToolOutput;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::broadcast;

use lists::ChangingList;
use tasks::FixtureTasks;
use tools::ToolBehavior;

pub use door::{RunningFixture, server, start};

mod answering;
mod asking;
mod door;
mod lists;
mod prompts;
mod resources;
mod seal;
mod tasks;
mod telling;
mod tools;

/// How many changes a listener may lag behind before it loses the first ones.
const REMEMBERED_CHANGES: usize = 64;

/// The result of a call.
type CallResult = Result<Outcome<ToolOutput>, McpError>;

/// A host with every feature.
pub struct Fixture {
    identity: Arc<Identity>,
    tools: ChangingList,
    prompts: ChangingList,
    templates: Arc<Listing>,
    /// How often the watched resource was written.
    edition: AtomicU64,
    changes: broadcast::Sender<Change>,
    tasks: FixtureTasks,
}

impl Default for Fixture {
    fn default() -> Self {
        Self::new()
    }
}

impl Fixture {
    /// A fixture in which nothing has changed yet.
    pub fn new() -> Self {
        Self {
            identity: Arc::new(Identity {
                name: "openfang-fixture".to_owned(),
                title: "OpenFang fixture".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                instructions: Some("One of everything, for tests.".to_owned()),
                instance: None,
            }),
            tools: tools::listed(),
            prompts: prompts::listed(),
            templates: resources::templates(),
            edition: AtomicU64::new(1),
            changes: broadcast::Sender::new(REMEMBERED_CHANGES),
            tasks: FixtureTasks::default(),
        }
    }

    /// Adds or removes the optional tool.
    fn change_tools(&self) {
        self.tools.change();
        self.tell(Change::Tools);
    }

    /// Adds or removes the optional prompt.
    fn change_prompts(&self) {
        self.prompts.change();
        self.tell(Change::Prompts);
    }

    /// Writes a new edition of the watched resource.
    fn change_watched(&self) {
        self.edition.fetch_add(1, Ordering::SeqCst);
        self.tell(Change::Resource(resources::WATCHED.to_owned()));
    }

    fn tell(&self, change: Change) {
        // Nobody may be listening.
        let _ = self.changes.send(change);
    }

    async fn called(
        &self,
        call: Call<'_, ()>,
        name: &str,
        arguments: Option<&RawValue>,
    ) -> Result<ToolAnswer, McpError> {
        let tool = tools::named(name).filter(|tool| self.tools.has(tool.name));
        let tool = tool.ok_or_else(|| McpError::unknown_tool(name))?;
        let given =
            || -> Value { arguments.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or(Value::Null) };
        match tool.deed {
            ToolBehavior::Answers(answer) => Ok(Outcome::Done(answer()).into()),
            ToolBehavior::Asks(ask) => ask(&call, &given()).map(Into::into),
            ToolBehavior::Tells(work) => Ok(Outcome::Done(work(self, call).await?).into()),
            ToolBehavior::Greets => {
                let text = format!("Hello, {}!", given()["name"].as_str().unwrap_or("you"));
                Ok(Outcome::Done(ToolOutput::text(text)).into())
            }
            ToolBehavior::Works(job) => self.tasks.begin(call, job, &given()).await,
        }
    }
}

impl Host for Fixture {
    type Caller = ();

    fn identity(&self) -> Arc<Identity> {
        Arc::clone(&self.identity)
    }

    fn offers(&self, (): &()) -> Offers {
        Offers {
            tools: true,
            prompts: true,
            resources: true,
            subscriptions: true,
            completions: true,
            logging: true,
            tasks: true,
            skills: false,
        }
    }

    fn owner(&self, (): &()) -> String {
        "everybody".to_owned()
    }

    fn tools<'a>(&'a self, (): &'a ()) -> HostFuture<'a, Arc<Listing>> {
        Box::pin(std::future::ready(Ok(self.tools.current())))
    }

    fn call_tool<'a>(
        &'a self,
        call: Call<'a, ()>,
        name: &'a str,
        arguments: Option<&'a RawValue>,
    ) -> HostFuture<'a, ToolAnswer> {
        Box::pin(self.called(call, name, arguments))
    }

    fn task<'a>(&'a self, _: Call<'a, ()>, id: &'a str) -> HostFuture<'a, CallTask> {
        Box::pin(std::future::ready(self.tasks.get(id)))
    }

    fn settled_task<'a>(&'a self, _: Call<'a, ()>, id: &'a str) -> HostFuture<'a, CallTask> {
        Box::pin(self.tasks.settled(id))
    }

    fn answer_task<'a>(
        &'a self,
        _: Call<'a, ()>,
        id: &'a str,
        answers: BTreeMap<String, Box<RawValue>>,
    ) -> HostFuture<'a, ()> {
        Box::pin(std::future::ready(self.tasks.answer(id, &answers)))
    }

    fn cancel_task<'a>(&'a self, _: Call<'a, ()>, id: &'a str) -> HostFuture<'a, CallTask> {
        Box::pin(std::future::ready(self.tasks.cancel(id)))
    }

    fn prompts<'a>(&'a self, (): &'a ()) -> HostFuture<'a, Arc<Listing>> {
        Box::pin(std::future::ready(Ok(self.prompts.current())))
    }

    fn prompt<'a>(
        &'a self,
        call: Call<'a, ()>,
        name: &'a str,
        arguments: &'a BTreeMap<String, String>,
    ) -> HostFuture<'a, Outcome<PromptResult>> {
        let filled = if self.prompts.has(name) {
            prompts::filled(&call, name, arguments)
        } else {
            Err(McpError::unknown_prompt(name))
        };
        Box::pin(std::future::ready(filled))
    }

    fn resources<'a>(&'a self, (): &'a (), cursor: Option<&'a str>) -> HostFuture<'a, ResourcePage> {
        Box::pin(std::future::ready(resources::page(cursor)))
    }

    fn templates<'a>(&'a self, (): &'a ()) -> HostFuture<'a, Arc<Listing>> {
        Box::pin(std::future::ready(Ok(Arc::clone(&self.templates))))
    }

    fn read<'a>(&'a self, _: Call<'a, ()>, uri: &'a str) -> HostFuture<'a, Outcome<ResourceContents>> {
        let contents = resources::contents(uri, self.edition.load(Ordering::SeqCst));
        Box::pin(std::future::ready(contents.map(Outcome::Done)))
    }

    fn complete<'a>(&'a self, (): &'a (), asked: Completing<'a>) -> HostFuture<'a, Completion> {
        Box::pin(std::future::ready(prompts::completed(asked)))
    }

    fn changes(&self, (): &(), wanted: &ChangeFilter) -> Changes {
        let (heard, wanted) = (self.changes.subscribe(), wanted.clone());
        let all = futures_util::stream::unfold(heard, |mut heard| async move {
            loop {
                match heard.recv().await {
                    Ok(change) => return Some((change, heard)),
                    // The lists are read again anyway, so a missed change makes no difference.
                    Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return None,
                }
            }
        });
        Box::pin(all.filter(move |change| std::future::ready(is_wanted(change, &wanted))))
    }
}

fn is_wanted(change: &Change, wanted: &ChangeFilter) -> bool {
    match change {
        Change::Tools => wanted.tools,
        Change::Prompts => wanted.prompts,
        Change::Resources => wanted.resources,
        Change::Resource(uri) => wanted.uris.contains(uri),
    }
}

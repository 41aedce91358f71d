//! The kernel as a house for MCP peers, and the server that stands on it.

use std::sync::Arc;

use futures_util::stream;
use openfang_mcp::host::{Seal, SealedFor};
use openfang_mcp::listing::Entry;
use openfang_mcp::meta::LogLevel;
use openfang_runtime::agents::AgentSummary;
use openfang_runtime::mcp_server::{
    House, HouseError, HouseFuture, HouseHost, HouseReply, Parts, Sending, Server, ServerContents, Ticks, ToolRequest,
    late_entry,
};
use openfang_runtime::pipeline::{ToolCall, ToolError};
use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::event::{EventBody, Seq, StreamItem, Until};
use openfang_types::ids::{AgentName, Owner, TaskId};
use openfang_types::limits::{Limits, MCP_PROGRESS_CHARS};
use openfang_types::task::{Message, Origin, Task, TaskParts};
use serde_json::json;

use crate::access::keys::{Keys, Purpose};
use crate::execute_tool::Way;
use crate::kernel::Inner;
use crate::settings::Settings;
use crate::settings::agents;
use crate::settings::home::record::HomeRecord;
use crate::settings::home::{Home, RecordError};
use crate::tasks::list::TaskFilter;
use crate::tasks::log::Visibility;
use crate::tasks::streams::{Begin, Follow, TaskStream};
use crate::tasks::{Incoming, Taken};
use crate::{Caller, Kernel, KernelError};

pub use openfang_runtime::mcp::is_mcp_tool;
pub use openfang_runtime::mcp_server as serving;
pub use openfang_runtime::mcp_server::View;

mod servers;
mod updates;

/// The server of this house's own content.
pub type McpServer = Server<HouseHost<Kernel>>;

impl Kernel {
    /// A server that shows this much of the house. Its work is the kernel's: it is waited for, and interrupted.
    pub fn mcp_server(&self, view: View) -> McpServer {
        Server::new(Parts {
            host: HouseHost::new(self.clone(), view).of_instance(self.inner.keys.instance()),
            seal: self.mcp_seal(),
            clock: Arc::clone(&self.inner.clock),
            tracker: self.inner.tracker.clone(),
            stop: self.inner.draining.clone(),
            shared: Arc::clone(&self.inner.mcp_shared),
        })
    }

    /// The kernel's keys, for tokens of MCP.
    pub(crate) fn mcp_seal(&self) -> Arc<dyn Seal> {
        Arc::new(KernelSeal(Arc::clone(&self.inner)))
    }

    async fn send_reporting(&self, caller: &Caller, sending: Sending<'_>) -> Result<HouseReply, KernelError> {
        let Sending { agent, parts, task, reporter } = sending;
        let is_heard = reporter.wants_progress() || reporter.hears(LogLevel::Debug);
        let incoming = Incoming {
            caller: caller.clone(),
            agent: agent.clone(),
            message: Message { task_id: task, ..self.message_of_parts(None, parts.to_vec()) },
            labels: caller.entry_labels(),
            origin: Origin::OpenFang,
            peer_name: None,
            push: None,
            hops: 0,
            cancel: reporter.cancel().child_token(),
            visibility: if is_heard { Visibility::Seen } else { Visibility::Unseen },
        };
        let task = match self.take(incoming).await? {
            Taken::Answered(message) => return Ok(HouseReply::Message(message)),
            Taken::Known(id) => self.settled(caller, id).await?.task,
            Taken::Begun(work) if is_heard => {
                let id = work.id();
                let (settled, ()) = tokio::join!(self.end_of_apart(caller, work), self.report(caller, id, &sending));
                settled?.task
            }
            Taken::Begun(work) => self.end_of_apart(caller, work).await?.task,
        };
        Ok(HouseReply::Task(Box::new(task)))
    }

    /// Tells what happens to a task until it has ended or asks for something.
    async fn report(&self, caller: &Caller, id: TaskId, sending: &Sending<'_>) {
        let follow = Follow { begin: Begin::After(0), until: Until::Settled };
        let Ok(mut stream) = self.follow(caller, id, follow).await else { return };
        while let Ok(Some(StreamItem::Event(event))) = stream.next().await {
            let said = described(&event.body);
            sending.reporter.progress(progress_of(event.seq), None, Some(&said));
            let logged = json!({ "task": id, "event": event.body.name(), "says": said });
            sending.reporter.log(LogLevel::Debug, Some(sending.agent.as_str()), &logged);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "no task has so many events")]
const fn progress_of(seq: Seq) -> f64 {
    seq as f64
}

/// What an event means to somebody who waits.
fn described(event: &EventBody) -> String {
    match event {
        EventBody::Message(_) => "the message was taken".to_owned(),
        EventBody::Status(status) => match &status.message {
            Some(message) => message.joined_text().chars().take(MCP_PROGRESS_CHARS).collect(),
            None => status.state.to_string(),
        },
        EventBody::Artifact(update) => {
            format!(
                "artifact {}",
                update.artifact.name.as_deref().unwrap_or_else(|| update.artifact.artifact_id.as_str())
            )
        }
    }
}

impl House for Kernel {
    type Caller = Caller;

    fn owner(&self, caller: &Caller) -> String {
        caller.principal.owner().as_str().to_owned()
    }

    fn credential(&self, caller: &Caller) -> String {
        caller.principal.shown()
    }

    fn limits(&self) -> Limits {
        self.config().limits.clone()
    }

    fn audience(&self, caller: &Caller) -> Option<(String, u64)> {
        // Both only ever grow, so whichever changes, the sum does.
        let version = self.inner.pipeline.catalog().version() + self.inner.upstreams.offerings().version();
        // The labels too: what they forbid for ever is not listed.
        let labels = caller.principal.entry_label();
        Some((format!("{:?} {:?} {labels:?}", caller.principal.standing(), caller.door), version))
    }

    fn agents<'a>(&'a self, caller: &'a Caller) -> HouseFuture<'a, Vec<AgentSummary>> {
        Box::pin(async move { Ok(Self::agents(self, &caller.principal)) })
    }

    fn tools<'a>(&'a self, caller: &'a Caller, through: Option<&'a AgentName>) -> HouseFuture<'a, Vec<Entry>> {
        Box::pin(async move { Ok(self.usable_tools(caller, through)?.map(late_entry).collect()) })
    }

    fn call_tool<'a>(&'a self, caller: &'a Caller, request: ToolRequest<'a>) -> HouseFuture<'a, Outcome<ToolOutput>> {
        Box::pin(async move {
            let ToolRequest { name, arguments, back, cancel } = request;
            let call = ToolCall { name: name.clone(), arguments: Arguments::written_by(arguments) };
            Ok(Self::call_tool(self, caller, call, Way { back, cancel: cancel.clone() }).await?)
        })
    }

    fn send<'a>(&'a self, caller: &'a Caller, sending: Sending<'a>) -> HouseFuture<'a, HouseReply> {
        Box::pin(async move { Ok(self.send_reporting(caller, sending).await?) })
    }

    fn tasks<'a>(&'a self, caller: &'a Caller, page: Option<&'a str>) -> HouseFuture<'a, (Vec<Task>, Option<String>)> {
        Box::pin(async move {
            let page_token = page.map(str::to_owned);
            let filter = TaskFilter { page_token, parts: TaskParts::ROW, ..TaskFilter::default() };
            let listed = Self::tasks(self, caller, filter).await?;
            Ok((listed.tasks, listed.next_page_token))
        })
    }

    fn task<'a>(&'a self, caller: &'a Caller, id: TaskId) -> HouseFuture<'a, Task> {
        Box::pin(async move { Ok(Self::task(self, caller, id).await?) })
    }

    fn tool_changes(&self) -> Ticks {
        let versions = self.inner.pipeline.catalog().changes();
        Box::pin(stream::unfold(versions, |mut versions| async move {
            versions.changed().await.ok()?;
            Some(((), versions))
        }))
    }

    fn agent_changes(&self) -> Ticks {
        let settings = (self.inner.settings.changes(), self.inner.settings());
        Box::pin(stream::unfold(settings, |(mut changes, known)| async move {
            let is_other = |now: &Arc<Settings>| !agents::changes(known.agents(), now.agents()).is_empty();
            let now = Arc::clone(&*changes.wait_for(is_other).await.ok()?);
            Some(((), (changes, now)))
        }))
    }

    fn servers(&self) -> Option<&dyn ServerContents<Caller>> {
        Some(self)
    }

    fn follow(&self, caller: &Caller, id: TaskId) -> Ticks {
        enum State {
            Opening(Kernel, Caller, TaskId),
            Open(Box<TaskStream>),
        }
        let opening = State::Opening(self.clone(), caller.clone(), id);
        Box::pin(stream::unfold(opening, |state| async move {
            let mut stream = match state {
                State::Open(stream) => stream,
                State::Opening(kernel, caller, id) => {
                    let task = kernel.head(&caller, id).await.ok()?;
                    let follow = Follow { begin: Begin::After(task.seq), until: Until::Ended };
                    Box::new(kernel.follow(&caller, id, follow).await.ok()?)
                }
            };
            match stream.next().await {
                Ok(Some(item @ (StreamItem::Event(_) | StreamItem::Snapshot(..)))) => {
                    drop(item);
                    stream.rest();
                    Some(((), State::Open(stream)))
                }
                Ok(Some(StreamItem::Shutdown) | None) | Err(_) => None,
            }
        }))
    }
}

impl From<KernelError> for HouseError {
    fn from(error: KernelError) -> Self {
        match error {
            KernelError::UnknownAgent(_)
            | KernelError::UnknownTool(_)
            | KernelError::UnknownTask(_)
            | KernelError::Tool(ToolError::Unknown { .. }) => Self::Unknown,
            KernelError::Tool(ToolError::Cancelled(_)) => Self::Canceled,
            KernelError::InvalidPageToken => Self::BadPage,
            KernelError::TooMuch => Self::TooMuch(error.to_string()),
            error => Self::Refused(error.to_string()),
        }
    }
}

/// The kernel's keys, for tokens of MCP.
struct KernelSeal(Arc<Inner>);

impl Seal for KernelSeal {
    fn seal(&self, purpose: SealedFor, owner: &str, payload: &[u8]) -> String {
        sealed(&self.0.keys, purpose, owner, payload)
    }

    fn open(&self, purpose: SealedFor, owner: &str, token: &str) -> Option<Vec<u8>> {
        opened(&self.0.keys, purpose, owner, token)
    }
}

/// The keys of a home, for a process that works without a kernel.
pub struct HomeSeal(Keys);

impl HomeSeal {
    /// Opens the key of a home, or makes one.
    pub fn open(home: &Home) -> Result<Self, RecordError> {
        Keys::of(home, HomeRecord::read(home)?.as_ref()).map(Self)
    }

    /// Which OpenFang the home is.
    pub fn instance(&self) -> String {
        self.0.instance()
    }
}

impl Seal for HomeSeal {
    fn seal(&self, purpose: SealedFor, owner: &str, payload: &[u8]) -> String {
        sealed(&self.0, purpose, owner, payload)
    }

    fn open(&self, purpose: SealedFor, owner: &str, token: &str) -> Option<Vec<u8>> {
        opened(&self.0, purpose, owner, token)
    }
}

const fn purpose_of(purpose: SealedFor) -> Purpose {
    match purpose {
        SealedFor::Session => Purpose::McpSession,
        SealedFor::RequestState => Purpose::McpRequestState,
    }
}

fn sealed(keys: &Keys, purpose: SealedFor, owner: &str, payload: &[u8]) -> String {
    match owner.parse::<Owner>() {
        Ok(owner) => keys.seal(purpose_of(purpose), &owner, payload),
        // Nobody's token opens for nobody.
        Err(_) => String::new(),
    }
}

fn opened(keys: &Keys, purpose: SealedFor, owner: &str, token: &str) -> Option<Vec<u8>> {
    keys.open_token(purpose_of(purpose), &owner.parse().ok()?, token)
}

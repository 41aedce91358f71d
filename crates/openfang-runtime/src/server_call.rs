//! Calls that are handed on to an MCP server: of its tools, its prompts and its resources.
//!
//! A [`GuardedRelay`] is the only way from the guards to a server. It asks nothing without their [`Permit`]:
//!
//! ```
//! # use openfang_mcp::client::RawMembers;
//! # use openfang_runtime::{pipeline::Permit, server_call::GuardedRelay};
//! fn ask(server: &GuardedRelay, permit: Permit) {
//!     drop(server.ask("resources/list", RawMembers::none(), permit));
//! }
//! ```
//! ```compile_fail
//! # use openfang_mcp::client::RawMembers;
//! # use openfang_runtime::{pipeline::Permit, server_call::GuardedRelay};
//! fn ask(server: &GuardedRelay) {
//!     drop(server.ask("resources/list", RawMembers::none()));
//! }
//! ```
//!
//! What is behind it does not lead past it, neither by the relay nor by the connection:
//!
//! ```
//! # use openfang_runtime::server_call::GuardedRelay;
//! fn look(server: &GuardedRelay) {
//!     drop(server.upstream().connected());
//! }
//! ```
//! ```compile_fail
//! # use openfang_runtime::server_call::GuardedRelay;
//! fn relay(server: GuardedRelay) {
//!     drop(server.relay);
//! }
//! ```
//! ```compile_fail
//! # use openfang_runtime::server_call::GuardedRelay;
//! fn connection(server: &GuardedRelay) {
//!     drop(server.upstream().connection());
//! }
//! ```

use std::collections::BTreeMap;

use futures_util::future::BoxFuture;
use openfang_mcp::client::{ClientError, Handing, RawMembers, Relay, Relayed, Silent, Upstream, Withdrawn};
use openfang_mcp::content::{NotABlock, PromptResult, ResourceContents};
use openfang_mcp::listing::Entry;
use openfang_types::call::{Arguments, CallListener, Outcome};
use openfang_types::jsonrpc::{ErrorObject, code};
use openfang_types::tool::ToolTraits;
use openfang_types::trace::{HOPS, TRACEPARENT, TraceParent, write_traceparent};
use serde_json::value::RawValue;

use crate::context::{CallContext, ServerTasks};
use crate::mcp_server::raw;
use crate::pipeline::{CallOutput, Callee, Permit};
use crate::tools::ToolFailure;

/// Whether a tool of a server may be called, by what the server calls it and by what it lists at this moment.
pub type Admission = Box<dyn Fn(&str) -> Result<(), Withdrawn> + Send + Sync>;

/// The way to one server, behind the guards.
pub struct GuardedRelay {
    relay: Relay,
    admission: Option<Admission>,
}

impl GuardedRelay {
    /// The way to this server.
    pub const fn new(relay: Relay) -> Self {
        Self { relay, admission: None }
    }

    /// The way to a server whose tools are looked at once more when it is connected.
    pub fn admitting(relay: Relay, admission: Admission) -> Self {
        Self { relay, admission: Some(admission) }
    }

    /// What keeps the server connected.
    pub const fn upstream(&self) -> &Upstream {
        self.relay.upstream()
    }

    /// Hands a call on for whoever is allowed to make it.
    pub(crate) async fn call(
        &self,
        cx: &CallContext,
        what: Relayed<'_>,
        permit: Permit,
    ) -> Result<Outcome<Box<RawValue>>, ToolFailure> {
        self.call_expecting(cx, what, permit, None).await
    }

    /// The same, where the server must still define a tool like this.
    pub(crate) async fn call_expecting(
        &self,
        cx: &CallContext,
        what: Relayed<'_>,
        permit: Permit,
        expected: Option<&Entry>,
    ) -> Result<Outcome<Box<RawValue>>, ToolFailure> {
        let back = &cx.back;
        let listener: &dyn CallListener = match &back.listener {
            Some(listener) => &**listener,
            None => &Silent,
        };
        let meta = meta_of(cx, permit.parent());
        let admitted = || self.admits(&what, expected);
        let handing = Handing {
            owner: cx.principal.owner().as_str(),
            client: back.client,
            era: back.era,
            meta: Some(&meta),
            resumed: back.resumed.as_deref(),
            listener,
            takes_tasks: matches!(back.tasks, ServerTasks::Followed(_)),
            became_task: match &back.tasks {
                ServerTasks::Followed(heard) => heard.as_deref(),
                ServerTasks::Refused => None,
            },
            admitted: &admitted,
        };
        self.relay.call(&handing, what).await.map_err(|error| self.failure(&error))
    }

    /// Whether what is called may be called by what the server lists now.
    fn admits(&self, what: &Relayed<'_>, expected: Option<&Entry>) -> Result<(), Withdrawn> {
        let Relayed::Tool { name, .. } = what else { return Ok(()) };
        if let Some(admission) = &self.admission {
            admission(name)?;
        }
        let Some(expected) = expected else { return Ok(()) };
        let snapshot = self.upstream().snapshot();
        match snapshot.manifest.tools.get(name) {
            Some(now) if now.json() != expected.json() => Err(Withdrawn::Changed),
            Some(_) | None => Ok(()),
        }
    }

    /// Asks the server something that calls nothing: a list, a completion.
    pub async fn ask(&self, method: &str, members: RawMembers, _: Permit) -> Result<Box<RawValue>, ToolFailure> {
        self.relay.ask(method, members).await.map_err(|error| self.failure(&error))
    }

    /// What a failure between us and the server means: a sentence for a model, and the error for a client.
    fn failure(&self, error: &ClientError) -> ToolFailure {
        let upstream = self.upstream();
        let server = upstream.name();
        let (said, error) = match error {
            ClientError::Withdrawn(why) => return ToolFailure::withdrawn(*why),
            ClientError::Refused(said) => {
                (format!("the MCP server {server} refused the call: {}", said.message), said.clone())
            }
            error => (
                format!("the MCP server {server} did not answer: {error}"),
                ErrorObject::new(code::INTERNAL_ERROR, format!("the MCP server {server}: {error}")),
            ),
        };
        let shown = |text: &str| upstream.shown(text).into_owned();
        let data = error.data.as_ref().and_then(|data| RawValue::from_string(shown(data.get())).ok());
        ToolFailure::reported(shown(&said), ErrorObject { message: shown(&error.message), data, ..error })
    }

    pub(crate) fn malformed(&self, error: NotABlock) -> ToolFailure {
        let why = format!("the MCP server {} answered with something malformed: {error}", self.upstream().name());
        ToolFailure::reported(why.clone(), ErrorObject::new(code::INTERNAL_ERROR, why))
    }
}

/// What the server is told beside the call: what the caller said there, the trace and how many agents led to it.
fn meta_of(cx: &CallContext, parent: Option<TraceParent>) -> Box<RawValue> {
    let said = cx.back.meta.as_deref();
    let mut members: BTreeMap<String, Box<RawValue>> =
        said.and_then(|said| serde_json::from_str(said.get()).ok()).unwrap_or_default();
    members.insert(HOPS.to_owned(), raw(&cx.hops.saturating_add(1)));
    if let Some(parent) = parent {
        members.insert(TRACEPARENT.to_owned(), raw(&write_traceparent(parent)));
    }
    raw(&members)
}

/// A prompt of a server, to be filled in.
pub struct ServerPrompt<'a> {
    /// What the guards know it as.
    pub traits: ToolTraits,
    /// The way to its server.
    pub relay: &'a GuardedRelay,
    /// What the server calls it.
    pub name: &'a str,
    /// What it is filled in with.
    pub arguments: &'a BTreeMap<String, String>,
}

/// A resource of a server, to be read.
pub struct ServerResource<'a> {
    /// What the guards know it as.
    pub traits: ToolTraits,
    /// The way to its server.
    pub relay: &'a GuardedRelay,
    pub uri: &'a str,
}

impl Callee for ServerPrompt<'_> {
    type Output = PromptResult;

    fn traits(&self) -> &ToolTraits {
        &self.traits
    }

    fn call<'a>(
        &'a self,
        cx: &'a CallContext,
        _: Arguments<'a>,
        permit: Permit,
    ) -> BoxFuture<'a, Result<Outcome<PromptResult>, ToolFailure>> {
        let what = Relayed::Prompt { name: self.name, arguments: self.arguments };
        Box::pin(relayed(self.relay, cx, (what, permit), PromptResult::from_raw))
    }
}

impl Callee for ServerResource<'_> {
    type Output = ResourceContents;

    fn traits(&self) -> &ToolTraits {
        &self.traits
    }

    fn call<'a>(
        &'a self,
        cx: &'a CallContext,
        _: Arguments<'a>,
        permit: Permit,
    ) -> BoxFuture<'a, Result<Outcome<ResourceContents>, ToolFailure>> {
        let what = Relayed::Resource { uri: self.uri };
        Box::pin(relayed(self.relay, cx, (what, permit), ResourceContents::from_raw))
    }
}

async fn relayed<T: CallOutput>(
    relay: &GuardedRelay,
    cx: &CallContext,
    (what, permit): (Relayed<'_>, Permit),
    read: impl Fn(&RawValue) -> Result<T, NotABlock>,
) -> Result<Outcome<T>, ToolFailure> {
    let outcome = relay.call(cx, what, permit).await?;
    outcome.try_map(|raw| read(&raw).map_err(|error| relay.malformed(error)))
}

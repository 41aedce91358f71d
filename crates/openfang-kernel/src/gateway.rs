//! One MCP server, handed through: its own names, its own words, either era on either side.
//!
//! Every call takes the guarded way. Beyond that nothing is held back or added: what the arguments must be is for the
//! server to say, and results keep what we do not know of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use openfang_mcp::McpError;
use openfang_mcp::client::{ClientError, Members, Relayed};
use openfang_mcp::content::{CallResult, NotABlock, PromptResult, ResourceContents};
use openfang_mcp::host::{Call, Identity, Outcome};
use openfang_mcp::naming::format_mcp_tool_name;
use openfang_runtime::mcp_tool::traits_of;
use openfang_runtime::pipeline::{Handed, ToolError, capability};
use openfang_types::ids::{ServerName, ToolName};
use openfang_types::tool::{ToolAnnotations, ToolTraits};
use serde_json::value::RawValue;

use crate::mcp::serving::{Parts, Server};
use crate::upstreams::ConnectedServer;
use crate::{Caller, Kernel};
use errors::mcp_error;

mod errors;
mod host;

/// A server, handed through.
pub type GatewayServer = Server<UpstreamHost>;

/// One MCP server as a host.
pub struct UpstreamHost {
    kernel: Kernel,
    server: Arc<ConnectedServer>,
    identity: Mutex<Arc<Identity>>,
}

/// The servers that are handed through, each made when it is first asked for.
pub struct Gateways {
    kernel: Kernel,
    made: Mutex<HashMap<ServerName, GatewayServer>>,
}

impl Gateways {
    /// The servers of a kernel.
    pub fn new(kernel: Kernel) -> Self {
        Self { kernel, made: Mutex::default() }
    }

    /// A server, handed through; none where there is none for this caller.
    pub async fn get(&self, caller: &Caller, name: &str) -> Option<GatewayServer> {
        let name: ServerName = name.parse().ok()?;
        let server = self.kernel.inner.upstreams.get(&name)?;
        let gateway = self.of(&name, &server);
        if !gateway.host().may_see(caller) {
            return None;
        }
        // What it has is known once it is connected; when it cannot be, what it had is shown.
        let _ = server.upstream().connection().await;
        Some(gateway)
    }

    fn of(&self, name: &ServerName, server: &Arc<ConnectedServer>) -> GatewayServer {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        // Another server may have come in its place since, under the same name.
        let known = made.get(name).filter(|known| Arc::ptr_eq(&known.host().server, server));
        if let Some(known) = known {
            return known.clone();
        }
        let inner = &self.kernel.inner;
        let gateway = Server::new(Parts {
            host: UpstreamHost::new(self.kernel.clone(), Arc::clone(server)),
            seal: self.kernel.mcp_seal(),
            clock: Arc::clone(&inner.clock),
            tracker: inner.tracker.clone(),
            stop: inner.draining.clone(),
            shared: Arc::clone(&inner.mcp_shared),
        });
        made.retain(|name, _| inner.upstreams.get(name).is_some());
        made.insert(name.clone(), gateway.clone());
        gateway
    }
}

impl Kernel {
    /// Connects to the MCP servers of the configuration, in the background.
    pub fn connect_mcp_servers(&self) {
        self.inner.upstreams.connect_all();
    }

    /// Connects to MCP servers of which nothing is known yet, without waiting.
    pub fn begin_acquaintance(&self) {
        let kernel = self.clone();
        self.inner.upstreams.tracker().spawn(async move { kernel.acquaint_mcp_servers().await });
    }

    /// Connects to MCP servers of which nothing is known yet, and waits until it is; for a process that lives shortly.
    pub async fn acquaint_mcp_servers(&self) {
        self.inner.upstreams.acquaint().await;
    }
}

/// What came of a call that was handed on.
struct Answered<T>(Result<Outcome<T>, McpError>);

impl Handed for Answered<CallResult> {
    fn is_failure(&self) -> bool {
        match &self.0 {
            Ok(Outcome::Complete(result)) => result.is_error,
            Ok(Outcome::InputRequired(_)) => false,
            Err(_) => true,
        }
    }
}

impl Handed for Answered<PromptResult> {
    fn is_failure(&self) -> bool {
        self.0.is_err()
    }
}

impl Handed for Answered<ResourceContents> {
    fn is_failure(&self) -> bool {
        self.0.is_err()
    }
}

impl UpstreamHost {
    fn new(kernel: Kernel, server: Arc<ConnectedServer>) -> Self {
        let identity = Identity {
            name: server.entry.name.to_string(),
            title: String::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: None,
            instance: Some(kernel.inner.keys.instance()),
        };
        Self { kernel, server, identity: Mutex::new(Arc::new(identity)) }
    }

    /// Whoever may use nothing of a server need not know that there is one.
    fn may_see(&self, caller: &Caller) -> bool {
        let cx = self.kernel.inner.context(caller);
        self.server.has_tool_that(|tool| capability::allows(&cx, tool)) || self.allows(caller, "resources_list").is_ok()
    }

    /// What the guards know something of the server as that is no tool. A tool may have the same name: no pattern tells one
    /// from the other, and only those that cover everything of the server cover this.
    fn traits(&self, what: &str) -> Result<ToolTraits, McpError> {
        let name = format_mcp_tool_name(self.server.entry.name.as_str(), what);
        let name: ToolName = name.parse().map_err(|_| McpError::Internal)?;
        Ok(traits_of(&self.server.entry, name, self.server.whole(), ToolAnnotations::READ_ONLY))
    }

    fn allows(&self, caller: &Caller, what: &str) -> Result<(), McpError> {
        let cx = self.kernel.inner.context(caller);
        match capability::allows(&cx, &self.traits(what)?) {
            true => Ok(()),
            false => Err(McpError::UnknownMethod(what.replace('_', "/"))),
        }
    }

    /// Refuses a call of a tool that the server does not offer, on the record.
    fn refused(&self, caller: &Caller, tool: &str) -> Result<Outcome<CallResult>, McpError> {
        let name = format_mcp_tool_name(self.server.entry.name.as_str(), tool);
        let name: ToolName = name.parse().map_err(|_| McpError::unknown_tool(tool))?;
        let inner = &self.kernel.inner;
        host::answer_to(&inner.pipeline.refuse(&inner.context(caller), &name), tool)
    }

    /// Asks the server something that is no call.
    async fn ask(&self, method: &str, members: Members) -> Result<Box<RawValue>, McpError> {
        let upstream = self.server.upstream();
        let mut last = None;
        for _ in 0..2 {
            let connection = upstream.connection().await.map_err(|error| self.wrong(&error))?;
            let outcome = connection.ask(method, members.clone(), upstream.timeout()).await;
            upstream.note(&connection, &outcome);
            match outcome {
                Ok(result) => return Ok(result),
                Err(error) if error.is_harmless() => last = Some(error),
                Err(error) => return Err(self.wrong(&error)),
            }
        }
        Err(last.map_or(McpError::Internal, |error| self.wrong(&error)))
    }

    /// Hands a call on, the guarded way.
    async fn hand_on<T>(
        &self,
        call: &Call<'_, Caller>,
        traits: &ToolTraits,
        what: Relayed<'_>,
        read: impl Fn(&RawValue) -> Result<T, NotABlock>,
    ) -> Result<Result<Outcome<T>, McpError>, ToolError>
    where
        Answered<T>: Handed,
    {
        let inner = &self.kernel.inner;
        let mut cx = inner.context(call.caller);
        cx.cancel = call.reporter.cancel().clone();
        let arguments = match what {
            Relayed::Tool { arguments, .. } => arguments,
            Relayed::Prompt { .. } | Relayed::Resource { .. } => None,
        };
        let work = async {
            let owner = call.caller.principal.owner().as_str();
            Answered(match self.server.relay().call(owner, call, what).await {
                Ok(Outcome::Complete(result)) => read(&result)
                    .map(Outcome::Complete)
                    .map_err(|error| self.wrong(&ClientError::NotMcp(error.to_string()))),
                Ok(Outcome::InputRequired(needed)) => Ok(Outcome::InputRequired(needed)),
                Err(error) => Err(self.wrong(&error)),
            })
        };
        Ok(inner.pipeline.hand_on(&cx, traits, arguments, work).await?.0)
    }

    fn wrong(&self, error: &ClientError) -> McpError {
        match mcp_error(&self.server.entry.name, error) {
            McpError::Relayed { code, message, data } => {
                let shown = |text: &str| self.server.upstream().shown(text).into_owned();
                McpError::Relayed { code, message: shown(&message), data: data.as_deref().map(shown) }
            }
            error => error,
        }
    }
}

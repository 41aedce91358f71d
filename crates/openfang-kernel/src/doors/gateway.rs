//! One MCP server, handed through: its own names, its own words, either era on either side.
//!
//! Every call takes the guarded way. Beyond that nothing is held back or added: what the arguments must be is for the
//! server to say, and results keep what we do not know of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use openfang_mcp::client::RawMembers;
use openfang_mcp::content::Completion;
use openfang_mcp::host::{Call, Completing, CompletionOf, Identity};
use openfang_mcp::naming::format_mcp_tool_name;
use openfang_mcp::{Era, McpError};
use openfang_runtime::context::{CallContext, ServerTasks, WayBack};
use openfang_runtime::mcp_tool::traits_of;
use openfang_runtime::pipeline::{Permit, capability};
use openfang_types::call::{CallListener, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::ids::{ServerName, ToolName};
use openfang_types::tool::{ToolAnnotations, ToolTraits};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::doors::Doors;
use crate::doors::mcp::serving::{Parts, Server};
use crate::peers::upstreams::ConnectedServer;
use crate::{Caller, Kernel, Way};
use errors::failed;
pub(super) use errors::refusal;

mod errors;
mod host;

/// A server, handed through.
pub type GatewayServer = Server<UpstreamHost>;

/// One MCP server as a host.
pub struct UpstreamHost {
    doors: Doors,
    server: Arc<ConnectedServer>,
    identity: Mutex<Arc<Identity>>,
}

/// The servers that are handed through, each made when it is first asked for.
pub struct Gateways {
    doors: Doors,
    made: Mutex<HashMap<ServerName, GatewayServer>>,
}

impl Gateways {
    /// The servers of a kernel.
    pub fn new(kernel: &Kernel) -> Self {
        Self { doors: kernel.doors().clone(), made: Mutex::default() }
    }

    /// A server, handed through; none where there is none for this caller.
    pub async fn get(&self, caller: &Caller, name: &str) -> Option<GatewayServer> {
        let name: ServerName = name.parse().ok()?;
        let server = self.doors.inner.upstreams.get(&name).filter(|server| server.entry.enabled)?;
        let gateway = self.of(&name, &server);
        if !gateway.host().may_see(caller) {
            return None;
        }
        // What it has is known once it is connected; when it cannot be, what it had is shown.
        let _ = server.upstream().connected().await;
        Some(gateway)
    }

    fn of(&self, name: &ServerName, server: &Arc<ConnectedServer>) -> GatewayServer {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        // Another server may have come in its place since, under the same name.
        let known = made.get(name).filter(|known| Arc::ptr_eq(&known.host().server, server));
        if let Some(known) = known {
            return known.clone();
        }
        let inner = &self.doors.inner;
        let gateway = Server::new(Parts {
            host: UpstreamHost::new(self.doors.clone(), Arc::clone(server)),
            seal: self.doors.mcp_seal(),
            clock: Arc::clone(&inner.clock),
            tracker: inner.life.tracker().clone(),
            stop: inner.life.draining().clone(),
            shared: Arc::clone(&inner.mcp_shared),
        });
        made.retain(|name, _| inner.upstreams.get(name).is_some());
        made.insert(name.clone(), gateway.clone());
        gateway
    }
}

impl UpstreamHost {
    fn new(doors: Doors, server: Arc<ConnectedServer>) -> Self {
        let identity = Identity {
            name: server.entry.name.to_string(),
            title: String::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: None,
            instance: Some(doors.inner.access.keys().instance()),
        };
        Self { doors, server, identity: Mutex::new(Arc::new(identity)) }
    }

    /// Whoever may use nothing of a server need not know that there is one.
    fn may_see(&self, caller: &Caller) -> bool {
        let cx = self.doors.inner.context(caller);
        self.server.has_tool_that(|tool| capability::allows(&cx, tool)) || self.permit(caller, "resources_list").is_ok()
    }

    fn traits(&self, what: &str) -> Result<ToolTraits, McpError> {
        traits_of_whole(&self.server, what)
    }

    fn permit(&self, caller: &Caller, what: &str) -> Result<Permit, McpError> {
        let cx = self.doors.inner.context(caller);
        let permit = self.doors.inner.pipeline.permit(&cx, &self.traits(what)?);
        permit.map_err(|_| McpError::UnknownMethod(what.replace('_', "/")))
    }

    /// Refuses a call of a tool that the server does not offer, on the record.
    fn refused(&self, caller: &Caller, tool: &str) -> Result<Outcome<ToolOutput>, McpError> {
        let name = format_mcp_tool_name(self.server.entry.name.as_str(), tool);
        let name: ToolName = name.parse().map_err(|_| McpError::unknown_tool(tool))?;
        let inner = &self.doors.inner;
        host::answer_to(&inner.pipeline.refuse(&inner.context(caller), &name), tool)
    }

    /// The surroundings of a call of a client.
    fn context(&self, call: &Call<'_, Caller>) -> CallContext {
        self.doors.context_of(call)
    }
}

/// What the guards know something of a server as that is no tool. A tool may have the same name: no pattern tells one
/// from the other, and only those that cover everything of the server cover this.
pub(super) fn traits_of_whole(server: &ConnectedServer, what: &str) -> Result<ToolTraits, McpError> {
    let name = format_mcp_tool_name(server.entry.name.as_str(), what);
    let name: ToolName = name.parse().map_err(|_| McpError::Internal)?;
    Ok(traits_of(&server.entry, name, server.whole(), ToolAnnotations::READ_ONLY))
}

/// Asks a server something that is no call.
pub(super) async fn ask(
    server: &ConnectedServer,
    method: &str,
    members: RawMembers,
    permit: Permit,
) -> Result<Box<RawValue>, McpError> {
    let asked = server.relay().ask(method, members, permit).await;
    asked.map_err(|failure| failed(&failure))
}

/// Asks a server to complete an argument of what the server calls so.
pub(super) async fn complete(
    server: &ConnectedServer,
    asked: Completing<'_>,
    permit: Permit,
) -> Result<Completion, McpError> {
    #[derive(Deserialize)]
    struct Completed {
        completion: Completion,
    }
    let of = match asked.of {
        CompletionOf::Prompt(name) => json!({ "type": "ref/prompt", "name": name }),
        CompletionOf::Template(uri) => json!({ "type": "ref/resource", "uri": uri }),
    };
    let members = RawMembers::none()
        .with("ref", &of)
        .with("argument", &json!({ "name": asked.argument, "value": asked.value }))
        .with_some("context", asked.context);
    let result = ask(server, "completion/complete", members, permit).await?;
    let completed: Completed = serde_json::from_str(result.get()).map_err(|_| McpError::Internal)?;
    Ok(completed.completion)
}

impl Doors {
    /// The surroundings of a call of an MCP client that is handed through to a server.
    pub(super) fn context_of(&self, call: &Call<'_, Caller>) -> CallContext {
        let caller = self.inner.caller_of(call);
        let back = WayBack {
            listener: Some(Arc::clone(call.reporter) as Arc<dyn CallListener>),
            client: call.client,
            era: Some(call.era),
            resumed: call.resumed.cloned().map(Arc::new),
            meta: call.meta.cloned(),
            patience: None,
            // A modern client that does not wait for tasks is told what the server would tell it.
            tasks: if call.era == Era::Modern { ServerTasks::Refused } else { ServerTasks::default() },
        };
        self.inner
            .tasks
            .context_with(&caller, Way { back, cancel: call.reporter.cancel().clone() })
    }
}

//! The kernel behind MCP: the server that stands on it, and the host that the server asks.
//!
//! `host.rs` is what a client sees, by [`View`]; `agents.rs`, `calls.rs` and `tasks.rs` are its parts, `work.rs` is what they
//! want of the kernel. `views.rs` keeps a server for each view that shows less than everything.

use std::sync::Arc;

use openfang_mcp::host::{Seal, SealedFor};
use openfang_runtime::mcp_server::{Parts, Server};
use openfang_types::ids::Owner;

use crate::access::Access;
use crate::access::keys::{Keys, Purpose};
use crate::doors::Doors;

pub use host::KernelHost;
pub use openfang_mcp::host::Ticks;
pub use openfang_runtime::mcp::is_mcp_tool;
pub use openfang_runtime::mcp_server as serving;
pub use openfang_runtime::mcp_server::View;
pub(crate) use server_skills::SkillQuarantine;
pub use views::McpViews;
use work::{DoorError, Sending, ToolRequest};

mod agents;
mod call_tasks;
mod calls;
mod events;
mod host;
mod results;
mod server_skills;
mod servers;
mod skill_uris;
mod skills;
mod task_tool;
mod tasks;
mod tool_search;
mod updates;
mod views;
mod work;

/// The server of this house's own content.
pub type McpServer = Server<KernelHost>;

impl Doors {
    /// A server that shows this much of the house. Its work is the kernel's: it is waited for, and interrupted.
    pub(crate) fn mcp_server(&self, view: View) -> McpServer {
        Server::new(Parts {
            host: KernelHost::new(self.clone(), view).of_instance(self.inner.access.keys().instance()),
            seal: self.mcp_seal(),
            clock: Arc::clone(&self.inner.clock),
            tracker: self.inner.life.tracker().clone(),
            stop: self.inner.life.draining().clone(),
            shared: Arc::clone(&self.inner.mcp_shared),
        })
    }

    /// The kernel's keys, for tokens of MCP.
    pub(super) fn mcp_seal(&self) -> Arc<dyn Seal> {
        Arc::new(KernelSeal(self.inner.access.clone()))
    }
}

/// The kernel's keys, for tokens of MCP.
struct KernelSeal(Access);

impl Seal for KernelSeal {
    fn seal(&self, purpose: SealedFor, owner: &str, payload: &[u8]) -> String {
        sealed(self.0.keys(), purpose, owner, payload)
    }

    fn open(&self, purpose: SealedFor, owner: &str, token: &str) -> Option<Vec<u8>> {
        opened(self.0.keys(), purpose, owner, token)
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
        // A token without an owner opens nothing.
        Err(_) => String::new(),
    }
}

fn opened(keys: &Keys, purpose: SealedFor, owner: &str, token: &str) -> Option<Vec<u8>> {
    keys.open_token(purpose_of(purpose), &owner.parse().ok()?, token)
}

//! The tools of an MCP server that may be used, under their names here. There may be ten thousand and few are ever
//! called, so each is made when it is first needed; until then it is a name and a place in its server's list.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openfang_mcp::listing::Listing;
use openfang_mcp::naming::format_mcp_tool_name;
use openfang_types::capability::{Namespace, ServerNames};
use openfang_types::config::McpServerConfigEntry;
use openfang_types::ids::ServerName;
use openfang_types::names::Names;
use openfang_types::tool::{Origin, ToolAnnotations, ToolDefinition, ToolTraits};

use crate::catalog::Registered;
use crate::mcp_tool::{McpTool, claimed, traits_of};
use crate::schema_check::SchemaChecks;
use crate::server_call::GuardedRelay;
use crate::tool_source::ToolSource;
use crate::tools::Tool as _;

/// How the names of a server begin, among all servers.
pub fn names_of<'a>(server: &ServerName, all: impl IntoIterator<Item = &'a ServerName>) -> ServerNames {
    let prefix_of = |name: &ServerName| format_mcp_tool_name(name.as_str(), "").into_boxed_str();
    let prefix = prefix_of(server);
    let others = all.into_iter().filter(|other| *other != server).map(prefix_of);
    ServerNames { others: others.filter(|other| other.starts_with(&*prefix)).collect(), prefix }
}

/// The tools of a server.
pub struct ServerTools {
    server: McpServerConfigEntry,
    origin: Origin,
    relay: Arc<GuardedRelay>,
    listing: Arc<Listing>,
    /// What each is called here, by its place in the list; nothing where it can have no name.
    names: Names,
    namespace: Arc<ServerNames>,
    /// What the server claims about each.
    claimed: Vec<ToolAnnotations>,
    /// Those that were called, with what was compiled for them.
    made: Mutex<HashMap<usize, Arc<Registered>>>,
    /// Where checks against their schemas run; the same for every list of the server.
    checks: Arc<SchemaChecks>,
}

impl ServerTools {
    /// The tools of a list, each under the name that stands in its place. What was made of the same tools under the same
    /// names before is made already.
    pub fn new(
        server: &McpServerConfigEntry,
        relay: &Arc<GuardedRelay>,
        listing: &Arc<Listing>,
        (names, namespace): (Names, ServerNames),
        before: Option<&Arc<Self>>,
    ) -> Arc<Self> {
        let checks = before.map(|before| Arc::clone(&before.checks)).unwrap_or_default();
        let before = before.filter(|before| Arc::ptr_eq(&before.listing, listing) && *before.namespace == namespace);
        if let Some(before) = before.filter(|before| before.names == names) {
            return Arc::clone(before);
        }
        let made = before.map(|before| before.made().clone()).unwrap_or_default();
        let made = made
            .into_iter()
            .filter(|(place, tool)| names.get(*place) == Some(tool.traits.name.as_str()));
        Arc::new(Self {
            server: server.clone(),
            origin: Origin::McpServer(server.name.clone()),
            relay: Arc::clone(relay),
            listing: Arc::clone(listing),
            claimed: listing.entries().map(claimed).collect(),
            made: Mutex::new(made.collect()),
            names,
            checks,
            namespace: Arc::new(namespace),
        })
    }

    /// How their names begin.
    pub const fn namespace(&self) -> &Arc<ServerNames> {
        &self.namespace
    }

    /// The list that they are from.
    pub const fn listing(&self) -> &Arc<Listing> {
        &self.listing
    }

    /// What the tool at a place is called here.
    pub fn name(&self, place: usize) -> Option<&str> {
        self.names.get(place).filter(|name| !name.is_empty())
    }

    pub fn places(&self) -> impl Iterator<Item = usize> {
        (0..self.names.len()).filter(|place| self.name(*place).is_some())
    }

    /// What the guards need to know of a tool by what the server calls it.
    pub fn traits_by_own_name(&self, tool: &str) -> Option<ToolTraits> {
        self.traits(self.listing.place_of(tool)?)
    }

    fn tool(&self, place: usize) -> Option<McpTool> {
        let traits = self.traits(place)?;
        let (relay, listing) = (Arc::clone(&self.relay), Arc::clone(&self.listing));
        let tool = McpTool::new(traits, relay, (listing, place), Arc::clone(&self.checks));
        Some(tool.of(&self.server))
    }

    fn made(&self) -> MutexGuard<'_, HashMap<usize, Arc<Registered>>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToolSource for ServerTools {
    fn origin(&self) -> &Origin {
        &self.origin
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn get(&self, place: usize) -> Option<Arc<Registered>> {
        if let Some(made) = self.made().get(&place) {
            return Some(Arc::clone(made));
        }
        let tool = Arc::new(Registered::new(Box::new(self.tool(place)?), Arc::clone(&self.checks)));
        Some(Arc::clone(self.made().entry(place).or_insert(tool)))
    }

    fn traits(&self, place: usize) -> Option<ToolTraits> {
        let name = self.name(place)?;
        let namespace = Namespace::Server(Arc::clone(&self.namespace));
        Some(traits_of(&self.server, name.parse().ok()?, namespace, *self.claimed.get(place)?))
    }

    fn definition(&self, place: usize) -> Option<ToolDefinition> {
        Some(self.tool(place)?.definition())
    }
}

#[cfg(test)]
#[path = "server_tools_tests.rs"]
mod tests;

//! The tools there are, by name: those of the house, which stay, and those of MCP servers, which come and go.
//!
//! A tool of the house enters once, with its schema checked. Tools of servers are made and validators are compiled on
//! first use.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use openfang_types::ids::ToolName;
use openfang_types::schema;
use openfang_types::tool::{ToolDefinition, ToolTraits};
use tokio::sync::watch;

use crate::quarantine::Quarantine;
use crate::schema_check::{CompiledSchema, SchemaChecks};
use crate::server_tools::ServerTools;
use crate::tools::Tool;

/// The tools there are.
#[derive(Default)]
pub struct Catalog {
    own: HashMap<ToolName, Arc<Registered>>,
    connected: RwLock<Arc<Connected>>,
    /// Counts how often the connected ones were replaced.
    version: watch::Sender<u64>,
    quarantine: Quarantine,
}

/// The tools of MCP servers.
#[derive(Default)]
struct Connected {
    servers: Vec<Arc<ServerTools>>,
    /// Which server and which of its tools, in the order of their names.
    order: Vec<(u32, u32)>,
}

/// A tool that there is. One of an MCP server is not made for being looked at.
#[derive(Clone)]
pub enum Known {
    /// A tool of the house.
    Own(Arc<Registered>),
    /// A tool of a server, by its place there.
    Connected(Arc<ServerTools>, usize),
}

/// A tool with what it says about itself.
pub struct Registered {
    /// What the guards need to know of it.
    pub traits: ToolTraits,
    /// What a tool of the house says about itself; the others are asked each time.
    definition: Option<Arc<ToolDefinition>>,
    pub(crate) tool: Box<dyn Tool>,
    /// Boxed: most tools of MCP servers are never called.
    schema: OnceLock<Result<Box<CompiledSchema>, String>>,
    /// Where checks run that take longer.
    checks: Arc<SchemaChecks>,
}

/// Why a tool did not enter the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// The name is taken.
    #[error("there is a tool {0} already")]
    NameTaken(ToolName),
    /// The schema is beyond what we are willing to compile or check.
    #[error("the tool {tool} is refused: {why}")]
    Schema {
        /// Which tool.
        tool: ToolName,
        /// Why.
        why: &'static str,
    },
}

impl Catalog {
    /// Takes a tool of the house in.
    pub fn register(&mut self, tool: Box<dyn Tool>) -> Result<(), CatalogError> {
        let definition = tool.definition();
        let name = definition.name.clone();
        if let Some(why) = schema::fault_of(&definition.input_schema) {
            return Err(CatalogError::Schema { tool: name, why });
        }
        if self.own.contains_key(&name) {
            return Err(CatalogError::NameTaken(name));
        }
        let registered = Registered { definition: Some(Arc::new(definition)), ..Registered::new(tool, Arc::default()) };
        self.own.insert(name, Arc::new(registered));
        Ok(())
    }

    /// From now on these are the tools of MCP servers. A name of the house stays the house's.
    pub fn connect(&self, servers: Vec<Arc<ServerTools>>) {
        // The same tools are no news: everybody who listens would list them again.
        let known = self.connected();
        let is_same = |(one, other): (&Arc<ServerTools>, &Arc<ServerTools>)| Arc::ptr_eq(one, other);
        if known.servers.len() == servers.len() && known.servers.iter().zip(&servers).all(is_same) {
            return;
        }
        let mut order = Vec::with_capacity(servers.iter().map(|server| server.places().count()).sum());
        let taken: HashSet<&str> = self.own.keys().map(ToolName::as_str).collect();
        for (server, tools) in (0..).zip(&servers) {
            let is_free = |place: &usize| !taken.contains(tools.name(*place).unwrap_or_default());
            order.extend(
                tools
                    .places()
                    .filter(is_free)
                    .filter_map(|place| Some((server, u32::try_from(place).ok()?))),
            );
        }
        let mut connected = Connected { servers, order: Vec::new() };
        order.sort_by(|a, b| connected.name(*a).cmp(connected.name(*b)));
        connected.order = order;
        *self.connected.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(connected);
        self.version.send_modify(|version| *version += 1);
    }

    /// The tool of that name.
    pub fn get(&self, name: &ToolName) -> Option<Arc<Registered>> {
        self.own.get(name).cloned().or_else(|| self.connected().get(name.as_str()))
    }

    /// All tools, by name.
    pub fn sorted(&self) -> Vec<Known> {
        let connected = self.connected();
        let of_servers = connected.order.iter().filter_map(|(server, place)| {
            Some(Known::Connected(Arc::clone(connected.servers.get(*server as usize)?), *place as usize))
        });
        let mut all: Vec<_> = self.own.values().cloned().map(Known::Own).chain(of_servers).collect();
        all.sort_by(|a, b| a.name().cmp(b.name()));
        all
    }

    /// The tools that wait because their definition changed.
    pub const fn quarantine(&self) -> &Quarantine {
        &self.quarantine
    }

    /// How often the tools of MCP servers were replaced.
    pub fn version(&self) -> u64 {
        *self.version.borrow()
    }

    /// Tells when the tools of MCP servers are replaced.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    fn connected(&self) -> Arc<Connected> {
        Arc::clone(&self.connected.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Connected {
    fn name(&self, (server, place): (u32, u32)) -> &str {
        let server = self.servers.get(server as usize);
        server.and_then(|server| server.name(place as usize)).unwrap_or_default()
    }

    fn get(&self, name: &str) -> Option<Arc<Registered>> {
        let found = self.order.binary_search_by(|at| self.name(*at).cmp(name)).ok()?;
        let (server, place) = self.order.get(found)?;
        self.servers.get(*server as usize)?.get(*place as usize)
    }
}

impl Known {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Own(tool) => tool.traits.name.as_str(),
            Self::Connected(server, place) => server.name(*place).unwrap_or_default(),
        }
    }

    /// What the guards need to know of it.
    pub fn traits(&self) -> Option<ToolTraits> {
        match self {
            Self::Own(tool) => Some(tool.traits.clone()),
            Self::Connected(server, place) => server.traits(*place),
        }
    }

    /// What it says about itself.
    pub fn definition(&self) -> Option<ToolDefinition> {
        match self {
            Self::Own(tool) => Some(Arc::unwrap_or_clone(tool.definition())),
            Self::Connected(server, place) => server.definition(*place),
        }
    }
}

impl Registered {
    /// A tool whose definition is asked for when it is needed.
    pub(crate) fn new(tool: Box<dyn Tool>, checks: Arc<SchemaChecks>) -> Self {
        Self { traits: tool.traits(), definition: None, tool, schema: OnceLock::new(), checks }
    }

    /// What it says about itself.
    pub fn definition(&self) -> Arc<ToolDefinition> {
        self.definition.clone().unwrap_or_else(|| Arc::new(self.tool.definition()))
    }

    /// The compiled schema or why it cannot be compiled, once that is known. What we wrote ourselves is compiled here.
    pub(crate) fn known_schema(&self) -> Option<Result<&CompiledSchema, &str>> {
        if self.definition.is_some() {
            return Some(self.schema());
        }
        self.schema
            .get()
            .map(|compiled| compiled.as_ref().map(AsRef::as_ref).map_err(String::as_str))
    }

    /// The compiled schema, or why it cannot be compiled. Compiling what others wrote may take long.
    pub(crate) fn schema(&self) -> Result<&CompiledSchema, &str> {
        let compiled = self.schema.get_or_init(|| {
            let compiled = CompiledSchema::of(&self.definition().input_schema)?;
            Ok(Box::new(if self.definition.is_some() { compiled.by_us() } else { compiled }))
        });
        compiled.as_ref().map(AsRef::as_ref).map_err(String::as_str)
    }

    /// Where checks run that take longer.
    pub(crate) fn checks(&self) -> &SchemaChecks {
        &self.checks
    }
}

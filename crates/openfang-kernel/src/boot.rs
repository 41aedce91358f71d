//! Putting the parts together, in order: home, keys, credentials, tools, agents. Nothing runs until all of it is there.

use std::path::PathBuf;
use std::sync::{Arc, Weak};

use openfang_egress::resolve::{Resolve, SystemResolver};
use openfang_runtime::catalog::CatalogError;
use openfang_runtime::files::Files;
use openfang_runtime::mcp_server::Shared;
use openfang_runtime::metrics::PipelineMetrics;
use openfang_runtime::pipeline::secrets::SensitiveError;
use openfang_runtime::pipeline::{Pipeline, Sensitive};
use openfang_runtime::tools::Tool;
use openfang_runtime::workspaces::Workspaces;
use openfang_store::{NodeError, OpenError, StoreError, Stores};
use openfang_types::clock::{Clock, IdSource};
use openfang_types::config::{Config, ConfigProblem};
use openfang_types::ids::NodeId;
use openfang_types::settings_status::FailedServer;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;

use crate::access::accounts::Accounts;
use crate::access::keys::Keys;
use crate::access::vault::Vault;
use crate::access::{Access, Credentials};
use crate::doors::Doors;
use crate::doors::cards::Cards;
use crate::drain::Life;
use crate::integrity::Integrity;
use crate::kernel::{Front, Inner, Kernel};
use crate::mcp_metrics;
use crate::outward::{OURSELVES, Outward};
use crate::peers::external::{ExternalParts, ExternalPeers};
use crate::peers::lending::Lending;
use crate::peers::upstreams::{PeerParts, Upstreams};
use crate::session_journal::SessionFile;
use crate::settings::agents::AgentsError;
use crate::settings::config_file::Overlay;
use crate::settings::home::{Home, HomeError, HomeLoss, RecordError};
use crate::settings::{LiveSettings, Settings, SettingsMetrics, no_default};
use crate::store_metrics;
use crate::system::{SystemClock, SystemIds};
use crate::tasks::Tasks;
use crate::tasks::delegate::Delegates;

use agent_door::AgentDoor;
pub use furniture::{check_agents, known_tools};
use furniture::{furnish, with_agents, with_external};

mod agent_door;
mod database;
mod furniture;

/// What a kernel is made of. Start from [`Boot::new`] and replace what should be different.
pub struct Boot {
    home: Home,
    config: Config,
    stores: Option<Stores>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    tools: Vec<Box<dyn Tool>>,
    helper: PathBuf,
    resolver: Arc<dyn Resolve>,
    overlays: Vec<Overlay>,
    failed_servers: Vec<FailedServer>,
}

/// Why a kernel did not start.
#[derive(Debug, thiserror::Error)]
pub enum BootError {
    /// The home cannot be used.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// Something that the home had is lost.
    #[error(transparent)]
    Lost(#[from] HomeLoss),
    /// An agent cannot be used.
    #[error(transparent)]
    Agents(#[from] AgentsError),
    /// A tool cannot be used.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// A pattern cannot be used.
    #[error(transparent)]
    Sensitive(#[from] SensitiveError),
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] OpenError),
    /// The users cannot be read.
    #[error("cannot read the users: {0}")]
    Users(#[source] StoreError),
    /// This process cannot be registered.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// Something of the configuration cannot be used here.
    #[error("{}: {}", .0.key, .0.why)]
    Config(ConfigProblem),
    /// The system has no randomness.
    #[error("cannot get random numbers from the system: {0}")]
    Randomness(#[from] getrandom::Error),
}

impl From<RecordError> for BootError {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::File(error) => Self::Home(error),
            RecordError::Lost(loss) => Self::Lost(loss),
        }
    }
}

impl Boot {
    /// A kernel on this home with this config, with the home's database and the system's clock.
    pub fn new(home: Home, config: Config) -> Self {
        Self {
            home,
            config,
            stores: None,
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds::default()),
            tools: Vec::new(),
            helper: PathBuf::from(OURSELVES),
            resolver: Arc::new(SystemResolver),
            overlays: Vec::new(),
            failed_servers: Vec::new(),
        }
    }

    /// Adds a tool to the built-in ones.
    #[must_use]
    pub fn tool(mut self, tool: Box<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Starts children through this binary instead of the one that runs.
    #[must_use]
    pub fn helper(mut self, helper: PathBuf) -> Self {
        self.helper = helper;
        self
    }

    /// Turns names into addresses here instead of by the system.
    #[must_use]
    pub fn resolver(mut self, resolver: Arc<dyn Resolve>) -> Self {
        self.resolver = resolver;
        self
    }

    /// Lays this over the file whenever it is read again, as it was laid over the config that is given.
    #[must_use]
    pub fn overlays(mut self, overlays: Vec<Overlay>) -> Self {
        self.overlays = overlays;
        self
    }

    /// Says that these MCP servers were left out of the config, because their entries cannot be used.
    #[must_use]
    pub fn failed_servers(mut self, failed: Vec<FailedServer>) -> Self {
        self.failed_servers = failed;
        self
    }

    /// Works on these stores instead of the home's database, alone.
    #[must_use]
    pub fn stores(mut self, stores: Stores) -> Self {
        self.stores = Some(stores);
        self
    }

    /// Goes by this clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Takes its ids from here.
    #[must_use]
    pub fn ids(mut self, ids: Arc<dyn IdSource>) -> Self {
        self.ids = ids;
        self
    }

    /// Puts the parts together. The home must be prepared.
    pub fn start(self) -> Result<Kernel, BootError> {
        let node_id = NodeId::from_uuid(self.ids.ordered());
        let (stores, keys, database) = stores_of(self.stores, &self.home, node_id, &self.config)?;
        stores.quota.set(self.config.storage.owner_bytes);
        let files =
            Files::new(Workspaces::new(self.home.workspaces(), self.home.protected()), Arc::clone(&stores.files));
        let is_check_due = database.as_ref().is_some_and(|database| database.ended_uncleanly);
        let (node, memory) = database.map(|database| (database.node, database.memory)).unzip();
        let accounts = Accounts::open(Arc::clone(&stores.users), Arc::clone(&self.clock), memory.clone())
            .map_err(BootError::Users)?;
        let credentials = Credentials::new(Arc::new(accounts))?;
        let admin_key = credentials.admin_key(self.config.api_key.as_ref());
        let vault = Arc::new(Vault::of(&self.home, &keys, Arc::clone(&self.clock)));
        let sensitive = sensitive_of(&self.config, &credentials, &vault)?;
        let mut metrics = Registry::default();
        store_metrics::register(&mut metrics, &stores.health);
        let mcp_shared = sessions(&self.config, &self.home, &mut metrics);
        let settings_metrics = SettingsMetrics::register(&mut metrics);
        let a2a_unknown_tasks = unknown_tasks(&mut metrics);
        let pipeline_metrics = PipelineMetrics::register(&mut metrics);
        let outward = Outward::new(self.helper, self.resolver, &mut metrics);
        let http = outward.http(&self.config.egress).map_err(BootError::Config)?;
        let cards = Cards::new(&self.config).map_err(BootError::Config)?;

        // The agent tools need the agents, which need the tools: they get a door that is opened at the end.
        let door = Arc::<AgentDoor>::default();
        let external = Arc::<ExternalPeers>::default();
        let doors = (Arc::clone(&door), Arc::clone(&external));
        let catalog = furnish(&stores, &files, &self.clock, self.tools, &doors)?;
        let (catalog, mut agents) = with_agents(&self.home, catalog)?;
        with_external(&mut agents, &self.config, &external);
        let kept = (Arc::clone(&stores.audit), Arc::clone(&stores.results));
        let pipeline = Pipeline::new(catalog, kept, Arc::clone(&self.clock), sensitive, pipeline_metrics);
        let pipeline = Arc::new(pipeline);
        let settings = Settings::new(self.config, agents, admin_key, http);
        let not_in_force = (self.overlays, self.failed_servers);
        let settings = LiveSettings::new(settings, not_in_force, &self.home, settings_metrics);
        let outward = Arc::new(outward);
        let lending = Arc::new(Lending::new(&vault, &stores.audit, (&self.clock, &self.ids)));
        let upstreams = Upstreams::new(PeerParts {
            settings: settings.changes(),
            pipeline: Arc::clone(&pipeline),
            outward: Arc::clone(&outward),
            home: self.home.clone(),
            audit: Arc::clone(&stores.audit),
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
            counts: Arc::clone(mcp_shared.counts()),
            instance: keys.instance(),
            lending: Arc::clone(&lending),
        });
        external.open(ExternalParts {
            settings: settings.changes(),
            pipeline: Arc::downgrade(&pipeline),
            home: self.home.clone(),
            agents: Arc::clone(&door) as _,
            lending,
        });
        let inner = Arc::new(Inner {
            external,
            settings,
            access: Access::new(credentials, keys, vault),
            tasks: Tasks::of(node_id),
            upstreams,
            doors: Doors::new(cards, mcp_shared, a2a_unknown_tasks),
            life: Life::default(),
            stores,
            files,
            clock: self.clock,
            ids: self.ids,
            node,
            memory,
            integrity: Integrity::new(is_check_due),
            pipeline,
            outward,
            home: self.home,
            front: Front::new(metrics),
        });
        door.open(Arc::downgrade(&inner) as Weak<dyn Delegates>);
        check_default(&inner)?;
        know_servers(&inner);
        Ok(Kernel { inner })
    }
}

/// What must not travel: the values of all secrets of this house.
fn sensitive_of(config: &Config, credentials: &Credentials, vault: &Vault) -> Result<Sensitive, BootError> {
    let stored = vault.values();
    let secrets = config.api_key.iter().chain([credentials.daemon_token()]).chain(&stored);
    Ok(Sensitive::new(secrets, &config.pii)?)
}

fn check_default(inner: &Inner) -> Result<(), BootError> {
    match no_default(&inner.settings(), &inner.home) {
        Some(problem) => Err(BootError::Config(problem)),
        None => Ok(()),
    }
}

/// The stores that were given, or those of the home's database.
fn stores_of(
    given: Option<Stores>,
    home: &Home,
    node_id: NodeId,
    config: &Config,
) -> Result<(Stores, Keys, Option<database::OpenDatabase>), BootError> {
    match given {
        Some(stores) => Ok((stores, Keys::of(home, None)?, None)),
        None => {
            let (stores, keys, database) = database::open(home, node_id, (&config.limits).into())?;
            Ok((stores, keys, Some(database)))
        }
    }
}

/// What all MCP servers of this process share, and what is counted of it.
fn sessions(config: &Config, home: &Home, metrics: &mut Registry) -> Arc<Shared> {
    let shared = Shared::remembering(&config.limits, Arc::new(SessionFile::at(&home.ended_sessions())));
    mcp_metrics::register(metrics, shared.counts());
    shared
}

fn unknown_tasks(metrics: &mut Registry) -> Counter {
    let count = Counter::default();
    let help = "Unknown task ids in A2A requests";
    metrics.register("openfang_a2a_unknown_tasks", help, count.clone());
    count
}

/// Knows the MCP servers of the configuration, and says what of the settings cannot be used.
fn know_servers(inner: &Inner) {
    let settings = inner.settings();
    for entry in &settings.config().mcp_servers {
        inner.upstreams.put(entry.clone());
    }
    for failed in inner.settings.status().failed_servers {
        tracing::warn!(server = failed.name, "an MCP server is left out: {}", failed.reason);
    }
    for failed in settings.failed_agents() {
        tracing::warn!(agent = failed.name, "an agent cannot be used: {}", failed.reason);
    }
}

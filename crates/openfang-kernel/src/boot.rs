//! Putting the parts together, in order: home, keys, credentials, tools, agents. Nothing runs until all of it is there.

use std::path::PathBuf;
use std::sync::Arc;

use openfang_egress::process::our_binary;
use openfang_egress::resolve::{Resolve, SystemResolver};
use openfang_runtime::catalog::CatalogError;
use openfang_runtime::files::Files;
use openfang_runtime::mcp_server::Shared;
use openfang_runtime::metrics::PipelineMetrics;
use openfang_runtime::pipeline::secrets::SensitiveError;
use openfang_runtime::pipeline::{Pipeline, PipelineStores, Sensitive};
use openfang_runtime::tools::Tool;
use openfang_runtime::workspaces::Workspaces;
use openfang_store::{NodeError, OpenError, StoreError, Stores};
use openfang_types::clock::{Clock, IdSource};
use openfang_types::config::{Config, ConfigProblem};
use openfang_types::ids::NodeId;
use openfang_types::secret::Secret;
use openfang_types::settings_status::FailedServer;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;

use crate::access::Credentials;
use crate::access::accounts::Accounts;
use crate::access::keys::Keys;
use crate::access::vault::Vault;
use crate::change::ChangeRecorder;
use crate::doors::cards::Cards;
use crate::drain::Life;
use crate::kernel::Kernel;
use crate::mcp_metrics;
use crate::outward::Outward;
use crate::peers::models::Models;
use crate::peers::models::keys::known_values;
use crate::session_journal::SessionFile;
use crate::settings::agents::AgentsError;
use crate::settings::config_file::Overlay;
use crate::settings::home::{Home, HomeError, HomeLoss, RecordError};
use crate::settings::{LiveSettings, Settings, SettingsMetrics, no_default};
use crate::store_metrics;
use crate::system::{SystemClock, SystemIds};
use crate::web::search_keys;

pub(crate) use furniture::loaded_agents;
use furniture::{Ways, furnish, with_agents, with_external};
pub use furniture::{check_agents, known_tools};
use rooms::{Furnishings, Ground};

mod database;
mod furniture;
mod rooms;

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
            helper: our_binary(),
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
        let mut metrics = Registry::default();
        store_metrics::register(&mut metrics, &stores.health);
        let mcp_shared = sessions(&self.config, &self.home, &mut metrics);
        let settings_metrics = SettingsMetrics::register(&mut metrics);
        let a2a_unknown_tasks = unknown_tasks(&mut metrics);
        let pipeline_metrics = PipelineMetrics::register(&mut metrics);
        let outward = Outward::new(self.helper, self.config.egress.children, self.resolver, &mut metrics);
        let http = outward.doors(&self.config).map_err(BootError::Config)?;
        let cards = Cards::new(&self.config).map_err(BootError::Config)?;

        // The agents need the way to those of other servers, which needs the rest of the house: it is opened at the end.
        let ways = Ways::default();
        let catalog = furnish(&stores, &files, &self.clock, self.tools, &ways)?;
        let Ways { external, web, programs } = ways;
        let models = Arc::<Models>::default();
        let (catalog, mut agents) = with_agents(&self.home, catalog, (&self.config, &models))?;
        with_external(&mut agents, &self.config, &external);
        let keys_of_models = known_values(&self.config, agents.agents.values().map(|agent| &*agent.manifest));
        let sensitive = sensitive_of(&self.config, &credentials, (&vault, &keys_of_models))?;
        let kept = PipelineStores {
            audit: Arc::clone(&stores.audit),
            results: Arc::clone(&stores.results),
            approvals: Arc::clone(&stores.approvals),
        };
        let pipeline = Pipeline::new(catalog, kept, Arc::clone(&self.clock), sensitive, pipeline_metrics);
        let pipeline = Arc::new(pipeline);
        let settings = Settings::new(self.config, agents, admin_key, http);
        let not_in_force = (self.overlays, self.failed_servers);
        let settings = Arc::new(LiveSettings::new(settings, not_in_force, &self.home, settings_metrics));
        web.open(&settings);
        if let Some(problem) = no_default(&settings.current(), &self.home) {
            return Err(BootError::Config(problem));
        }
        let life = Life::default();
        let changes = ChangeRecorder::new(Arc::clone(&stores.audit), Arc::clone(&self.clock), life.clone());
        let (home, clock, ids, outward) = (self.home, self.clock, self.ids, Arc::new(outward));
        programs.open(&outward, life.tracker().clone());
        let ground = Ground { home, settings, stores, pipeline, outward, changes, clock, ids, life };
        let node = (node_id, node);
        let kernel = ground.kernel(Furnishings {
            credentials,
            keys,
            vault,
            node,
            is_check_due,
            memory,
            files,
            external,
            models,
            cards,
            mcp_shared,
            unknown_tasks: a2a_unknown_tasks,
            metrics,
        });
        kernel.know_servers();
        Ok(kernel)
    }
}

/// What must not travel: the values of all secrets of this house.
fn sensitive_of(
    config: &Config,
    credentials: &Credentials,
    (vault, keys_of_models): (&Vault, &[Secret]),
) -> Result<Sensitive, BootError> {
    let (stored, searches) = (vault.values(), search_keys());
    let secrets = config
        .api_key
        .iter()
        .chain([credentials.daemon_token()])
        .chain(&stored)
        .chain(&searches)
        .chain(keys_of_models)
        .chain(config.events.hooks.iter().filter_map(|hook| hook.token.as_ref()));
    Ok(Sensitive::new(secrets, &config.pii)?)
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

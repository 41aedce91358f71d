//! The tools of the house and the agents of the home, put together.

use std::sync::Arc;

use openfang_runtime::answerer::remote::ExternalAgents;
use openfang_runtime::catalog::Catalog;
use openfang_runtime::files::Files;
use openfang_runtime::mcp::format_mcp_tool_name;
use openfang_runtime::models::ModelSource;
use openfang_runtime::tool_source::BuiltinTools;
use openfang_runtime::tools::{Surroundings, Tool, builtin};
use openfang_runtime::workspaces::Workspaces;
use openfang_store::Stores;
use openfang_types::agent::AgentManifest;
use openfang_types::clock::Clock;
use openfang_types::config::Config;
use openfang_types::settings_status::FailedAgent;

use super::BootError;
use crate::peers::external::ExternalPeers;
use crate::peers::models::Models;
use crate::program_access::ProgramAccess;
use crate::settings::agents::{self, AgentSurroundings, LoadedAgents};
use crate::settings::home::Home;
use crate::system::SystemClock;
use crate::web::WebAccess;

/// The agents of a home that cannot be used, and why. Nothing is opened or started for the answer.
pub fn check_agents(home: &Home, config: &Config) -> Result<Vec<FailedAgent>, BootError> {
    if !home.agents().exists() {
        return Ok(Vec::new());
    }
    let stores = Stores::in_memory();
    let files = Files::new(Workspaces::new(home.workspaces(), home.protected()), Arc::clone(&stores.files));
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let catalog = furnish(&stores, &files, &clock, Vec::new(), &Ways::default())?;
    Ok(with_agents(home, catalog, (config, &Arc::default()))?.1.failed)
}

/// The manifests of a home's agents that can be used. Nothing is opened or started for the answer.
pub(crate) fn loaded_agents(home: &Home, config: &Config) -> Vec<Arc<AgentManifest>> {
    let stores = Stores::in_memory();
    let files = Files::new(Workspaces::new(home.workspaces(), home.protected()), Arc::clone(&stores.files));
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let loaded = furnish(&stores, &files, &clock, Vec::new(), &Ways::default())
        .and_then(|catalog| with_agents(home, catalog, (config, &Arc::default())));
    let agents = loaded.map(|(_, loaded)| loaded.agents).unwrap_or_default();
    agents.into_values().map(|agent| Arc::clone(&agent.manifest)).collect()
}

/// The names of the built-in tools, and of those that MCP servers had when they were connected last. Nothing is opened or
/// started for the answer.
pub fn known_tools(home: &Home) -> Vec<String> {
    let stores = Stores::in_memory();
    let files = Files::new(Workspaces::new(home.workspaces(), home.protected()), Arc::clone(&stores.files));
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let catalog = furnish(&stores, &files, &clock, Vec::new(), &Ways::default());
    let builtin = catalog.map(|catalog| catalog.sorted()).unwrap_or_default();
    let mut names: Vec<String> = builtin.iter().map(|entry| entry.name().to_owned()).collect();
    for path in std::fs::read_dir(home.mcp()).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let server = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let kept: serde_json::Value = std::fs::read(&path)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        let tools = kept["manifest"]["tools"].as_array().into_iter().flatten();
        names.extend(tools.filter_map(|tool| Some(format_mcp_tool_name(&server, tool["name"].as_str()?))));
    }
    names
}

/// The ways out that tools are given. The tools are made before these are opened.
#[derive(Default)]
pub(super) struct Ways {
    pub(super) external: Arc<ExternalPeers>,
    pub(super) web: Arc<WebAccess>,
    pub(super) programs: Arc<ProgramAccess>,
}

pub(super) type Furniture = (Catalog, LoadedAgents);

pub(super) fn furnish(
    stores: &Stores,
    files: &Files,
    clock: &Arc<dyn Clock>,
    extra: Vec<Box<dyn Tool>>,
    ways: &Ways,
) -> Result<Catalog, BootError> {
    let around = Surroundings {
        memory: Arc::clone(&stores.memory),
        foreign: Arc::clone(&ways.external) as _,
        web: Arc::clone(&ways.web) as _,
        programs: Arc::clone(&ways.programs) as _,
        files: files.clone(),
        results: Arc::clone(&stores.results),
        queue: Arc::clone(&stores.queue),
        events: Arc::clone(&stores.events),
        schedules: Arc::clone(&stores.schedules),
        clock: Arc::clone(clock),
    };
    let own = BuiltinTools::new(builtin(around).into_iter().chain(extra))?;
    Ok(Catalog::new(vec![Arc::new(own)]))
}

pub(super) fn with_agents(
    home: &Home,
    catalog: Catalog,
    (config, models): (&Config, &Arc<Models>),
) -> Result<Furniture, BootError> {
    let models = Arc::clone(models) as Arc<dyn ModelSource>;
    let around = AgentSurroundings { catalog: &catalog, config, models: &models };
    let agents = agents::load(&home.agents(), &around, &agents::Agents::new())?;
    Ok((catalog, agents))
}

/// Adds the external agents that the configuration names.
pub(super) fn with_external(loaded: &mut LoadedAgents, config: &Config, external: &Arc<ExternalPeers>) {
    let peers = Arc::clone(external) as Arc<dyn ExternalAgents>;
    agents::add_external(loaded, &config.a2a.external_agents, &peers, &agents::Agents::new());
}

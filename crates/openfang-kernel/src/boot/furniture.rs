//! The tools of the house and the agents of the home, put together.

use std::sync::Arc;

use openfang_runtime::catalog::Catalog;
use openfang_runtime::files::Files;
use openfang_runtime::tool_source::BuiltinTools;
use openfang_runtime::tools::{Surroundings, Tool, builtin};
use openfang_runtime::workspaces::Workspaces;
use openfang_store::Stores;
use openfang_types::clock::Clock;
use openfang_types::settings_status::FailedAgent;

use super::BootError;
use super::agent_door::AgentDoor;
use crate::settings::agents::{self, LoadedAgents};
use crate::settings::home::Home;
use crate::system::SystemClock;

/// The agents of a home that cannot be used, and why. Nothing is opened or started for the answer.
pub fn check_agents(home: &Home) -> Result<Vec<FailedAgent>, BootError> {
    if !home.agents().exists() {
        return Ok(Vec::new());
    }
    let stores = Stores::in_memory();
    let files = Files::new(Workspaces::new(home.workspaces(), home.protected()), Arc::clone(&stores.files));
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let catalog = furnish(&stores, &files, &clock, Vec::new(), &Arc::default())?;
    Ok(with_agents(home, catalog)?.1.failed)
}

pub(super) type Furniture = (Catalog, LoadedAgents);

pub(super) fn furnish(
    stores: &Stores,
    files: &Files,
    clock: &Arc<dyn Clock>,
    extra: Vec<Box<dyn Tool>>,
    door: &Arc<AgentDoor>,
) -> Result<Catalog, BootError> {
    let around = Surroundings {
        memory: Arc::clone(&stores.memory),
        agents: Arc::clone(door) as _,
        files: files.clone(),
        results: Arc::clone(&stores.results),
        clock: Arc::clone(clock),
    };
    let own = BuiltinTools::new(builtin(around).into_iter().chain(extra))?;
    Ok(Catalog::new(vec![Arc::new(own)]))
}

pub(super) fn with_agents(home: &Home, catalog: Catalog) -> Result<Furniture, BootError> {
    let agents = agents::load(&home.agents(), &catalog, &agents::Agents::new())?;
    Ok((catalog, agents))
}

//! The tools of the house and the agents of the home, put together.

use std::sync::{Arc, Weak};

use futures_util::future::BoxFuture;
use openfang_runtime::agents::{AgentError, AgentReply, AgentSummary, Agents};
use openfang_runtime::catalog::Catalog;
use openfang_runtime::context::CallContext;
use openfang_runtime::files::Files;
use openfang_runtime::tool_source::BuiltinTools;
use openfang_runtime::tools::{Surroundings, Tool, builtin};
use openfang_runtime::workspaces::Workspaces;
use openfang_store::Stores;
use openfang_types::clock::Clock;
use openfang_types::ids::AgentName;
use openfang_types::principal::Principal;
use openfang_types::settings_status::FailedAgent;

use super::BootError;
use crate::kernel::{Inner, Kernel};
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
    let catalog = furnish(&stores, &files, &clock, Vec::new(), &Weak::new())?;
    Ok(with_agents(home, catalog)?.1.failed)
}

pub(super) type Furniture = (Catalog, LoadedAgents);

pub(super) fn furnish(
    stores: &Stores,
    files: &Files,
    clock: &Arc<dyn Clock>,
    extra: Vec<Box<dyn Tool>>,
    kernel: &Weak<Inner>,
) -> Result<Catalog, BootError> {
    let around = Surroundings {
        memory: Arc::clone(&stores.memory),
        agents: Arc::new(AgentDoor { kernel: Weak::clone(kernel) }),
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

/// The agents, for the tools that talk to them.
struct AgentDoor {
    kernel: Weak<Inner>,
}

impl Agents for AgentDoor {
    fn visible(&self, principal: &Principal) -> Vec<AgentSummary> {
        self.kernel.upgrade().map(|inner| Kernel { inner }.agents(principal)).unwrap_or_default()
    }

    fn send<'a>(
        &'a self,
        cx: &'a CallContext,
        agent: &'a AgentName,
        text: String,
    ) -> BoxFuture<'a, Result<AgentReply, AgentError>> {
        Box::pin(async move {
            let inner = self.kernel.upgrade().ok_or_else(|| AgentError::Unknown(agent.clone()))?;
            Kernel { inner }.send_from_agent(cx, agent, text).await
        })
    }
}

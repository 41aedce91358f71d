//! Whose files are where: each owner has a workspace for direct calls, and one with each agent. Those that agents have
//! with the admin are the agents' own: what the house gives them lies there.

use std::path::PathBuf;
use std::sync::Arc;

use openfang_types::ids::Owner;

use crate::context::CallContext;
use crate::tools::ToolFailure;
use crate::workspace::{Workspace, WorkspaceError};

/// All workspaces, below one directory.
#[derive(Clone)]
pub struct Workspaces {
    places: Arc<Places>,
}

struct Places {
    root: PathBuf,
    protected: Vec<PathBuf>,
}

impl Workspaces {
    /// Workspaces below `root`; `protected` is denied to tools wherever it can be reached from.
    pub fn new(root: PathBuf, protected: Vec<PathBuf>) -> Self {
        Self { places: Arc::new(Places { root, protected }) }
    }

    /// Whose workspace a call works in, as a path below the root.
    pub(crate) fn place(cx: &CallContext) -> String {
        let owner = cx.principal.owner();
        match &cx.agent {
            Some(agent) if *owner == Owner::admin() => format!("agents/{}", agent.name),
            Some(agent) => format!("users/{owner}/agents/{}", agent.name),
            None => format!("owners/{owner}"),
        }
    }

    /// Does file work in the caller's workspace, off the async threads.
    pub(crate) async fn with<T: Send + 'static>(
        &self,
        cx: &CallContext,
        work: impl FnOnce(&Workspace) -> Result<T, WorkspaceError> + Send + 'static,
    ) -> Result<T, ToolFailure> {
        let places = Arc::clone(&self.places);
        let whose = places.root.join(Self::place(cx));
        let done = tokio::task::spawn_blocking(move || work(&Workspace::open(&whose, &places.protected)?)).await;
        Ok(done??)
    }
}

//! Whose files are where: each agent has a workspace, and each owner one for direct calls.

use std::path::PathBuf;
use std::sync::Arc;

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
        match &cx.agent {
            Some(agent) => format!("agents/{}", agent.name),
            None => format!("owners/{}", cx.principal.owner()),
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

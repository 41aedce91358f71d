//! Whose files are where: each owner has a workspace for direct calls, and one with each agent. Those that agents have
//! with the admin are the agents' own: what the house gives them lies there.
//!
//! File work is done in a turn: many may read at a time, but whoever writes is alone, in all processes of this home.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use openfang_egress::process::Sandbox;
use openfang_types::ids::Owner;
use tokio::sync::RwLock;

use crate::context::CallContext;
use crate::tools::ToolFailure;
use crate::workspace::{FileLock, LockKind, Workspace, WorkspaceError};

/// Where a program of a call works.
#[derive(Debug, Clone)]
pub(crate) struct ProgramPlace {
    /// The workspace, which the program can change.
    pub(crate) root: PathBuf,
    /// The directory it runs in.
    pub(crate) directory: PathBuf,
    /// Where no program is run from: our own files, and other workspaces.
    pub(crate) closed: Vec<PathBuf>,
    /// What the program can read besides.
    pub(crate) read: Vec<PathBuf>,
}

/// All workspaces, below one directory.
#[derive(Clone)]
pub struct Workspaces {
    places: Arc<Places>,
}

struct Places {
    root: PathBuf,
    protected: Vec<PathBuf>,
    /// The workspaces somebody works in, or waits for. Threads must not wait for each other: that is done here.
    taken: Mutex<HashMap<String, Arc<RwLock<()>>>>,
}

/// The right to work in a workspace, until it is dropped.
pub(crate) struct Turn {
    workspace: Workspace,
    _among_processes: FileLock,
    _in_this_process: Box<dyn Send>,
}

impl Workspaces {
    /// Workspaces below `root`; `protected` is denied to tools wherever it can be reached from.
    pub fn new(root: PathBuf, protected: Vec<PathBuf>) -> Self {
        Self { places: Arc::new(Places { root, protected, taken: Mutex::default() }) }
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

    /// The workspace of a path below the root, and the rest of the path.
    pub(crate) fn split(path: &str) -> Option<(&str, &str)> {
        let names = match path.split('/').next()? {
            "agents" | "owners" => 2,
            "users" => 4,
            _ => return None,
        };
        let (end, _) = path.match_indices('/').nth(names - 1)?;
        Some((path.get(..end)?, path.get(end + 1..)?))
    }

    /// Whether there is a directory for this workspace.
    pub(crate) fn exists(&self, place: &str) -> bool {
        self.places.root.join(place).is_dir()
    }

    /// The place for a program in a workspace that was made: `directory` is a path in it, with links resolved. The program can
    /// read these paths, too. Blocks.
    pub(crate) fn program_place(
        &self,
        (place, directory): (&str, &str),
        read: &[PathBuf],
    ) -> Result<ProgramPlace, ToolFailure> {
        let places = &self.places;
        let root = places.root.join(place).canonicalize()?;
        let directory = if directory.is_empty() { root.clone() } else { root.join(directory).canonicalize()? };
        if !directory.starts_with(&root) || !directory.is_dir() {
            return Err(ToolFailure::new("the directory cannot be used; name a directory of the workspace"));
        }
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let closed: Vec<PathBuf> = places.protected.iter().chain([&places.root]).map(real).collect();
        let is_within = |path: &&PathBuf| path.starts_with(&root);
        if let Some(open) = closed.iter().find(|path| is_within(path) || Sandbox::is_open_to_all(path)) {
            let why = format!(
                "no program runs here: {} would be open to it; move the home of OpenFang to another directory",
                open.display()
            );
            return Err(ToolFailure::new(why));
        }
        let read: Vec<PathBuf> = read.iter().map(real).collect();
        let opens = |path: &&PathBuf| closed.iter().any(|own| own.starts_with(path) || path.starts_with(own));
        if let Some(path) = read.iter().find(opens) {
            let why = format!(
                "no program runs here: {} in exec.read would open files of OpenFang to it; name other directories",
                path.display()
            );
            return Err(ToolFailure::new(why));
        }
        Ok(ProgramPlace { root, directory, closed, read })
    }

    /// Waits for a turn in a workspace.
    pub(crate) async fn turn(&self, place: &str, kind: LockKind) -> Result<Turn, ToolFailure> {
        let taken = self.places.taken(place);
        let in_this_process: Box<dyn Send> = match kind {
            LockKind::Read => Box::new(taken.read_owned().await),
            LockKind::Write => Box::new(taken.write_owned().await),
        };
        let (places, whose) = (Arc::clone(&self.places), self.places.root.join(place));
        let opened = tokio::task::spawn_blocking(move || {
            let workspace = Workspace::open(&whose, &places.protected)?;
            let among_processes = workspace.lock(kind)?;
            Ok::<_, WorkspaceError>(Turn {
                workspace,
                _among_processes: among_processes,
                _in_this_process: in_this_process,
            })
        });
        Ok(opened.await??)
    }
}

impl Places {
    fn taken(&self, place: &str) -> Arc<RwLock<()>> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.retain(|_, lock| Arc::strong_count(lock) > 1);
        Arc::clone(taken.entry(place.to_owned()).or_default())
    }
}

impl Turn {
    /// Does file work, off the async threads. The turn lasts until the work is done, also when nobody waits for it.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce(&Workspace) -> Result<T, WorkspaceError> + Send + 'static,
    ) -> Result<(Self, Result<T, WorkspaceError>), ToolFailure> {
        let done = tokio::task::spawn_blocking(move || {
            let outcome = work(&self.workspace);
            (self, outcome)
        });
        Ok(done.await?)
    }
}

#[cfg(test)]
#[path = "workspaces_tests.rs"]
mod tests;

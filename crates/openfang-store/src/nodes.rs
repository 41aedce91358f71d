//! Tracks which processes are alive. Each process holds a lock on its own file. The system releases the lock when the
//! process ends, in any way. A held lock means alive and a free one dead, independent of the clock.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use openfang_types::ids::NodeId;

const LOCK: &str = "lock";

/// This process as a node of a home.
#[derive(Debug)]
pub struct Node {
    id: NodeId,
    directory: PathBuf,
    _lock: File,
}

/// Why a node cannot be registered.
#[derive(Debug, thiserror::Error)]
#[error("{path} cannot be used: {cause}", path = path.display())]
pub struct NodeError {
    path: PathBuf,
    #[source]
    cause: io::Error,
}

impl Node {
    /// Registers this process below `directory`.
    pub fn register(directory: &Path, id: NodeId) -> Result<Self, NodeError> {
        let path = directory.join(format!("{id}.{LOCK}"));
        let wrong = |cause| NodeError { path: path.clone(), cause };
        create_private_directory(directory).map_err(wrong)?;
        // Locked under a temporary name, so that no other process finds it unlocked.
        let beside = directory.join(format!("{id}.new"));
        let file = OpenOptions::new().create_new(true).write(true).open(&beside).map_err(wrong)?;
        file.try_lock().map_err(|error| wrong(error.into()))?;
        fs::rename(&beside, &path).map_err(wrong)?;
        Ok(Self { id, directory: directory.to_owned(), _lock: file })
    }

    /// Which node this is.
    pub const fn id(&self) -> NodeId {
        self.id
    }

    /// The nodes that are alive, including this one. [`Node::forget_dead`] removes the files of dead nodes.
    pub fn living(&self) -> Result<Vec<NodeId>, NodeError> {
        let mut living = vec![self.id];
        for (id, path) in self.others()? {
            if !is_free(&path).map_err(|cause| NodeError { path, cause })? {
                living.push(id);
            }
        }
        Ok(living)
    }

    /// Whether a process ended without removing its file, and its tasks are not recovered yet.
    pub fn has_dead(&self) -> Result<bool, NodeError> {
        for (_, path) in self.others()? {
            if is_free(&path).map_err(|cause| NodeError { path, cause })? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Removes the files of dead nodes. Call this after their tasks are recovered.
    pub fn forget_dead(&self) -> Result<(), NodeError> {
        for (_, path) in self.others()? {
            if is_free(&path).map_err(|cause| NodeError { path: path.clone(), cause })? {
                // Another process may have been faster.
                let _ = fs::remove_file(&path);
            }
        }
        Ok(())
    }

    fn others(&self) -> Result<Vec<(NodeId, PathBuf)>, NodeError> {
        let wrong = |cause| NodeError { path: self.directory.clone(), cause };
        let mut others = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(wrong)? {
            let path = entry.map_err(wrong)?.path();
            if path.extension().is_none_or(|extension| extension != LOCK) {
                continue;
            }
            let id = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
            others.extend(id.filter(|id| *id != self.id).map(|id| (id, path)));
        }
        Ok(others)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // An orderly shutdown leaves no file behind.
        let _ = fs::remove_file(self.directory.join(format!("{}.{LOCK}", self.id)));
    }
}

fn create_private_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn is_free(path: &Path) -> io::Result<bool> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
    };
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
#[path = "nodes_tests.rs"]
mod tests;

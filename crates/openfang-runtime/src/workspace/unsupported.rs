//! Systems without `openat2`: the types exist, every operation is refused. A gate that cannot hold stays shut.

use std::path::{Path, PathBuf};

use super::{FileBytes, Foreseen, Listing, LockKind, RelPath, WorkspaceError, Written};

/// Cannot be made, so the methods below are never reached.
#[derive(Debug)]
pub(super) struct Gate {}

impl Gate {
    pub(super) fn open(_root: &Path, _protected: &[PathBuf]) -> Result<Self, WorkspaceError> {
        Err(WorkspaceError::Unsupported)
    }

    pub(super) fn view(_root: &Path) -> Result<Self, WorkspaceError> {
        Err(WorkspaceError::Unsupported)
    }

    pub(super) fn lock(&self, _kind: LockKind) -> Result<FileLock, WorkspaceError> {
        Err(WorkspaceError::Unsupported)
    }

    pub(super) fn file(&self, _path: &RelPath<'_>) -> Result<Located, WorkspaceError> {
        Err(WorkspaceError::Unsupported)
    }

    pub(super) fn target(&self, _path: &RelPath<'_>) -> Result<Located, WorkspaceError> {
        Err(WorkspaceError::Unsupported)
    }

    pub(super) fn foresee(&self, _path: &RelPath<'_>) -> Result<Foreseen, WorkspaceError> {
        Err(WorkspaceError::Unsupported)
    }

    pub(super) fn write_foreseen(&self, _foreseen: &Foreseen, _bytes: &[u8]) -> Result<Written, WorkspaceError> {
        Err(WorkspaceError::Unsupported)
    }

    pub(super) fn directory(&self, _path: &RelPath<'_>) -> Result<Located, WorkspaceError> {
        Err(WorkspaceError::Unsupported)
    }

    pub(super) fn read(&self, _file: &Located, _max_bytes: usize) -> Result<FileBytes, WorkspaceError> {
        Err(WorkspaceError::Unsupported)
    }

    pub(super) fn write(&self, _target: &Located, _bytes: &[u8]) -> Result<Written, WorkspaceError> {
        Err(WorkspaceError::Unsupported)
    }

    pub(super) fn list(&self, _directory: &Located, _max_entries: usize) -> Result<Listing, WorkspaceError> {
        Err(WorkspaceError::Unsupported)
    }
}

#[derive(Debug)]
pub struct Located {}

impl Located {
    /// The path from the root.
    pub fn path(&self) -> &str {
        ""
    }
}

#[derive(Debug)]
pub struct FileLock {}

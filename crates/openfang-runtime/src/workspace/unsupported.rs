//! Systems without `openat2`: the types exist, every operation is refused. A gate that cannot hold stays shut.

use std::path::{Path, PathBuf};

use super::{FileBytes, Listing, RelPath, WorkspaceError, Written};

/// Cannot be made, so the methods below are never reached.
#[derive(Debug)]
pub(super) struct Gate {}

impl Gate {
    pub(super) fn open(_root: &Path, _protected: &[PathBuf]) -> Result<Self, WorkspaceError> {
        Err(WorkspaceError::Unsupported)
    }

    pub(super) fn read(&self, _path: &RelPath<'_>, _max_bytes: usize) -> Result<FileBytes, WorkspaceError> {
        Err(WorkspaceError::Unsupported)
    }

    pub(super) fn write(&self, _path: &RelPath<'_>, _bytes: &[u8]) -> Result<Written, WorkspaceError> {
        Err(WorkspaceError::Unsupported)
    }

    pub(super) fn list(&self, _path: &RelPath<'_>, _max_entries: usize) -> Result<Listing, WorkspaceError> {
        Err(WorkspaceError::Unsupported)
    }
}

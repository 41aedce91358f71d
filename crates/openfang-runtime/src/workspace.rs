//! The path gate of the file tools: everything they read, write or list goes through one [`Workspace`].
//!
//! A path is first parsed ([`RelPath`]), then walked one name at a time on pinned directories, so that what was checked
//! is what is opened and no rename in between can lead elsewhere. Links are followed only while they stay beneath the
//! root. Refused: everything outside, our own files (`protected`), and whatever is not a regular file or a directory.
//! Messages say nothing about what lies outside. All calls block: run them in `spawn_blocking`.

mod error;
#[cfg(target_os = "linux")]
mod linux;
mod rel_path;
mod shown;
#[cfg(not(target_os = "linux"))]
mod unsupported;

use std::path::{Path, PathBuf};

pub use error::WorkspaceError;
#[cfg(target_os = "linux")]
use linux::Gate;
pub use rel_path::{PathFault, RelPath};
#[cfg(not(target_os = "linux"))]
use unsupported::Gate;

/// A directory that tools may work in, and nothing beyond it.
#[derive(Debug)]
pub struct Workspace {
    gate: Gate,
}

impl Workspace {
    /// Opens the root, creating it and its parents with mode 0700, and pins it: renaming the directory later does not
    /// change what this workspace is.
    ///
    /// `protected` are files and directories that no tool touches even when they are reachable beneath the root: by
    /// their real name, a hard link or a bind mount. They are compared by device and inode, those of today and those
    /// of every later call, and by place, so that a file which does not exist yet cannot be planted either. The content
    /// of a protected directory is guarded by the directory: name a file itself to guard its hard links too.
    pub fn open(root: &Path, protected: &[PathBuf]) -> Result<Self, WorkspaceError> {
        Gate::open(root, protected).map(|gate| Self { gate })
    }

    /// Reads at most `max_bytes` from the start of a regular file.
    pub fn read(&self, path: &str, max_bytes: usize) -> Result<FileBytes, WorkspaceError> {
        self.gate.read(&parse(path)?, max_bytes)
    }

    /// Writes a whole file, creating the directories of its path. Others see the old content or the new one, never a
    /// part; when the write is refused or there is no room, the old content stays.
    pub fn write(&self, path: &str, bytes: &[u8]) -> Result<Written, WorkspaceError> {
        self.gate.write(&parse(path)?, bytes)
    }

    /// Lists the `max_entries` first names of a directory. Protected entries are left out.
    pub fn list(&self, path: &str, max_entries: usize) -> Result<Listing, WorkspaceError> {
        self.gate.list(&parse(path)?, max_entries)
    }
}

fn parse(path: &str) -> Result<RelPath<'_>, WorkspaceError> {
    RelPath::parse(path).map_err(|why| WorkspaceError::InvalidPath { path: shown::path(path), why })
}

/// The start of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileBytes {
    /// What was read.
    pub bytes: Vec<u8>,
    /// How long the whole file is.
    pub size: u64,
    /// Whether the file goes on after `bytes`.
    pub truncated: bool,
}

/// What a write did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// How many bytes the file has now.
    pub bytes: u64,
    /// Whether there was no such file before.
    pub created: bool,
}

/// The entries of a directory, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// At most as many as were asked for.
    pub entries: Vec<Entry>,
    /// Whether the directory has more than these.
    pub truncated: bool,
}

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name; control and invisible characters, backslashes and bytes that are not UTF-8 are escaped.
    pub name: String,
    /// What the name stands for. Links are not followed.
    pub kind: EntryKind,
    /// The length of a regular file, otherwise 0.
    pub size: u64,
}

/// What a directory entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, wherever it leads.
    Link,
    /// A pipe, a socket, a device.
    Other,
}

impl EntryKind {
    /// The word for it in a tool's answer.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Link => "link",
            Self::Other => "other",
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[path = "workspace_tests.rs"]
mod tests;

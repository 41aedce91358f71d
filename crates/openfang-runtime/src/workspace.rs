//! The path gate of the file tools: everything they read, write or list goes through one [`Workspace`].
//!
//! A path is first parsed ([`RelPath`]), then walked one name at a time on pinned directories, so that what was checked
//! is what is opened and no rename in between can lead elsewhere. Links are followed only while they stay beneath the
//! root. Refused: everything outside, our own files (`protected`), reading what has a second name, and whatever is not a regular file or a directory.
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
#[cfg(target_os = "linux")]
pub use linux::{FileLock, Located};
pub use rel_path::{PathFault, RelPath};
#[cfg(not(target_os = "linux"))]
use unsupported::Gate;
#[cfg(not(target_os = "linux"))]
pub use unsupported::{FileLock, Located};

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

    /// Opens a directory that is there, to be looked at. Nothing is made.
    pub fn view(root: &Path) -> Result<Self, WorkspaceError> {
        Gate::view(root).map(|gate| Self { gate })
    }

    /// Keeps other processes from writing here, or from working here at all, until the lock is dropped.
    pub fn lock(&self, kind: LockKind) -> Result<FileLock, WorkspaceError> {
        self.gate.lock(kind)
    }

    /// Finds a regular file.
    pub fn file(&self, path: &str) -> Result<Located, WorkspaceError> {
        self.gate.file(&parse(path)?)
    }

    /// Finds the place of a file to be written, creating the directories of its path.
    pub fn target(&self, path: &str) -> Result<Located, WorkspaceError> {
        self.gate.target(&parse(path)?)
    }

    /// Says where a file would be written, and makes nothing: so what will be there can be put on record first.
    pub fn foresee(&self, path: &str) -> Result<Foreseen, WorkspaceError> {
        self.gate.foresee(&parse(path)?)
    }

    /// Writes a whole file where it was foreseen, creating the directories of its path. See [`Workspace::write`].
    pub fn write_foreseen(&self, foreseen: &Foreseen, bytes: &[u8]) -> Result<Written, WorkspaceError> {
        self.gate.write_foreseen(foreseen, bytes)
    }

    pub fn directory(&self, path: &str) -> Result<Located, WorkspaceError> {
        self.gate.directory(&parse(path)?)
    }

    /// Reads at most `max_bytes` from the start of a file that was found.
    pub fn read_at(&self, file: &Located, max_bytes: usize) -> Result<FileBytes, WorkspaceError> {
        self.gate.read(file, max_bytes)
    }

    /// Writes a whole file where one may be written. See [`Workspace::write`].
    pub fn write_at(&self, target: &Located, bytes: &[u8]) -> Result<Written, WorkspaceError> {
        self.gate.write(target, bytes)
    }

    /// Lists the `max_entries` first names of a directory that was found.
    pub fn list_at(&self, directory: &Located, max_entries: usize) -> Result<Listing, WorkspaceError> {
        self.gate.list(directory, max_entries)
    }

    /// Reads at most `max_bytes` from the start of a regular file.
    pub fn read(&self, path: &str, max_bytes: usize) -> Result<FileBytes, WorkspaceError> {
        self.read_at(&self.file(path)?, max_bytes)
    }

    /// Writes a whole file, creating the directories of its path. Others see the old content or the new one, never a
    /// part; when the write is refused or there is no room, the old content stays.
    pub fn write(&self, path: &str, bytes: &[u8]) -> Result<Written, WorkspaceError> {
        self.write_at(&self.target(path)?, bytes)
    }

    /// Lists the `max_entries` first names of a directory. Protected entries are left out.
    pub fn list(&self, path: &str, max_entries: usize) -> Result<Listing, WorkspaceError> {
        self.list_at(&self.directory(path)?, max_entries)
    }
}

fn parse(path: &str) -> Result<RelPath<'_>, WorkspaceError> {
    RelPath::parse(path).map_err(|why| WorkspaceError::InvalidPath { path: shown::path(path), why })
}

/// How a workspace is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockKind {
    /// Together with others who read.
    Read,
    Write,
}

/// Where a file is going to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreseen {
    asked: String,
    path: String,
    new_directories: Vec<String>,
}

impl Foreseen {
    /// The path from the root, with links resolved.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The directories that have to be made, the outermost first.
    pub fn new_directories(&self) -> &[String] {
        &self.new_directories
    }
}

/// The start of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileBytes {
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
    File,
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

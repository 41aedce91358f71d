//! What a sandboxed child may access, and how much of that the kernel can enforce.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What a child may access in addition to the system's programs and libraries and its own temporary home. Missing paths
/// are skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// Files and directories to read and to run.
    pub read: Vec<PathBuf>,
    /// Files and directories to read, to run and to change.
    pub write: Vec<PathBuf>,
    /// Whether it may open sockets.
    pub network: Network,
}

impl Sandbox {
    /// Whether every sandboxed program can read a path, because it is among the programs and libraries of the system.
    pub fn is_open_to_all(path: &Path) -> bool {
        ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"]
            .iter()
            .any(|open| path.starts_with(open))
    }
}

impl Containment {
    /// Whether the child can reach no files but those that it was given.
    pub const fn holds_files(&self) -> bool {
        match self {
            Self::Full => true,
            Self::Partial { holds_files, .. } => *holds_files,
            Self::NotAsked | Self::None { .. } => false,
        }
    }
}

/// Whether a child may open sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Network {
    /// Network sockets only. Local sockets to other programs are refused.
    Allowed,
    /// No sockets of any family.
    Denied,
}

/// How much of the sandbox is enforced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Containment {
    /// No sandbox was requested.
    NotAsked,
    /// The whole sandbox is enforced.
    Full,
    /// Some rules are enforced, but not all.
    Partial {
        /// Whether all rules about files are enforced.
        holds_files: bool,
        /// The features that this kernel does not support.
        missing: Vec<String>,
    },
    /// The file rules are not enforced: the child can read everything its user can read.
    None { reason: String },
}

//! What a sandboxed child may access, and how much of that the kernel can enforce.

use std::path::PathBuf;

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
    /// The file rules are enforced, but something else is not.
    Partial {
        /// The features that this kernel does not support.
        missing: Vec<String>,
    },
    /// The file rules are not enforced: the child can read everything its user can read.
    None { reason: String },
}

//! What a sandboxed child may touch, and how much of that the system can hold it to.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a child may touch beside the system's programs and libraries and a temporary home of its own. Paths that do
/// not exist are skipped.
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
    /// Those of the network. Sockets to other programs of this machine by path or name are refused all the same.
    Allowed,
    /// None, of no family.
    Denied,
}

/// What a child was held to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Containment {
    /// No sandbox was asked for.
    NotAsked,
    /// All of the sandbox.
    Full,
    /// The file rules hold, something else does not.
    Partial {
        /// What the kernel is too old for.
        missing: Vec<String>,
    },
    /// The file rules do not hold: the child can read whatever its user can.
    None {
        /// Why.
        reason: String,
    },
}

//! Resource limits of a child.

use openfang_types::limits::{CHILD_MEMORY_BYTES, CHILD_PROCESSES};
use serde::{Deserialize, Serialize};

/// Limits of one child and everything it starts. None means the limit of the system. Core files are never written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceLimits {
    /// Memory in bytes: of the control group if there is one, otherwise of the data segment of each process.
    pub memory: Option<u64>,
    /// Processes and threads: of the control group if there is one, otherwise in addition to those the user already
    /// has. The latter does not apply to root.
    pub processes: Option<u64>,
    /// Open descriptors of each process.
    pub open_files: Option<u64>,
    /// Bytes of one file that it writes.
    pub file_size: Option<u64>,
    /// Seconds of processor time of each process.
    pub cpu_seconds: Option<u64>,
}

impl ResourceLimits {
    /// No limits of ours.
    pub const fn none() -> Self {
        Self { memory: None, processes: None, open_files: None, file_size: None, cpu_seconds: None }
    }

    /// Those of shell commands and skills.
    pub const fn for_tools() -> Self {
        Self { memory: Some(CHILD_MEMORY_BYTES), processes: Some(CHILD_PROCESSES), ..Self::none() }
    }
}

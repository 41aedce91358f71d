//! How child processes are held, under `[egress] children`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What holds child processes, such as MCP servers that are programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChildIsolation {
    /// What Linux offers: sandboxes on request, control groups where the system allows them, and an end with OpenFang's.
    Isolated,
    /// What every Unix has: an environment of its own, a process group that is killed as a whole, and a process that kills it when
    /// OpenFang is gone. There is no sandbox, so whatever needs one is refused.
    Portable,
}

impl Default for ChildIsolation {
    fn default() -> Self {
        if cfg!(target_os = "linux") { Self::Isolated } else { Self::Portable }
    }
}

impl ChildIsolation {
    /// What is missing of the isolation on Linux, for people.
    pub const fn missing_walls(self) -> &'static [&'static str] {
        match self {
            Self::Isolated => &[],
            Self::Portable => &[
                "no sandbox: sandboxed MCP servers, shell_exec and scripts of skills are refused (unless exec.unsandboxed is set), and other programs can do \
                 what your user can do",
                "no control groups: a program that leaves its process group outlives OpenFang",
            ],
        }
    }
}

//! `[mcp_servers.sandbox]`: what the program of a server may read, write and reach.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The sandbox of a server of type stdio. Besides this it can read the programs and libraries of the system, and use a
/// temporary home.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct McpSandbox {
    /// Files and directories that the program can read and run.
    pub read: Vec<PathBuf>,
    /// Files and directories that the program can read and change.
    pub write: Vec<PathBuf>,
    /// Whether the program can open network connections.
    pub network: bool,
}

impl McpSandbox {
    /// A path that depends on where OpenFang was started.
    pub(super) fn relative_path(&self) -> Option<&Path> {
        let paths = self.read.iter().chain(&self.write).map(PathBuf::as_path);
        paths.into_iter().find(|path| !path.is_absolute())
    }
}

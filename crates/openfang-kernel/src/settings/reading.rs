//! Reading the files once more while a server runs. A file that is missing or empty is a fault here: at a start it means
//! a new home, later it means that something went wrong.

use std::path::Path;
use std::sync::Arc;

use openfang_runtime::catalog::Catalog;
use openfang_runtime::models::ModelSource;
use openfang_types::config::Config;

use super::agents::{self, AgentSurroundings, Agents, AgentsError, LoadedAgents};
use super::config_file::{self, ConfigError, Overlay};
use super::home::{Exposure, Home};
use super::strict_toml::{Fault, Faults, ValueSource};

/// What the files say.
pub(crate) struct ReadSettings {
    pub(crate) config: Config,
    pub(crate) agents: LoadedAgents,
    /// Who else may write them, where that is no reason not to use them.
    pub(crate) exposures: Vec<Exposure>,
}

/// Why the files are not taken over.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Rejection {
    /// Somebody else may write them.
    #[error(transparent)]
    Exposed(#[from] Exposure),
    /// `config.toml` cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The agents cannot be looked at.
    #[error(transparent)]
    Agents(#[from] AgentsError),
}

/// Reads everything; blocks. Each agent is judged by itself, and `before` are those in force.
pub(crate) fn read(
    home: &Home,
    overlays: &[Overlay],
    (catalog, models): (&Catalog, &Arc<dyn ModelSource>),
    before: &Agents,
) -> Result<ReadSettings, Rejection> {
    let exposures = home.exposures()?;
    let path = home.config();
    has_text(&path)?;
    let config = config_file::load(&path, overlays)?;
    let around = AgentSurroundings { catalog, config: &config, models };
    let agents = agents::load(&home.agents(), &around, before)?;
    Ok(ReadSettings { config, agents, exposures })
}

fn has_text(path: &Path) -> Result<(), ConfigError> {
    let text =
        std::fs::read_to_string(path).map_err(|cause| ConfigError::Unreadable { path: path.to_owned(), cause })?;
    if !text.trim().is_empty() {
        return Ok(());
    }
    let why = "the file is empty; to use the default of every key, write a comment".to_owned();
    Err(Faults(vec![Fault { place: ValueSource::File(path.to_owned(), 1), key: String::new(), why }]).into())
}

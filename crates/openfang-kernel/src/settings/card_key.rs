//! The key that signs the agent cards, as it is configured.

use openfang_a2a::card::CardKey;
use openfang_types::config::{Config, ConfigProblem};

/// Why the configured key cannot be used, if it cannot.
pub(super) fn problems(config: &Config) -> Option<ConfigProblem> {
    read(config).err()
}

/// Reads the key, if one is configured.
pub(crate) fn read(config: &Config) -> Result<Option<CardKey>, ConfigProblem> {
    let Some(path) = config.a2a().and_then(|a2a| a2a.card_key.as_ref()) else { return Ok(None) };
    let problem = |why: String| ConfigProblem { key: "a2a.card_key".to_owned(), why };
    let pem = std::fs::read(path).map_err(|cause| problem(format!("{} cannot be read: {cause}", path.display())))?;
    CardKey::from_pem(&pem)
        .map(Some)
        .map_err(|error| problem(format!("{} {error}", path.display())))
}

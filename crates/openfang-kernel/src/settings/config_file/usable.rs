//! What a start can use of a configuration in which entries of MCP servers are wrong: all the rest.

use std::collections::BTreeMap;
use std::path::Path;

use openfang_types::config::Config;
use openfang_types::settings_status::FailedServer;

use super::{ConfigError, Overlay, merge, merge_without, read_text};
use crate::settings::strict_toml::{Fault, ValueSource};

/// What can be used of a configuration.
pub struct UsableConfig {
    /// The configuration, without the entries that cannot be used.
    pub config: Config,
    /// The MCP servers that were left out.
    pub failed_servers: Vec<FailedServer>,
}

impl UsableConfig {
    const fn whole(config: Config) -> Self {
        Self { config, failed_servers: Vec::new() }
    }
}

/// Like `load`, for a start: one entry of an MCP server that cannot be used does not hold up the rest.
pub fn load_usable(path: &Path, overlays: &[Overlay]) -> Result<UsableConfig, ConfigError> {
    let text = read_text(path)?;
    let mut broken: BTreeMap<usize, String> = BTreeMap::new();
    let config = loop {
        let faults = match merge_without(path, &text, overlays, &broken) {
            Ok(config) => break config,
            Err(faults) => faults,
        };
        let before = broken.len();
        for fault in &faults.0 {
            let Some(entry) = entry_of(fault) else {
                return Ok(merge(path, &text, overlays).map(UsableConfig::whole)?);
            };
            broken.entry(entry).or_insert_with(|| fault.to_string());
        }
        if broken.len() == before {
            return Err(faults.into());
        }
    };
    let names = names_of_servers(&text);
    let failed = broken.into_iter().map(|(index, reason)| {
        let name = names.get(index).cloned().flatten().unwrap_or_else(|| format!("mcp_servers[{index}]"));
        FailedServer { name, reason }
    });
    Ok(UsableConfig { config, failed_servers: failed.collect() })
}

/// Which entry of `[[mcp_servers]]` in the file a fault is about.
pub(super) fn entry_of(fault: &Fault) -> Option<usize> {
    let (index, _) = fault.key.strip_prefix("mcp_servers[")?.split_once(']')?;
    matches!(fault.place, ValueSource::File(..)).then_some(())?;
    index.parse().ok()
}

fn names_of_servers(text: &str) -> Vec<Option<String>> {
    let values: toml::Table = toml::from_str(text).unwrap_or_default();
    let entries = values.get("mcp_servers").and_then(toml::Value::as_array).cloned().unwrap_or_default();
    entries.iter().map(|entry| Some(entry.get("name")?.as_str()?.to_owned())).collect()
}

/// A key of what is left when these entries of `[[mcp_servers]]` are taken out, as it is in the file.
pub(super) fn in_the_file(key: &str, without: &BTreeMap<usize, String>) -> String {
    let place = key.strip_prefix("mcp_servers[").and_then(|rest| rest.split_once(']'));
    let Some((left, below)) = place.and_then(|(index, below)| Some((index.parse::<usize>().ok()?, below))) else {
        return key.to_owned();
    };
    let index = (0..).filter(|index| !without.contains_key(index)).nth(left).unwrap_or(left);
    format!("mcp_servers[{index}]{below}")
}

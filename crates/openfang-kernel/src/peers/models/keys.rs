//! API keys of providers: from an environment variable, a file, or a stored secret. A key is fetched when a run begins, and sent to
//! the origin that it was given for.

use std::path::Path;
use std::sync::Arc;

use openfang_runtime::models::ModelUnavailable;
use openfang_types::agent::AgentManifest;
use openfang_types::config::{Config, ProviderConfig};
use openfang_types::ids::ProviderName;
use openfang_types::limits::API_KEY_FILE_MAX_BYTES;
use openfang_types::secret::Secret;

use crate::peers::lending::Lending;
use crate::settings::Settings;
use crate::settings::config_file::key_variable;
use crate::settings::providers::{self, KeySource, ModelWay};

/// A key, and where it came from.
pub(crate) struct ApiKey {
    pub(crate) value: Option<Secret>,
    /// The variable, the file or the entry.
    pub(crate) source: Option<String>,
}

/// The key of a way to a model. Files and stored secrets are read off the workers.
pub(crate) async fn fetch(
    lending: &Arc<Lending>,
    settings: &Settings,
    way: &ModelWay,
) -> Result<ApiKey, ModelUnavailable> {
    let unusable = |reason: String| ModelUnavailable::Unusable { reference: reference(way), reason };
    match &way.key {
        KeySource::None => Ok(ApiKey { value: None, source: None }),
        KeySource::Variables(names) => of_variables(way, names),
        KeySource::File(path) => {
            let (path, source) = (path.clone(), path.display().to_string());
            let read = tokio::task::spawn_blocking(move || of_file(&path)).await;
            let value = read.unwrap_or_else(|_| Err("the file with the API key cannot be read".to_owned()));
            Ok(ApiKey { value: Some(value.map_err(unusable)?), source: Some(source) })
        }
        KeySource::Entry => {
            let entry = settings.config().providers.get(&way.provider).cloned().unwrap_or_default();
            let (lending, provider) = (Arc::clone(lending), way.provider.clone());
            let (url, guard) = (way.endpoint.base_url.clone(), settings.http().guard().clone());
            let work = move || -> Result<Secret, String> {
                let around = lending
                    .to_provider(&provider, &entry, (&url, &guard))
                    .map_err(|error| error.to_string())?;
                of_entry(&entry, &around)
            };
            let read = tokio::task::spawn_blocking(work).await;
            let value = read.unwrap_or_else(|_| Err("the stored secrets cannot be read".to_owned()));
            let source = format!("api_key of [providers.{}]", way.provider);
            Ok(ApiKey { value: Some(value.map_err(unusable)?), source: Some(source) })
        }
    }
}

fn reference(way: &ModelWay) -> String {
    format!("{}/{}", way.provider, way.model)
}

fn of_variables(way: &ModelWay, names: &[String]) -> Result<ApiKey, ModelUnavailable> {
    let found = names.iter().find_map(|name| Some((name, key_variable(name)?)));
    match found {
        Some((name, value)) => Ok(ApiKey { value: Some(value), source: Some(name.clone()) }),
        None => Err(ModelUnavailable::NoKey {
            reference: reference(way),
            provider: way.provider.to_string(),
            variable: names.first().cloned().unwrap_or_default(),
        }),
    }
}

fn of_entry(entry: &ProviderConfig, around: &openfang_egress::process::Surroundings) -> Result<Secret, String> {
    let template = entry.api_key.as_ref().map(Secret::expose).unwrap_or_default();
    let filled = around.fill_in("api_key", template).map_err(|error| error.to_string())?;
    let text = filled.into_string().map_err(|_| "the API key is not UTF-8".to_owned())?;
    checked(&text)
}

/// The key in a file. A file that others can read is refused: they would have the key too.
pub(crate) fn of_file(path: &Path) -> Result<Secret, String> {
    let shown = path.display();
    let unreadable = |cause: std::io::Error| format!("the file {shown} with the API key cannot be read: {cause}");
    let found = path.metadata().map_err(unreadable)?;
    if !found.is_file() {
        return Err(format!("{shown} is to hold an API key, and is not a file"));
    }
    if let Some(mode) = shared_mode(&found) {
        return Err(format!("others can read the API key in {shown} (mode {mode:03o}); run `chmod 600 {shown}`"));
    }
    if found.len() > API_KEY_FILE_MAX_BYTES {
        return Err(format!("{shown} is too large for an API key"));
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    checked(&text).map_err(|why| format!("{shown}: {why}"))
}

fn checked(text: &str) -> Result<Secret, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("the API key is empty".to_owned());
    }
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("the API key has characters that cannot be sent; it must be one line of visible ASCII".to_owned());
    }
    Ok(Secret::new(text.to_owned()))
}

#[cfg(unix)]
fn shared_mode(found: &std::fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = found.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

#[cfg(not(unix))]
const fn shared_mode(_: &std::fs::Metadata) -> Option<u32> {
    None
}

/// All keys that the environment and the files of this configuration hold, for whoever takes them out of texts. Stored secrets
/// are known already. Blocks.
pub(crate) fn known_values<'a>(config: &Config, agents: impl Iterator<Item = &'a AgentManifest>) -> Vec<Secret> {
    let usual = openfang_model::Provider::ALL
        .into_iter()
        .flat_map(openfang_model::Provider::key_variables);
    let usual = usual.map(|name| (*name).to_owned());
    let entries = config.providers.values();
    let configured = entries.clone().filter_map(|entry| entry.api_key_env.clone());
    let of_agents = agents.flat_map(|agent| {
        let named = providers::choices(agent).into_iter().filter_map(|(_, choice)| choice.api_key_env);
        named.map(str::to_owned).collect::<Vec<_>>()
    });
    let variables = usual.chain(configured).chain(of_agents).filter_map(|name| key_variable(&name));
    let files = entries.clone().filter_map(|entry| of_file(entry.api_key_file.as_ref()?).ok());
    let ours = openfang_egress::process::Surroundings::ours();
    // A reference to a stored secret is not filled in here, and fails.
    let written = entries.filter_map(|entry| {
        entry.api_key.as_ref()?;
        of_entry(entry, &ours).ok()
    });
    variables.chain(files).chain(written).collect()
}

/// Whether the key of a provider is there, without lending a stored secret.
pub(crate) fn source_of(config: &Config, way: &ModelWay, stored: &[String]) -> KeyState {
    match &way.key {
        KeySource::None => KeyState::NotNeeded,
        KeySource::Variables(names) => match names.iter().find(|name| key_variable(name).is_some()) {
            Some(name) => KeyState::Found(name.clone()),
            None => KeyState::Missing(format!("{} is not set", names.join(" or "))),
        },
        KeySource::File(path) => match of_file(path) {
            Ok(_) => KeyState::Found(path.display().to_string()),
            Err(why) => KeyState::Missing(why),
        },
        KeySource::Entry => of_entry_state(config, &way.provider, stored),
    }
}

fn of_entry_state(config: &Config, provider: &ProviderName, stored: &[String]) -> KeyState {
    let Some(entry) = config.providers.get(provider) else { return KeyState::NotNeeded };
    let secrets = entry.secrets();
    match secrets.iter().find(|name| !stored.iter().any(|known| known == *name)) {
        Some(name) => {
            KeyState::Missing(format!("there is no secret {name}; store it with `openfang secret set {name}`"))
        }
        None if secrets.is_empty() => match of_entry(entry, &openfang_egress::process::Surroundings::ours()) {
            Ok(_) => KeyState::Found(format!("api_key of [providers.{provider}]")),
            Err(why) => KeyState::Missing(why),
        },
        None => {
            let names: Vec<&str> = secrets.into_iter().collect();
            KeyState::Found(format!("the secret {}", names.join(", ")))
        }
    }
}

/// How a provider stands to its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyState {
    NotNeeded,
    /// The variable, the file or the secret that holds it.
    Found(String),
    /// Why there is none.
    Missing(String),
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;

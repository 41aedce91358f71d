//! Configuration is read here, once: the file, over it the environment, over that the flags.
//!
//! `OPENFANG_` and a key in capitals overlays that key; two underscores stand between a section and its key, as in
//! `OPENFANG_LIMITS__BODY_BYTES`. Nobody else asks the environment for anything.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use openfang_types::config::{Config, ConfigProblem};
use openfang_types::secret::Secret;
use serde_json::Value as Schema;

use crate::outward;
use crate::settings::strict_toml::{self, Document, Fault, Faults, ValueSource, properties, unknown_key};
use crate::settings::{card_key, providers};

pub use usable::{UsableConfig, load_usable};
use usable::{entry_of, in_the_file};

mod usable;

/// Variables that are not keys of the config.
const OTHER_VARIABLES: [&str; 5] =
    [HOME_VARIABLE, KEY_FILE_VARIABLE, REMOTE_URL_VARIABLE, REMOTE_KEY_VARIABLE, REMOTE_KEY_FILE_VARIABLE];
const HOME_VARIABLE: &str = "OPENFANG_HOME";
/// Where the key of the home is, if not in its data directory.
const KEY_FILE_VARIABLE: &str = "OPENFANG_SECRET_KEY_FILE";
/// The server on another machine that commands are for, and the key for it.
const REMOTE_URL_VARIABLE: &str = "OPENFANG_URL";
const REMOTE_KEY_VARIABLE: &str = "OPENFANG_KEY";
const REMOTE_KEY_FILE_VARIABLE: &str = "OPENFANG_KEY_FILE";
/// Keys that the environment does not set: whoever can set a variable must not lower the walls around programs.
const FILE_ONLY: [&str; 1] = ["egress.children"];
const PREFIX: &str = "OPENFANG_";
/// Where the command line's own arguments are kept from the eyes of others.
const ARGUMENTS: &str = "OPENFANG_ARGUMENT";

/// A value that overlays the file.
#[derive(Debug, Clone)]
pub struct Overlay {
    /// Where it was written.
    pub place: ValueSource,
    /// The dotted key path.
    pub key: String,
    /// The value as text.
    pub value: String,
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is there and cannot be read.
    #[error("{path} cannot be read: {cause}", path = path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    /// It says something that cannot be used.
    #[error(transparent)]
    Faulty(#[from] Faults),
}

/// Reads the file, if there is one, and lays the overlays over it, later ones over earlier ones.
pub fn load(path: &Path, overlays: &[Overlay]) -> Result<Config, ConfigError> {
    let text = read_text(path)?;
    Ok(merge(path, &text, overlays)?)
}

fn read_text(path: &Path) -> Result<String, ConfigError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(cause) => Err(ConfigError::Unreadable { path: path.to_owned(), cause }),
    }
}

/// What cannot be used although the configuration is right in itself, with the place where it was written.
pub fn placed(path: &Path, overlays: &[Overlay], problem: ConfigProblem) -> ConfigError {
    let ConfigProblem { key, why } = problem;
    if let Some(overlay) = overlays.iter().rev().find(|overlay| overlay.key == key) {
        return Faults(vec![Fault { place: overlay.place.clone(), key, why }]).into();
    }
    let text = std::fs::read_to_string(path).unwrap_or_default();
    match Document::parse(path, &text, &strict_toml::schema_of::<Config>()) {
        Ok(document) => Faults(vec![document.fault(&key, why)]).into(),
        Err(faults) => faults.into(),
    }
}

/// A file's text by itself: what it says, and what of that cannot be used unless something overlays it.
pub(crate) fn checked(path: &Path, text: &str) -> Result<(Config, Vec<Fault>), Faults> {
    let document = Document::parse(path, text, &strict_toml::schema_of::<Config>())?;
    let typed = strict_toml::typed::<Config>(document.values()?);
    let config = typed.map_err(|(key, why)| Faults(vec![document.fault(&key, why)]))?;
    let config = rooted(config, path);
    let problems = problems_of(&config).map(|problem| document.fault(&problem.key, problem.why)).collect();
    Ok((config, problems))
}

/// Files are named as seen from the config file, wherever a command is given.
fn rooted(mut config: Config, path: &Path) -> Config {
    if let Some(directory) = path.parent() {
        let keys = config.a2a.external_agents.iter_mut().filter_map(|agent| agent.keys.as_mut());
        keys.for_each(|key| *key = directory.join(&*key));
    }
    if let Some(directory) = path.parent() {
        let files = config.providers.values_mut().filter_map(|provider| provider.api_key_file.as_mut());
        files.for_each(|file| *file = directory.join(&*file));
    }
    if let (Some(key), Some(directory)) = (&mut config.a2a.card_key, path.parent()) {
        *key = directory.join(&*key);
    }
    config
}

fn problems_of(config: &Config) -> impl Iterator<Item = ConfigProblem> {
    config
        .problems()
        .into_iter()
        .chain(outward::problems(config))
        .chain(card_key::problems(config))
        .chain(providers::problems(config))
}

fn merge(path: &Path, text: &str, overlays: &[Overlay]) -> Result<Config, Faults> {
    merge_without(path, text, overlays, &BTreeMap::new())
}

/// The same without these entries of `[[mcp_servers]]`.
fn merge_without(
    path: &Path,
    text: &str,
    overlays: &[Overlay],
    without: &BTreeMap<usize, String>,
) -> Result<Config, Faults> {
    let schema = strict_toml::schema_of::<Config>();
    let (document, mut faults) = Document::parse_any(path, text, &schema)?;
    let mut values = document.values()?;
    faults.retain(|unknown| {
        strict_toml::take_out(&mut values, &unknown.key);
        entry_of(unknown).is_none_or(|entry| !without.contains_key(&entry))
    });
    if let Some(toml::Value::Array(entries)) = values.get_mut("mcp_servers") {
        let mut index = 0..;
        entries.retain(|_| index.next().is_none_or(|index| !without.contains_key(&index)));
    }
    faults.extend(overlays.iter().filter_map(|overlay| lay_over(&mut values, &schema, overlay).err()));
    // A fault belongs to whoever wrote the value last.
    let fault = |key: String, why: String| match overlays.iter().rev().find(|overlay| overlay.key == key) {
        Some(overlay) => Fault { place: overlay.place.clone(), key, why },
        None => document.fault(&in_the_file(&key, without), why),
    };
    match strict_toml::typed_or_all::<Config>(values) {
        Ok(config) => {
            let config = rooted(config, path);
            faults.extend(problems_of(&config).map(|problem| fault(problem.key, problem.why)));
            if faults.is_empty() { Ok(config) } else { Err(Faults(faults)) }
        }
        Err(wrong) => {
            faults.extend(wrong.into_iter().map(|(key, why)| fault(key, why)));
            Err(Faults(faults))
        }
    }
}

fn lay_over(values: &mut toml::Table, schema: &Schema, overlay: &Overlay) -> Result<(), Fault> {
    let fault = |why: String| Fault { place: overlay.place.clone(), key: overlay.key.clone(), why };
    if FILE_ONLY.contains(&overlay.key.as_str()) && matches!(overlay.place, ValueSource::Variable(_)) {
        return Err(fault("is not set by a variable; write it to config.toml".to_owned()));
    }
    let mut table = values;
    let mut schema = schema;
    let mut names = overlay.key.split('.').peekable();
    while let Some(name) = names.next() {
        let known = properties(schema).ok_or_else(|| fault("has no subkeys".to_owned()))?;
        schema = known
            .get(name)
            .ok_or_else(|| fault(unknown_key(name, known.keys().map(String::as_str))))?;
        if names.peek().is_none() {
            table.insert(name.to_owned(), value_of(&overlay.value, schema).map_err(fault)?);
            return Ok(());
        }
        let below = table.entry(name).or_insert_with(|| toml::Value::Table(toml::Table::new()));
        table = below
            .as_table_mut()
            .ok_or_else(|| fault(format!("{name} is not a section in the file")))?;
    }
    Ok(())
}

/// Texts are taken as they are; everything else is written as in TOML.
fn value_of(text: &str, schema: &Schema) -> Result<toml::Value, String> {
    let takes_text = match schema.get("type") {
        Some(Schema::String(kind)) => kind == "string",
        Some(Schema::Array(kinds)) => kinds.iter().any(|kind| kind == "string"),
        _ => schema.get("enum").is_some() || schema.get("oneOf").is_some(),
    };
    if takes_text {
        return Ok(toml::Value::String(text.to_owned()));
    }
    let line = format!("value = {text}");
    let parsed = toml::from_str::<toml::Table>(&line).ok().and_then(|mut table| table.remove("value"));
    parsed.ok_or_else(|| "is not a valid value; write it as in the file, such as 30, true or [\"a\", \"b\"]".to_owned())
}

/// The overlays of the environment.
pub fn environment() -> Vec<Overlay> {
    #[expect(clippy::disallowed_methods, reason = "config is read here and nowhere else")]
    let variables = std::env::vars_os();
    let named = variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    overlays_of(named)
}

fn overlays_of(variables: impl Iterator<Item = (String, String)>) -> Vec<Overlay> {
    let mut overlays: Vec<Overlay> = variables
        .filter(|(name, _)| name.starts_with(PREFIX) && !OTHER_VARIABLES.contains(&name.as_str()))
        .filter(|(name, _)| !name.starts_with(ARGUMENTS))
        .map(|(name, value)| Overlay {
            key: name[PREFIX.len()..].to_lowercase().replace("__", "."),
            place: ValueSource::Variable(name),
            value,
        })
        .collect();
    overlays.sort_by(|a, b| a.key.cmp(&b.key));
    overlays
}

/// `$OPENFANG_HOME`, else `.openfang` in the user's home directory.
pub fn home_directory() -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "config is read here and nowhere else")]
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable(HOME_VARIABLE).or_else(|| Some(variable("HOME")?.join(".openfang")))
}

/// `$OPENFANG_SECRET_KEY_FILE`: the key of the home, where it is kept elsewhere.
pub fn key_file() -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "config is read here and nowhere else")]
    std::env::var_os(KEY_FILE_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// `$OPENFANG_URL`: the server that commands are for, if it is not the daemon of the home.
pub fn remote_url() -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "config is read here and nowhere else")]
    std::env::var(REMOTE_URL_VARIABLE).ok().filter(|value| !value.is_empty())
}

/// `$OPENFANG_KEY`, else the content of the file `$OPENFANG_KEY_FILE`: the key for that server.
pub fn remote_key() -> Result<Option<Secret>, (PathBuf, io::Error)> {
    #[expect(clippy::disallowed_methods, reason = "config is read here and nowhere else")]
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(key) = variable(REMOTE_KEY_VARIABLE).and_then(|key| key.into_string().ok()) {
        return Ok(Some(Secret::new(key.trim().to_owned())));
    }
    let Some(path) = variable(REMOTE_KEY_FILE_VARIABLE).map(PathBuf::from) else { return Ok(None) };
    match std::fs::read_to_string(&path) {
        Ok(key) => Ok(Some(Secret::new(key.trim().to_owned()))),
        Err(cause) => Err((path, cause)),
    }
}

/// A variable that programs of every kind use, in capitals or in small letters.
pub fn common_variable(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "config is read here and nowhere else")]
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    variable(name).or_else(|| variable(&name.to_ascii_lowercase()))
}

/// The value of a variable that may hold an API key, without the spaces around it. An empty one is not set.
pub(crate) fn key_variable(name: &str) -> Option<Secret> {
    #[expect(clippy::disallowed_methods, reason = "config is read here and nowhere else")]
    let value = std::env::var(name).ok()?;
    let value = value.trim();
    (!value.is_empty()).then(|| Secret::new(value.to_owned()))
}

/// Where programs of this user keep their settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Directories {
    /// The user's own directory.
    pub home: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME`, else `.config` in the user's own.
    pub config: Option<PathBuf>,
    pub roaming: Option<PathBuf>,
    /// `$CODEX_HOME`, else `.codex` in the user's own.
    pub codex: Option<PathBuf>,
}

/// Asks the environment where the settings of other programs are.
pub fn directories() -> Directories {
    #[expect(clippy::disallowed_methods, reason = "config is read here and nowhere else")]
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = variable("HOME").or_else(|| variable("USERPROFILE"));
    let below = |name: &str| Some(home.as_ref()?.join(name));
    Directories {
        config: variable("XDG_CONFIG_HOME").or_else(|| below(".config")),
        roaming: variable("APPDATA"),
        codex: variable("CODEX_HOME").or_else(|| below(".codex")),
        home,
    }
}

/// The directories that the user's shell searches for programs.
pub fn search_path() -> OsString {
    #[expect(clippy::disallowed_methods, reason = "config is read here and nowhere else")]
    std::env::var_os("PATH").unwrap_or_default()
}

/// The socket of a service manager that wants to know when the server is ready.
pub fn notify_socket() -> Option<OsString> {
    #[expect(clippy::disallowed_methods, reason = "config is read here and nowhere else")]
    std::env::var_os("NOTIFY_SOCKET").filter(|value| !value.is_empty())
}

/// Whether the user wants no colour anywhere: `NO_COLOR` is set and not empty (no-color.org).
pub fn no_color() -> bool {
    #[expect(clippy::disallowed_methods, reason = "config is read here and nowhere else")]
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

#[cfg(test)]
#[path = "config_file_tests.rs"]
mod tests;

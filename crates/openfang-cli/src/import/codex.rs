//! `[mcp_servers.NAME]` of Codex, in TOML.

use std::collections::BTreeMap;

use openfang_types::config::{EnvEntry, McpServerConfigEntry, McpTransportEntry};
use openfang_types::secret::Secret;
use serde::Deserialize;

use super::{Found, Usable, valid_name};

/// What Codex knows of a server. Further keys are passed over.
#[derive(Deserialize)]
struct Server {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    env_vars: Vec<Variable>,
    url: Option<String>,
    bearer_token_env_var: Option<String>,
    #[serde(default)]
    http_headers: BTreeMap<String, String>,
    #[serde(default)]
    env_http_headers: BTreeMap<String, String>,
    enabled: Option<bool>,
    startup_timeout_sec: Option<f64>,
    tool_timeout_sec: Option<f64>,
    cwd: Option<String>,
    enabled_tools: Option<Vec<String>>,
    disabled_tools: Option<Vec<String>>,
}

/// A variable that is passed on.
#[derive(Deserialize)]
#[serde(untagged)]
enum Variable {
    Name(String),
    Named { name: String },
}

/// The servers of a file.
pub(super) fn read(text: &str) -> Result<Vec<Found>, String> {
    // The message of the parser quotes what it could not read.
    let document: toml::Table = toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        format!("it is not TOML: see line {}", before.matches('\n').count() + 1)
    })?;
    let servers = document.get("mcp_servers").and_then(toml::Value::as_table).into_iter().flatten();
    let found = servers.map(|(name, server)| Found { name: name.clone(), server: usable(name, server) });
    Ok(found.collect())
}

fn usable(name: &str, server: &toml::Value) -> Result<Usable, String> {
    let server: Server = server.clone().try_into().map_err(|_| "it is not written as Codex wants it".to_owned())?;
    if server.enabled == Some(false) {
        return Err("it is disabled there".to_owned());
    }
    let mut remarks = Vec::new();
    let mut left_out = |held: bool, remark: &str| remarks.extend(held.then(|| remark.to_owned()));
    left_out(server.cwd.is_some(), "its working directory was left out");
    left_out(server.enabled_tools.is_some(), "all of its tools are taken, not only the enabled ones");
    left_out(server.disabled_tools.is_some(), "all of its tools are taken, the disabled ones too");
    let transport = match (server.command, server.url) {
        (Some(command), None) => McpTransportEntry::Stdio { command, args: server.args },
        (None, Some(url)) => {
            let literal = server.http_headers.into_iter();
            let from_env = server
                .env_http_headers
                .into_iter()
                .map(|(name, variable)| (name, format!("${{{variable}}}")));
            let bearer = server.bearer_token_env_var.map(|variable| format!("Bearer ${{{variable}}}"));
            let bearer = bearer.map(|value| ("Authorization".to_owned(), value));
            let headers = literal.chain(from_env).chain(bearer).map(|(name, value)| (name, Secret::new(value)));
            McpTransportEntry::Http { url, headers: headers.collect() }
        }
        (None, None) => return Err("it has no command and no url".to_owned()),
        (Some(_), Some(_)) => return Err("it has a command and a url".to_owned()),
    };
    let mut entry = McpServerConfigEntry::new(valid_name(name).ok_or("its name cannot be used")?, transport);
    if matches!(entry.transport, McpTransportEntry::Stdio { .. }) {
        let set = server.env.into_iter().map(|(name, value)| format!("{name}={value}"));
        let passed_on = server.env_vars.into_iter().map(|(Variable::Name(name) | Variable::Named { name })| name);
        entry.env = set.chain(passed_on).map(EnvEntry::new).collect();
    }
    entry.timeout_secs = server.tool_timeout_sec.map_or(entry.timeout_secs, whole_seconds);
    entry.startup_timeout_secs = server.startup_timeout_sec.map_or(entry.startup_timeout_secs, whole_seconds);
    Ok(Usable { entry, remarks })
}

/// Rounded up to what we take.
fn whole_seconds(seconds: f64) -> u64 {
    let seconds = std::time::Duration::try_from_secs_f64(seconds.ceil()).unwrap_or_default();
    seconds.as_secs().clamp(1, 86_400)
}

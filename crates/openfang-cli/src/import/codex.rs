//! `[mcp_servers.NAME]` of Codex, in TOML.

use std::collections::BTreeMap;

use openfang_types::config::{EnvEntry, McpServerConfigEntry, McpTransportEntry};
use openfang_types::secret::Secret;
use serde::Deserialize;

use super::{ForeignServer, ImportableServer, relative_path, set_directory, set_tools, valid_name};

/// A server entry of Codex. Unknown keys are ignored.
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

/// An inherited environment variable.
#[derive(Deserialize)]
#[serde(untagged)]
enum Variable {
    Name(String),
    Named { name: String },
}

/// Reads the servers of a file.
pub(super) fn read(text: &str) -> Result<Vec<ForeignServer>, String> {
    // The parser's message quotes the text, which may contain secrets.
    let document: toml::Table = toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        format!("invalid TOML in line {}", before.matches('\n').count() + 1)
    })?;
    let servers = document.get("mcp_servers").and_then(toml::Value::as_table).into_iter().flatten();
    let found = servers.map(|(name, server)| ForeignServer { name: name.clone(), server: usable(name, server) });
    Ok(found.collect())
}

fn usable(name: &str, server: &toml::Value) -> Result<ImportableServer, String> {
    let server: Server = server.clone().try_into().map_err(|_| "its entry is not valid for Codex".to_owned())?;
    if server.enabled == Some(false) {
        return Err("it is disabled".to_owned());
    }
    let mut remarks = Vec::new();
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
        (Some(_), Some(_)) => return Err("it has both a command and a url".to_owned()),
    };
    let mut entry = McpServerConfigEntry::new(valid_name(name).ok_or("its name is invalid")?, transport);
    if matches!(entry.transport, McpTransportEntry::Stdio { .. }) {
        let set = server.env.into_iter().map(|(name, value)| format!("{name}={value}"));
        let passed_on = server.env_vars.into_iter().map(|(Variable::Name(name) | Variable::Named { name })| name);
        entry.env = set.chain(passed_on).map(EnvEntry::new).collect();
        if let Some(cwd) = server.cwd {
            set_directory(&mut entry, cwd, |remark| remarks.push(remark));
        }
        remarks.extend(relative_path(&entry));
    }
    let tools = (server.enabled_tools.unwrap_or_default(), server.disabled_tools.unwrap_or_default());
    set_tools(&mut entry, tools, |remark| remarks.push(remark));
    entry.timeout_secs = server.tool_timeout_sec.map_or(entry.timeout_secs, whole_seconds);
    entry.startup_timeout_secs = server.startup_timeout_sec.map_or(entry.startup_timeout_secs, whole_seconds);
    Ok(ImportableServer { entry, remarks })
}

/// Rounds up to whole seconds within the valid range.
fn whole_seconds(seconds: f64) -> u64 {
    let seconds = std::time::Duration::try_from_secs_f64(seconds.ceil()).unwrap_or_default();
    seconds.as_secs().clamp(1, 86_400)
}

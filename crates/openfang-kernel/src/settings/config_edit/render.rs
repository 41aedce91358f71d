//! An entry as TOML, with its secrets: this goes into the file and nowhere else. Defaults are left out.

use std::collections::BTreeMap;

use openfang_types::config::{
    EnvEntry, ExternalAgent, McpSandbox, McpServerConfigEntry, McpTransportEntry, ToolPattern, ToolSelection,
};
use openfang_types::limits::{MCP_STARTUP_SECS, MCP_TIMEOUT_SECS};
use openfang_types::secret::Secret;
use serde::Serialize;

/// The lines of the entry under headers.
pub(super) fn table(entry: &McpServerConfigEntry) -> Vec<String> {
    let mut lines = vec!["[[mcp_servers]]".to_owned()];
    lines.extend(settings(entry));
    lines.extend([String::new(), "[mcp_servers.transport]".to_owned()]);
    lines.extend(transport(&entry.transport));
    lines
}

/// The entry as an inline table.
pub(super) fn inline(entry: &McpServerConfigEntry) -> String {
    let mut pairs = settings(entry);
    pairs.push(format!("transport = {{ {} }}", transport(&entry.transport).join(", ")));
    format!("{{ {} }}", pairs.join(", "))
}

/// The lines of an external agent under a header.
pub(super) fn agent_table(entry: &ExternalAgent) -> Vec<String> {
    ["[[a2a.external_agents]]".to_owned()].into_iter().chain(agent_settings(entry)).collect()
}

/// An external agent as an inline table.
pub(super) fn agent_inline(entry: &ExternalAgent) -> String {
    format!("{{ {} }}", agent_settings(entry).join(", "))
}

fn agent_settings(entry: &ExternalAgent) -> Vec<String> {
    let usual = ExternalAgent::new(entry.name.clone(), entry.url.clone());
    let mut pairs = vec![format!("name = {}", quoted(entry.name.as_str())), format!("url = {}", quoted(&entry.url))];
    pairs.extend(entry.endpoint.as_ref().map(|endpoint| format!("endpoint = {}", quoted(endpoint))));
    pairs.extend(word("protocol", &entry.protocol));
    if !entry.headers.is_empty() {
        pairs.push(format!("headers = {}", inline_headers(&entry.headers)));
    }
    if !entry.origins.is_empty() {
        pairs.push(format!("origins = {}", list(entry.origins.iter().map(String::as_str))));
    }
    for (key, value, usual) in [
        ("timeout_secs", entry.timeout_secs, usual.timeout_secs),
        ("idle_secs", entry.idle_secs, usual.idle_secs),
        ("max_secs", entry.max_secs, usual.max_secs),
        ("max_live", entry.max_live as u64, usual.max_live as u64),
    ] {
        pairs.extend((value != usual).then(|| format!("{key} = {value}")));
    }
    let switches =
        [("trusted", entry.trusted), ("public", entry.public), ("push", entry.push), ("resend", entry.resend)];
    for (key, is_set) in switches {
        pairs.extend(is_set.then(|| format!("{key} = true")));
    }
    if !entry.description.is_empty() {
        pairs.push(format!("description = {}", quoted(&entry.description)));
    }
    pairs.extend(word("data", &entry.data));
    pairs.extend(word("skills", &entry.skills));
    pairs.extend(word("on_change", &entry.on_change));
    pairs.extend(word("verify", &entry.verify));
    pairs.extend(entry.keys.as_ref().map(|keys| format!("keys = {}", quoted(&keys.display().to_string()))));
    if !entry.extensions.is_empty() {
        pairs.push(format!("extensions = {}", list(entry.extensions.iter().map(String::as_str))));
    }
    pairs
}

fn inline_headers(headers: &BTreeMap<String, Secret>) -> String {
    let pair = |(name, value): (&String, &Secret)| format!("{} = {}", quoted(name), quoted(value.expose()));
    let members: Vec<String> = headers.iter().map(pair).collect();
    format!("{{ {} }}", members.join(", "))
}

fn settings(entry: &McpServerConfigEntry) -> Vec<String> {
    let mut pairs = vec![format!("name = {}", quoted(entry.name.as_str()))];
    if !entry.enabled {
        pairs.push("enabled = false".to_owned());
    }
    if entry.timeout_secs != MCP_TIMEOUT_SECS {
        pairs.push(format!("timeout_secs = {}", entry.timeout_secs));
    }
    if entry.startup_timeout_secs != MCP_STARTUP_SECS {
        pairs.push(format!("startup_timeout_secs = {}", entry.startup_timeout_secs));
    }
    if !entry.env.is_empty() {
        pairs.push(format!("env = {}", list(entry.env.iter().map(EnvEntry::expose))));
    }
    pairs.extend(entry.cwd.as_ref().map(|cwd| format!("cwd = {}", quoted(cwd))));
    pairs.extend(entry.sandbox.as_ref().map(|sandbox| format!("sandbox = {}", walls(sandbox))));
    if !entry.tools.is_everything() {
        pairs.push(format!("tools = {}", selection(&entry.tools)));
    }
    pairs.extend(word("protocol", &entry.protocol));
    if entry.trusted {
        pairs.push("trusted = true".to_owned());
    }
    if entry.interactive {
        pairs.push("interactive = true".to_owned());
    }
    pairs.extend(word("data", &entry.data));
    pairs.extend(word("audit", &entry.audit));
    pairs.extend(word("on_change", &entry.on_change));
    pairs.extend(word("new_tools", &entry.new_tools));
    pairs
}

/// A sandbox as an inline table.
fn walls(sandbox: &McpSandbox) -> String {
    let lists = [("read", &sandbox.read), ("write", &sandbox.write)];
    let mut pairs = Vec::new();
    for (key, paths) in lists.into_iter().filter(|(_, paths)| !paths.is_empty()) {
        let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        pairs.push(format!("{key} = {}", list(paths.iter().map(String::as_str))));
    }
    pairs.push(format!("network = {}", sandbox.network));
    format!("{{ {} }}", pairs.join(", "))
}

/// A selection of tools as an inline table.
pub(super) fn selection(tools: &ToolSelection) -> String {
    let lists = [("include", &tools.include), ("exclude", &tools.exclude)];
    let lists = lists.into_iter().filter(|(_, patterns)| !patterns.is_empty());
    let pairs: Vec<String> = lists
        .map(|(key, patterns)| format!("{key} = {}", list(patterns.iter().map(ToolPattern::as_str))))
        .collect();
    format!("{{ {} }}", pairs.join(", "))
}

fn transport(transport: &McpTransportEntry) -> Vec<String> {
    match transport {
        McpTransportEntry::Stdio { command, args } => {
            let mut pairs = vec!["type = \"stdio\"".to_owned(), format!("command = {}", quoted(command))];
            if !args.is_empty() {
                pairs.push(format!("args = {}", list(args.iter().map(String::as_str))));
            }
            pairs
        }
        McpTransportEntry::Sse { url, headers } => remote("sse", url, headers),
        McpTransportEntry::Http { url, headers } => remote("http", url, headers),
    }
}

fn remote(kind: &str, url: &str, headers: &BTreeMap<String, Secret>) -> Vec<String> {
    let mut pairs = vec![format!("type = \"{kind}\""), format!("url = {}", quoted(url))];
    if !headers.is_empty() {
        pairs.push(format!("headers = {}", inline_headers(headers)));
    }
    pairs
}

/// A key whose value is one of a few words, unless it is the default.
fn word<T: Serialize + Default + PartialEq>(key: &str, value: &T) -> Option<String> {
    let text = serde_json::to_value(value).ok()?;
    (*value != T::default()).then(|| format!("{key} = {text}"))
}

fn list<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = texts.map(quoted).collect();
    format!("[{}]", quoted.join(", "))
}

/// Every text of JSON is one of TOML, but for the one control character that JSON does not mind.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

//! An entry as TOML, with its secrets: this goes into the file and nowhere else. Defaults are left out.

use std::collections::BTreeMap;

use openfang_types::config::{EnvEntry, McpServerConfigEntry, McpTransportEntry};
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

fn settings(entry: &McpServerConfigEntry) -> Vec<String> {
    let mut pairs = vec![format!("name = {}", quoted(entry.name.as_str()))];
    if entry.timeout_secs != MCP_TIMEOUT_SECS {
        pairs.push(format!("timeout_secs = {}", entry.timeout_secs));
    }
    if entry.startup_timeout_secs != MCP_STARTUP_SECS {
        pairs.push(format!("startup_timeout_secs = {}", entry.startup_timeout_secs));
    }
    if !entry.env.is_empty() {
        pairs.push(format!("env = {}", list(entry.env.iter().map(EnvEntry::expose))));
    }
    pairs.extend(word("protocol", &entry.protocol));
    if entry.trusted {
        pairs.push("trusted = true".to_owned());
    }
    if entry.interactive {
        pairs.push("interactive = true".to_owned());
    }
    pairs.extend(word("audit", &entry.audit));
    pairs.extend(word("on_change", &entry.on_change));
    pairs
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
        let pair = |(name, value): (&String, &Secret)| format!("{} = {}", quoted(name), quoted(value.expose()));
        let members: Vec<String> = headers.iter().map(pair).collect();
        pairs.push(format!("headers = {{ {} }}", members.join(", ")));
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

//! What differs between the configuration in force and another one: which keys, which of them wait for a restart, and
//! which wait for a person.

use openfang_types::config::{Config, ExecConfig, McpServerConfigEntry};
use openfang_types::ids::ServerName;
use openfang_types::settings_status::NameChanges;
use serde_json::Value;

/// A key that is read at the start only, and how to leave it as it is.
type RestartKey = (&'static str, fn(&mut Config, &Config));

const RESTART_KEYS: [RestartKey; 13] = [
    ("api_listen", |next, now| next.api_listen = now.api_listen),
    ("a2a.card_key", |next, now| next.a2a.card_key.clone_from(&now.a2a.card_key)),
    // The key is read where A2A is on.
    ("a2a.enabled", |next, now| {
        if now.a2a.card_key.is_some() {
            next.a2a.enabled = now.a2a.enabled;
        }
    }),
    ("egress.children", |next, now| next.egress.children = now.egress.children),
    ("log.format", |next, now| next.log.format = now.log.format),
    ("limits.connections", |next, now| next.limits.connections = now.limits.connections),
    ("limits.drain_secs", |next, now| next.limits.drain_secs = now.limits.drain_secs),
    ("limits.mcp_sessions_per_owner", |next, now| {
        next.limits.mcp_sessions_per_owner = now.limits.mcp_sessions_per_owner;
    }),
    ("limits.request_states_per_owner", |next, now| {
        next.limits.request_states_per_owner = now.limits.request_states_per_owner;
    }),
    ("limits.sse_streams_per_owner", |next, now| {
        next.limits.sse_streams_per_owner = now.limits.sse_streams_per_owner;
    }),
    ("limits.conversations_per_owner", |next, now| {
        next.limits.conversations_per_owner = now.limits.conversations_per_owner;
    }),
    ("limits.refusal_rows", |next, now| next.limits.refusal_rows = now.limits.refusal_rows),
    ("limits.refusal_rows_per_hour", |next, now| {
        next.limits.refusal_rows_per_hour = now.limits.refusal_rows_per_hour;
    }),
];

/// Leaves what takes a restart as it is. Says which keys those are.
pub(crate) fn keep_until_restart(next: &mut Config, now: &Config) -> Vec<String> {
    let mut keys = Vec::new();
    for (key, keep) in RESTART_KEYS {
        let wanted = next.clone();
        keep(next, now);
        if *next != wanted {
            keys.push(key.to_owned());
        }
    }
    keys
}

/// The keys whose values differ, as dotted paths. Values are not named.
pub(crate) fn changed_keys(now: &Config, next: &Config) -> Vec<String> {
    let mut keys = Vec::new();
    let value = |config: &Config| serde_json::to_value(config).unwrap_or_default();
    differing(&value(now), &value(next), "", &mut keys);
    // Secrets all look the same when they are written out.
    let hidden = [
        ("providers", now.providers != next.providers),
        ("api_key", now.api_key != next.api_key),
        ("events.hooks", now.events.hooks != next.events.hooks),
        ("mcp_servers", now.mcp_servers != next.mcp_servers),
        ("a2a.external_agents", now.a2a.external_agents != next.a2a.external_agents),
    ];
    for (key, differs) in hidden {
        if differs && !keys.iter().any(|known| known == key) {
            keys.push(key.to_owned());
        }
    }
    keys
}

fn differing(now: &Value, next: &Value, path: &str, keys: &mut Vec<String>) {
    let (Value::Object(was), Value::Object(is)) = (now, next) else {
        if now != next {
            keys.push(path.to_owned());
        }
        return;
    };
    let gone = was.keys().filter(|key| !is.contains_key(*key));
    for key in is.keys().chain(gone) {
        let full = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        differing(was.get(key).unwrap_or(&Value::Null), is.get(key).unwrap_or(&Value::Null), &full, keys);
    }
}

/// Which servers came, changed or went.
pub(crate) fn server_changes(now: &[McpServerConfigEntry], next: &[McpServerConfigEntry]) -> NameChanges {
    let known = |name: &ServerName| now.iter().find(|entry| entry.name == *name);
    let those = |is_wanted: &dyn Fn(&McpServerConfigEntry) -> bool| {
        let found = next.iter().filter(|entry| is_wanted(entry));
        found.map(|entry| entry.name.to_string()).collect()
    };
    let gone = now.iter().filter(|entry| !next.iter().any(|other| other.name == entry.name));
    NameChanges {
        added: those(&|entry| known(&entry.name).is_none()),
        changed: those(&|entry| known(&entry.name).is_some_and(|now| now != entry)),
        removed: gone.map(|entry| entry.name.to_string()).collect(),
    }
}

/// Whether lists and cards say something else.
pub(crate) fn is_shown_differently(now: &Config, next: &Config) -> bool {
    let cards = |config: &Config| {
        let has_key = config.api_key.is_some();
        (config.a2a.clone(), config.public_url.clone(), config.default_agent.clone(), has_key)
    };
    cards(now) != cards(next)
        || now.limits.max_tool_name != next.limits.max_tool_name
        || now.mcp_servers != next.mcp_servers
        || now.profiles != next.profiles
}

/// Why a person must ask for this: it lets more callers in, or believes more of what they say.
pub(crate) fn guarded(now: &Config, next: &Config, has_users: bool) -> Vec<String> {
    let mut reasons = Vec::new();
    if now.api_key.is_some() && next.api_key.is_none() && !has_users {
        reasons.push("api_key is removed, and it is the last credential: no request would need one".to_owned());
    }
    let (was, is) = (now.api_listen.ip(), next.api_listen.ip());
    if (was.is_loopback() && !is.is_loopback()) || (!was.is_unspecified() && is.is_unspecified()) {
        reasons.push(format!("api_listen = {:?} is reachable from more networks", next.api_listen.to_string()));
    }
    let is_emptied = !was.is_loopback() && !now.allowed_hosts.is_empty() && next.allowed_hosts.is_empty();
    if is_emptied || next.allowed_hosts.iter().any(|host| !now.allowed_hosts.contains(host)) {
        reasons.push("allowed_hosts accepts more names".to_owned());
    }
    if next.trusted_proxies.iter().any(|range| !now.trusted_proxies.contains(range)) {
        reasons.push("trusted_proxies accepts more addresses".to_owned());
    }
    for entry in next.mcp_servers.iter().filter(|entry| entry.trusted) {
        let is_same = |known: &&McpServerConfigEntry| {
            let place = |entry: &McpServerConfigEntry| {
                (entry.name.clone(), entry.transport.clone(), entry.env.clone(), entry.cwd.clone())
            };
            known.trusted && place(known) == place(entry)
        };
        if !now.mcp_servers.iter().any(|known| is_same(&known)) {
            reasons.push(format!("the MCP server {} is to be trusted", entry.name));
        }
    }
    if next.web.read_hosts.iter().any(|host| !now.web.read_hosts.contains(host)) {
        reasons.push("web.read_hosts lets data go to more hosts".to_owned());
    }
    reasons.extend(wider_programs(&now.exec, &next.exec));
    reasons
}

/// What lets `shell_exec` run more than before.
fn wider_programs(now: &ExecConfig, next: &ExecConfig) -> Vec<String> {
    let mut reasons = Vec::new();
    if next.allow.iter().any(|rule| !now.allow.contains(rule)) {
        reasons.push("exec.allow lets more programs run without a question".to_owned());
    }
    if now.deny.iter().any(|rule| !next.deny.contains(rule)) {
        reasons.push("exec.deny denies fewer programs".to_owned());
    }
    if next.read.iter().any(|path| !now.read.contains(path)) {
        reasons.push("exec.read opens more files to programs".to_owned());
    }
    if next.network && !now.network {
        reasons.push("exec.network lets programs reach the network".to_owned());
    }
    if next.unsandboxed && !now.unsandboxed {
        reasons.push("exec.unsandboxed lets programs run without a sandbox".to_owned());
    }
    reasons
}

#[cfg(test)]
#[path = "differences_tests.rs"]
mod tests;

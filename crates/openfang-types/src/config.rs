//! `config.toml`, typed. Unknown keys are errors; what a single value cannot say is checked in [`Config::problems`].
//!
//! Reading the file, the environment and the flags is the kernel's business (`config_file.rs`). A key exists here
//! from the day on which it has an effect.

use std::net::SocketAddr;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capability::Glob;
use crate::ids::AgentName;
use crate::limits::{API_KEY_MIN_BYTES, Limits, OWNER_BYTES};
use crate::secret::Secret;

pub use a2a::{A2aConfig, ExternalAgent};
pub use mcp_servers::{
    EnvEntry, McpAudit, McpProtocol, McpServerConfigEntry, McpTransportEntry, OnChange, is_own_variable,
};
pub use proxies::{ForwardedHeader, IpRange, IpRangeError};
pub use reach::{LOGIN_COOKIE, LOGIN_COOKIE_SECURE};

mod a2a;
mod mcp_servers;
mod proxies;
mod reach;

/// The whole of `config.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where the HTTP API listens: an IP address and a port. Without a credential only loopback is possible.
    #[serde(deserialize_with = "listen_address")]
    #[schemars(with = "String")]
    pub api_listen: SocketAddr,
    /// The admin's key, sent as `Authorization: Bearer <key>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key: Option<Secret>,
    /// The address under which others reach this server, such as `https://agents.example.org`; cards name it, and
    /// cookies are for https only if it is. Absent: `http://` and `api_listen`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_url: Option<String>,
    /// The agent that answers where none is named; absent: the first by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_agent: Option<AgentName>,
    /// Whether a message that its sender sends again, with the same id and content, leads to the same task. Off only for
    /// test kits that use one id for all their messages.
    pub resends: bool,
    /// Host names, beside the loopback ones and the listen address, under which the server may be addressed.
    pub allowed_hosts: Vec<String>,
    /// Origins, such as `https://ide.example.org`, whose pages may call the API.
    pub allowed_origins: Vec<String>,
    /// Proxies, by address or range (`10.0.0.0/8`), that say in `forwarded_header` who the client is.
    pub trusted_proxies: Vec<IpRange>,
    /// The header in which trusted proxies name the client; the other one is ignored.
    pub forwarded_header: ForwardedHeader,
    /// Limits.
    pub limits: Limits,
    /// When a run is going in circles.
    pub loop_guard: LoopGuardConfig,
    /// What is personal data, beside what the labels find by themselves.
    pub pii: PiiConfig,
    /// What may be reached from here.
    pub egress: EgressConfig,
    /// What is written down of calls.
    pub audit: AuditConfig,
    /// What is kept, and for how long.
    pub storage: StorageConfig,
    /// What is logged, to standard error.
    pub log: LogConfig,
    /// When the files are read again.
    pub reload: ReloadConfig,
    /// Agents over A2A.
    pub a2a: A2aConfig,
    /// The MCP servers this house connects to.
    pub mcp_servers: Vec<McpServerConfigEntry>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            api_listen: SocketAddr::from(([127, 0, 0, 1], 50051)),
            api_key: None,
            public_url: None,
            default_agent: None,
            resends: true,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            trusted_proxies: Vec::new(),
            forwarded_header: ForwardedHeader::default(),
            limits: Limits::default(),
            loop_guard: LoopGuardConfig::default(),
            pii: PiiConfig::default(),
            egress: EgressConfig::default(),
            audit: AuditConfig::default(),
            storage: StorageConfig::default(),
            log: LogConfig::default(),
            reload: ReloadConfig::default(),
            a2a: A2aConfig::default(),
            mcp_servers: Vec::new(),
        }
    }
}

/// When a run is going in circles, under `[loop_guard]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LoopGuardConfig {
    /// Identical calls after which the run is warned.
    pub warn_identical: u32,
    /// Identical calls at which the call is refused.
    pub block_identical: u32,
    /// Times a cycle of calls may come round before the next call of it is refused.
    pub cycle_repeats: u32,
    /// The longest cycle that is looked for.
    pub cycle_length: usize,
    /// Tool calls of one run, in all.
    pub calls_per_run: u32,
}

impl Default for LoopGuardConfig {
    fn default() -> Self {
        Self { warn_identical: 3, block_identical: 5, cycle_repeats: 3, cycle_length: 10, calls_per_run: 50 }
    }
}

/// What is personal data, under `[pii]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PiiConfig {
    /// Tools whose results are personal.
    pub tools: Vec<Glob>,
    /// Workspace paths whose content is personal: a file, or a directory and all below it.
    pub paths: Vec<String>,
    /// Regular expressions of text that is personal.
    pub patterns: Vec<String>,
}

/// What may be reached from here, under `[egress]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EgressConfig {
    /// Addresses, ranges (`10.1.0.0/16`), host names and `*.suffixes` that URLs named by others may reach although they
    /// are not public. A port after it (`10.1.2.3:9200`, `[fd00::1]:9200`, `search.internal:9200`) opens a port that is
    /// else refused, such as that of a database. Cloud metadata stays out of reach.
    pub allow: Vec<String>,
    /// Files with certificates (PEM) of authorities that are trusted beside the system's own.
    pub ca_files: Vec<PathBuf>,
}

/// What is written down of calls, under `[audit]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AuditConfig {
    /// Whether calls that only read are written down too. Refusals, and whatever changes something, always are.
    pub reads: bool,
    /// Days that rows are kept, counted from when their segment was sealed.
    pub days: u32,
    /// Rows of one owner that are kept about what they changed, and as many about what they read; the oldest go first.
    pub rows_per_owner: u64,
    /// Rows of one owner that are kept about what was refused; the oldest go first.
    pub refusals_per_owner: u64,
}

impl Default for AuditConfig {
    fn default() -> Self {
        Self { reads: true, days: 90, rows_per_owner: 1_000_000, refusals_per_owner: 250_000 }
    }
}

/// What is kept, under `[storage]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StorageConfig {
    /// Finished tasks of one owner that are kept; the oldest go first. Live ones are never touched.
    pub finished_tasks: usize,
    /// Days that finished tasks are kept.
    pub finished_days: u32,
    /// Hours after which a finished task's events are folded into it.
    pub fold_hours: u32,
    /// Bytes of tasks, files and memory that one owner may keep. When they are full, new ones are refused.
    pub owner_bytes: u64,
}

impl Default for StorageConfig {
    fn default() -> Self {
        Self { finished_tasks: 100_000, finished_days: 30, fold_hours: 6, owner_bytes: OWNER_BYTES }
    }
}

/// What is logged, under `[log]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LogConfig {
    /// `error`, `warn`, `info`, `debug` or `trace`.
    pub level: LogLevel,
    /// `text` for people, `json` for machines.
    pub format: LogFormat,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { level: LogLevel::Info, format: LogFormat::Text }
    }
}

/// When the files are read again, under `[reload]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReloadConfig {
    /// Whether a running server looks at its files every two seconds. `openfang reload` and `SIGHUP` work either way.
    pub watch: bool,
}

impl Default for ReloadConfig {
    fn default() -> Self {
        Self { watch: true }
    }
}

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines.
    Json,
}

/// A value that is well-formed and still cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    /// Where, as a dotted key path.
    pub key: String,
    /// What is wrong and what would be right.
    pub why: String,
}

impl Config {
    /// What is offered over A2A, if anything is.
    pub fn a2a(&self) -> Option<&A2aConfig> {
        Some(&self.a2a).filter(|a2a| a2a.enabled)
    }

    /// What the cookie of a login is called. Over https it is a name that a browser takes from this very host only.
    pub fn login_cookie(&self) -> &'static str {
        if self.is_https() { LOGIN_COOKIE_SECURE } else { LOGIN_COOKIE }
    }

    /// Everything that the types cannot refuse by themselves.
    pub fn problems(&self) -> Vec<ConfigProblem> {
        let mut problems = mcp_servers::problems(&self.mcp_servers);
        problems.extend(a2a::problems(&self.a2a));
        let mut say = |key: &str, why: String| problems.push(ConfigProblem { key: key.to_owned(), why });
        if let Some(key) = &self.api_key
            && (key.expose().len() < API_KEY_MIN_BYTES || !key.expose().bytes().all(|b| b.is_ascii_graphic()))
        {
            let why = "must be visible ASCII without spaces, of 16 characters or more; try `openssl rand -hex 32`";
            say("api_key", why.into());
        }
        if self.public_url.as_deref().is_some_and(|url| !reach::is_public_url(url)) {
            let why = "must be an http or https URL without a query, such as https://agents.example.org";
            say("public_url", why.into());
        }
        if self.a2a().is_some() && self.public_url.is_none() && self.api_listen.ip().is_unspecified() {
            let why = "must be set, because cards contain the address of this server and api_listen is a wildcard; or set a2a.enabled = false";
            say("public_url", why.into());
        }
        for host in &self.allowed_hosts {
            if host.is_empty() || host.contains(['/', '*', ' ']) {
                say("allowed_hosts", format!("{host:?} is not a host name, with or without a port"));
            }
        }
        for origin in &self.allowed_origins {
            if !is_origin(origin) {
                say("allowed_origins", format!("{origin:?} is not an origin such as https://ide.example.org"));
            }
        }
        for pattern in &self.pii.patterns {
            if regex::Regex::new(pattern).is_err() {
                say("pii.patterns", format!("{pattern:?} is not a regular expression"));
            }
        }
        if self.loop_guard.cycle_repeats < 2 {
            say("loop_guard.cycle_repeats", "must be at least 2, because one round is not a cycle".into());
        }
        if self.loop_guard.block_identical <= self.loop_guard.warn_identical {
            say(
                "loop_guard.block_identical",
                "must be larger than warn_identical, so that the warning comes first".into(),
            );
        }
        let sections = [
            ("limits", to_value(&self.limits)),
            ("loop_guard", to_value(&self.loop_guard)),
            ("storage", to_value(&self.storage)),
        ];
        if !(16..=128).contains(&self.limits.max_tool_name) {
            say("limits.max_tool_name", "must be between 16 and 128".into());
        }
        for (section, value) in sections {
            for key in zero_keys(&value) {
                say(&format!("{section}.{key}"), "must be at least 1".into());
            }
            for key in huge_keys(&value) {
                say(&format!("{section}.{key}"), "is too large".into());
            }
        }
        problems
    }
}

/// `drain_secs = 0` has a meaning (stop at once); every other zero would switch something off.
fn zero_keys(section: &serde_json::Value) -> Vec<&str> {
    let members = section.as_object().into_iter().flatten();
    members
        .filter(|(key, value)| value.as_u64() == Some(0) && *key != "drain_secs")
        .map(|(key, _)| key.as_str())
        .collect()
}

fn huge_keys(section: &serde_json::Value) -> Vec<&str> {
    let members = section.as_object().into_iter().flatten();
    // A size may be larger than 4 GiB, except that of headers, which are never so many.
    let is_size = |key: &str| key.ends_with("_bytes") && key != "header_bytes";
    let most = |key: &str| if is_size(key) { i64::MAX.unsigned_abs() } else { u64::from(u32::MAX) };
    let is_huge = |key: &str, value: &serde_json::Value| value.as_u64().is_some_and(|number| number > most(key));
    members.filter(|(key, value)| is_huge(key, value)).map(|(key, _)| key.as_str()).collect()
}

fn to_value(section: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(section).unwrap_or_default()
}

fn is_origin(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|host| !host.is_empty() && !host.contains(['/', '*', ' ', '?', '#', '@']))
}

fn listen_address<'de, D: serde::Deserializer<'de>>(from: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map_err(|_| {
        serde::de::Error::custom(format_args!(
            "{text:?} is not a listen address; use an IP address and a port, such as 127.0.0.1:50051"
        ))
    })
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;

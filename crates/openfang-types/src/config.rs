//! `config.toml`, typed. Unknown keys are errors; what a single value cannot say is checked in [`Config::problems`].
//!
//! Reading the file, the environment and the flags is the kernel's business (`config_file.rs`). A key exists here
//! from the day on which it has an effect.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capability::Glob;
use crate::ids::{AgentName, ModelName, ProfileName, ProviderName};
use crate::limits::{API_KEY_MIN_BYTES, Limits, OWNER_BYTES};
use crate::secret::Secret;

pub use a2a::A2aConfig;
pub use children::ChildIsolation;
pub use events::{EventHook, EventsConfig};
pub(crate) use exec::rule_problem as exec_rule_problem;
pub use exec::{ExecConfig, ExecRule, MarkedRule};
pub use external_agents::{A2aProtocol, ExternalAgent, ShownSkills, VerifyCard, external_tool_name};
pub use mcp::McpConfig;
pub use mcp_servers::{
    EnvEntry, McpAudit, McpProtocol, McpSandbox, McpServerConfigEntry, McpServerSettings, McpTransportEntry, NewTools,
    OnChange, ToolPattern, ToolPatternError, ToolSelection, is_own_variable,
};
pub use profiles::{NamedProfile, Profile, ProfileTools, SearchWord};
pub use providers::{ModelPrice, ModelSettings, ProviderConfig, ProviderWire, ReasoningOption};
pub use proxies::{ForwardedHeader, IpRange, IpRangeError};
pub use queue::QueueConfig;
pub use reach::{LOGIN_COOKIE, LOGIN_COOKIE_SECURE};
pub use schedules::SchedulesConfig;
pub use secret_refs::{secret_reference, secret_references};
pub use skills::SkillsConfig;
pub use web::{SearchConfig, SearchProvider, WebConfig};

mod a2a;
mod children;
mod events;
mod exec;
mod external_agents;
mod mcp;
mod mcp_servers;
mod profiles;
mod providers;
mod proxies;
mod queue;
mod reach;
mod schedules;
mod secret_refs;
mod skills;
mod web;

/// The content of `config.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The listen address of the HTTP API: an IP address and a port. Without a credential, it must be a loopback
    /// address.
    #[serde(deserialize_with = "listen_address")]
    #[schemars(with = "String")]
    pub api_listen: SocketAddr,
    /// The key of the admin, sent as `Authorization: Bearer <key>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key: Option<Secret>,
    /// The public address of this server, such as `https://agents.example.org`. Cards contain it. With https, the login
    /// cookie is for https only. If absent: `http://` and `api_listen`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_url: Option<String>,
    /// The agent that answers if a request names none. If absent: the first agent by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_agent: Option<AgentName>,
    /// Whether a retry of a message, with the same id and content, returns the same task. Turn this off only for test
    /// kits that use one id for all messages.
    pub resends: bool,
    /// Allowed values of the Host header, besides loopback names and the listen address.
    pub allowed_hosts: Vec<String>,
    /// Origins whose pages may call the API, such as `https://ide.example.org`.
    pub allowed_origins: Vec<String>,
    /// Proxies that report the client address in `forwarded_header`, by address or range (`10.0.0.0/8`).
    pub trusted_proxies: Vec<IpRange>,
    /// The header with the client address, written by trusted proxies. The other header is ignored.
    pub forwarded_header: ForwardedHeader,
    /// Limits of requests, calls, connections and rates.
    pub limits: Limits,
    /// Detection of loops in a run.
    pub loop_guard: LoopGuardConfig,
    /// Additional personal data, besides the data that is detected automatically.
    pub pii: PiiConfig,
    /// Settings of outbound connections.
    pub egress: EgressConfig,
    /// Settings of the tools that reach the web.
    pub web: WebConfig,
    /// The programs that `shell_exec` runs.
    pub exec: ExecConfig,
    /// Settings of the work queue.
    pub queue: QueueConfig,
    /// Settings of events that agents and people publish.
    pub events: EventsConfig,
    /// Settings of schedules, which tell agents something at certain times.
    pub schedules: SchedulesConfig,
    /// Where skills are looked for.
    pub skills: SkillsConfig,
    /// Settings of the audit log.
    pub audit: AuditConfig,
    /// Retention and quotas of stored data.
    pub storage: StorageConfig,
    /// Settings of the log, which goes to standard error.
    pub log: LogConfig,
    /// Settings of the reload of files.
    pub reload: ReloadConfig,
    /// Settings of the MCP server.
    pub mcp: McpConfig,
    /// The registry of MCP servers.
    pub registry: RegistryConfig,
    /// Settings of the A2A server.
    pub a2a: A2aConfig,
    /// The MCP servers that OpenFang connects to.
    pub mcp_servers: Vec<McpServerConfigEntry>,
    /// Selections of servers, tools and agents that clients can choose, by name.
    pub profiles: BTreeMap<ProfileName, Profile>,
    /// Providers of models, by name, besides those that are known.
    pub providers: BTreeMap<ProviderName, ProviderConfig>,
    /// Windows, prices and abilities of models, by name, where they differ from what is known.
    pub models: BTreeMap<ModelName, ModelSettings>,
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
            web: WebConfig::default(),
            exec: ExecConfig::default(),
            queue: QueueConfig::default(),
            events: EventsConfig::default(),
            schedules: SchedulesConfig::default(),
            skills: SkillsConfig::default(),
            audit: AuditConfig::default(),
            storage: StorageConfig::default(),
            log: LogConfig::default(),
            reload: ReloadConfig::default(),
            mcp: McpConfig::default(),
            registry: RegistryConfig::default(),
            a2a: A2aConfig::default(),
            mcp_servers: Vec::new(),
            profiles: BTreeMap::new(),
            providers: BTreeMap::new(),
            models: BTreeMap::new(),
        }
    }
}

/// Detection of loops in a run, under `[loop_guard]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LoopGuardConfig {
    /// Number of identical calls after which the run gets a warning.
    pub warn_identical: u32,
    /// Number of identical calls at which a call is refused.
    pub block_identical: u32,
    /// Rounds of a cycle of calls after which the next call of the cycle is refused.
    pub cycle_repeats: u32,
    /// Maximum length of a detected cycle.
    pub cycle_length: usize,
    /// Maximum tool calls of one run.
    pub calls_per_run: u32,
}

impl Default for LoopGuardConfig {
    fn default() -> Self {
        Self { warn_identical: 3, block_identical: 5, cycle_repeats: 3, cycle_length: 10, calls_per_run: 50 }
    }
}

/// Additional personal data, under `[pii]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PiiConfig {
    /// Patterns of tools whose results are personal data.
    pub tools: Vec<Glob>,
    /// Workspace paths with personal data: a file, or a directory with everything below it.
    pub paths: Vec<String>,
    /// Regular expressions that match personal data.
    pub patterns: Vec<String>,
}

/// Outbound connections, under `[egress]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EgressConfig {
    /// Non-public addresses, ranges (`10.1.0.0/16`), host names and `*.suffixes` that foreign URLs can reach. A port
    /// (`10.1.2.3:9200`, `[fd00::1]:9200`, `search.internal:9200`) allows a port that is blocked otherwise, such as that
    /// of a database. Cloud metadata is never reachable.
    pub allow: Vec<String>,
    /// PEM files with certificates of authorities that are trusted in addition to those of the system.
    pub ca_files: Vec<PathBuf>,
    /// The proxy for URLs of the operator, such as those of MCP servers. If absent: `HTTPS_PROXY` of the environment, for
    /// https. Empty: none. Foreign URLs never use a proxy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<Secret>,
    /// Hosts, `.suffixes` and ranges that are reached without the proxy. If absent: `NO_PROXY` of the environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_proxy: Option<Vec<String>>,
    /// How child processes are held. Other systems than Linux have `portable` only. It is read from the file only, not from the
    /// environment, and at the start.
    pub children: ChildIsolation,
}

/// The registry of MCP servers, under `[registry]`. `openfang mcp search` and `openfang mcp add` ask it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RegistryConfig {
    /// The URL of a registry with the API v0.1.
    pub url: String,
}

impl Default for RegistryConfig {
    fn default() -> Self {
        Self { url: "https://registry.modelcontextprotocol.io".to_owned() }
    }
}

/// The audit log, under `[audit]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AuditConfig {
    /// Whether read-only calls are recorded. Refusals and calls that change something are always recorded.
    pub reads: bool,
    /// Whether rows of calls have the arguments, up to 8 KiB, in addition to their digest. Arguments in which something looks like a
    /// secret or like personal data are left out.
    pub arguments: bool,
    /// Days that rows are kept after their segment was sealed.
    pub days: u32,
    /// Maximum rows of one owner about changes, and as many about reads. The oldest are removed first.
    pub rows_per_owner: u64,
    /// Maximum rows of one owner about refusals. The oldest are removed first.
    pub refusals_per_owner: u64,
}

impl Default for AuditConfig {
    fn default() -> Self {
        Self { reads: true, arguments: false, days: 90, rows_per_owner: 1_000_000, refusals_per_owner: 250_000 }
    }
}

/// Retention and quotas of stored data, under `[storage]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StorageConfig {
    /// Maximum finished tasks of one owner. The oldest are removed first. Live tasks are never removed.
    pub finished_tasks: usize,
    /// Days that finished tasks are kept.
    pub finished_days: u32,
    /// Hours after which the events of a finished task are folded into the task.
    pub fold_hours: u32,
    /// Days that an agent remembers a conversation in which nothing happens. It is forgotten with its last task anyway, and
    /// never while a task of it is live.
    pub transcript_days: u32,
    /// Maximum bytes of tasks, conversations, files and memory of one owner. Beyond it, new data is refused.
    pub owner_bytes: u64,
}

impl Default for StorageConfig {
    fn default() -> Self {
        Self {
            finished_tasks: 100_000,
            finished_days: 30,
            fold_hours: 6,
            transcript_days: 30,
            owner_bytes: OWNER_BYTES,
        }
    }
}

/// What is logged, under `[log]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LogConfig {
    /// The level: `error`, `warn`, `info`, `debug` or `trace`.
    pub level: LogLevel,
    /// The format: `text` or `json`.
    pub format: LogFormat,
    /// Whether the daemon writes its log to `data/log/openfang.jsonl` instead of standard error, always as JSON.
    /// `openfang logs` reads it.
    pub file: bool,
    /// Whether every HTTP request is a line in the log, at the level `info`: trace id, caller, endpoint kind, method, path, status and
    /// time.
    pub requests: bool,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { level: LogLevel::Info, format: LogFormat::Text, file: false, requests: false }
    }
}

/// Reloading of the files, under `[reload]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReloadConfig {
    /// Whether a running server checks its files every two seconds and applies changes. `openfang reload` and `SIGHUP`
    /// work in either case.
    pub watch: bool,
}

impl Default for ReloadConfig {
    fn default() -> Self {
        Self { watch: true }
    }
}

/// The minimum severity of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// One line of text per event.
    Text,
    /// One JSON object per line.
    Json,
}

/// A well-formed but invalid value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The dotted path of the key.
    pub key: String,
    /// The problem, and what would be valid.
    pub why: String,
}

impl Config {
    /// The A2A settings, if A2A is enabled.
    pub fn a2a(&self) -> Option<&A2aConfig> {
        Some(&self.a2a).filter(|a2a| a2a.enabled)
    }

    /// The name of the login cookie. Over https it has the prefix `__Host-`, which browsers accept from this host only.
    pub fn login_cookie(&self) -> &'static str {
        if self.is_https() { LOGIN_COOKIE_SECURE } else { LOGIN_COOKIE }
    }

    /// All problems that the types cannot detect.
    pub fn problems(&self) -> Vec<ConfigProblem> {
        let mut problems = mcp_servers::problems(&self.mcp_servers);
        problems.extend(a2a::problems(&self.a2a));
        problems.extend(mcp::problems(&self.mcp));
        problems.extend(web::problems(&self.web));
        problems.extend(exec::problems(&self.exec));
        problems.extend(queue::problems(&self.queue));
        problems.extend(events::problems(&self.events));
        problems.extend(schedules::problems(&self.schedules));
        problems.extend(skills::problems(&self.skills));
        problems.extend(providers::problems(&self.providers));
        problems.extend(providers::model_problems(&self.models));
        let mut say = |key: &str, why: String| problems.push(ConfigProblem { key: key.to_owned(), why });
        if let Some(key) = &self.api_key
            && (key.expose().len() < API_KEY_MIN_BYTES || !key.expose().bytes().all(|b| b.is_ascii_graphic()))
        {
            let why = "must be visible ASCII without spaces, of 16 characters or more; try `openssl rand -hex 32`";
            say("api_key", why.into());
        }
        if !["http://", "https://"].iter().any(|scheme| self.registry.url.starts_with(scheme)) {
            say("registry.url", "must begin with http:// or https://".into());
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

//! The tools that reach the web, under `[web]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use search::{SearchConfig, SearchProvider};

use super::ConfigProblem;
use crate::limits::{FETCH_BYTES_CEILING, FETCHED_MAX_BYTES, WEB_USER_AGENT_MAX_BYTES};

mod search;

/// The tools that reach the web, under `[web]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WebConfig {
    /// Maximum bytes of a response to `web_fetch`, decompressed.
    pub fetch_bytes: u64,
    /// Hosts to which `web_fetch` may send requests other than GET and HEAD: names, or `*.suffixes`.
    pub write_hosts: Vec<String>,
    /// The value of the header `User-Agent`.
    pub user_agent: String,
    /// Non-public addresses, ranges, host names and `*.suffixes` that the web tools can reach, as in `egress.allow`, which
    /// does not apply to them.
    pub allow: Vec<String>,
    /// Hosts to which agents may send requests while workspace or internal data and content from outside are in the
    /// context, without asking: names, or `*.suffixes`. List only hosts whose owner may see such data.
    pub read_hosts: Vec<String>,
    /// The providers of `web_search`.
    pub search: SearchConfig,
}

impl Default for WebConfig {
    fn default() -> Self {
        Self {
            fetch_bytes: FETCHED_MAX_BYTES,
            write_hosts: Vec::new(),
            user_agent: concat!("OpenFang/", env!("CARGO_PKG_VERSION")).to_owned(),
            allow: Vec::new(),
            read_hosts: Vec::new(),
            search: SearchConfig::default(),
        }
    }
}

impl WebConfig {
    /// Whether requests other than GET and HEAD may be sent to a host.
    pub fn may_write_to(&self, host: &str) -> bool {
        covers(&self.write_hosts, host)
    }

    /// Whether agents may read from a host, whatever is in the context.
    pub fn may_read_from(&self, host: &str) -> bool {
        covers(&self.read_hosts, host)
    }
}

/// Whether a host is among names and `*.suffixes`.
fn covers(entries: &[String], host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    entries.iter().any(|entry| {
        let entry = entry.to_ascii_lowercase();
        match entry.strip_prefix("*.") {
            Some(suffix) => host.strip_suffix(suffix).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.')),
            None => host == entry,
        }
    })
}

pub(super) fn problems(web: &WebConfig) -> Vec<ConfigProblem> {
    let mut problems = search::problems(&web.search);
    let mut say = |key: &str, why: String| problems.push(ConfigProblem { key: format!("web.{key}"), why });
    if !(1..=FETCH_BYTES_CEILING).contains(&web.fetch_bytes) {
        say("fetch_bytes", format!("must be between 1 and {FETCH_BYTES_CEILING}"));
    }
    let is_sendable = |text: &str| text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if web.user_agent.is_empty() || web.user_agent.len() > WEB_USER_AGENT_MAX_BYTES || !is_sendable(&web.user_agent) {
        say("user_agent", format!("must be 1 to {WEB_USER_AGENT_MAX_BYTES} characters of ASCII"));
    }
    for host in &web.write_hosts {
        let name = host.strip_prefix("*.").unwrap_or(host);
        let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:[]".contains(&b));
        if !is_name {
            say("write_hosts", format!("{host:?} is not a host name or a *.suffix, such as api.example.org"));
        }
    }
    let is_host = |entry: &str| {
        let name = entry.strip_prefix("*.").unwrap_or(entry);
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        !name.is_empty() && !name.starts_with('.') && name.chars().all(is_allowed)
    };
    for entry in web.read_hosts.iter().filter(|entry| !is_host(entry)) {
        let why = format!("{entry:?} is not a host name such as docs.example.org, or *.example.org");
        say("read_hosts", why);
    }
    problems
}

#[cfg(test)]
#[path = "web_tests.rs"]
mod tests;

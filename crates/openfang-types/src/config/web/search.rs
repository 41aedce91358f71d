//! The providers of `web_search`, under `[web.search]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::ConfigProblem;

/// The providers of `web_search`, under `[web.search]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SearchConfig {
    /// The providers, in the order in which they are asked: `searxng`, `brave`, `tavily`, `duckduckgo`. The next one is asked
    /// when one has no URL or key, or does not answer.
    pub providers: Vec<SearchProvider>,
    /// The URL of a SearXNG server, such as `http://127.0.0.1:8888`. Its format `json` must be enabled. Empty: none.
    pub searxng_url: String,
    /// The search endpoint of Brave. The key is in the environment, as `BRAVE_API_KEY`.
    pub brave_url: String,
    /// The search endpoint of Tavily. The key is in the environment, as `TAVILY_API_KEY`.
    pub tavily_url: String,
    /// The HTML search page of DuckDuckGo, which needs no key and refuses programs at times.
    pub duckduckgo_url: String,
}

/// A provider of search results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchProvider {
    SearxNg,
    Brave,
    Tavily,
    DuckDuckGo,
}

impl SearchProvider {
    /// The word in the configuration and in results.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SearxNg => "searxng",
            Self::Brave => "brave",
            Self::Tavily => "tavily",
            Self::DuckDuckGo => "duckduckgo",
        }
    }

    /// The variable of the environment that has its key, if it needs one.
    pub const fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::Brave => Some("BRAVE_API_KEY"),
            Self::Tavily => Some("TAVILY_API_KEY"),
            Self::SearxNg | Self::DuckDuckGo => None,
        }
    }
}

impl Default for SearchConfig {
    fn default() -> Self {
        use SearchProvider::{Brave, DuckDuckGo, SearxNg, Tavily};
        Self {
            providers: vec![SearxNg, Brave, Tavily, DuckDuckGo],
            searxng_url: String::new(),
            brave_url: "https://api.search.brave.com/res/v1/web/search".to_owned(),
            tavily_url: "https://api.tavily.com/search".to_owned(),
            duckduckgo_url: "https://html.duckduckgo.com/html/".to_owned(),
        }
    }
}

impl SearchConfig {
    /// The URL of a provider; empty if it has none.
    pub fn url(&self, provider: SearchProvider) -> &str {
        match provider {
            SearchProvider::SearxNg => &self.searxng_url,
            SearchProvider::Brave => &self.brave_url,
            SearchProvider::Tavily => &self.tavily_url,
            SearchProvider::DuckDuckGo => &self.duckduckgo_url,
        }
    }
}

pub(super) fn problems(search: &SearchConfig) -> Vec<ConfigProblem> {
    let mut problems = Vec::new();
    let mut say = |key: &str, why: &str| {
        problems.push(ConfigProblem { key: format!("web.search.{key}"), why: why.to_owned() });
    };
    let urls = [
        ("searxng_url", &search.searxng_url),
        ("brave_url", &search.brave_url),
        ("tavily_url", &search.tavily_url),
        ("duckduckgo_url", &search.duckduckgo_url),
    ];
    for (key, url) in urls {
        if !url.is_empty() && !["http://", "https://"].iter().any(|scheme| url.starts_with(scheme)) {
            say(key, "must begin with http:// or https://");
        }
    }
    // A key must not travel where others can read it.
    for (key, url) in &urls[1..3] {
        let is_local = ["http://127.0.0.1", "http://localhost", "http://[::1]"]
            .iter()
            .any(|local| url.starts_with(local));
        if url.starts_with("http://") && !is_local {
            say(key, "must begin with https://, because the key is sent there");
        }
    }
    let mut seen = search.providers.clone();
    seen.sort_unstable_by_key(|provider| provider.as_str());
    seen.dedup();
    if seen.len() != search.providers.len() {
        say("providers", "names a provider twice; remove one of the two");
    }
    problems
}

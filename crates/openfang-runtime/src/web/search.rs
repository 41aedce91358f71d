//! Search providers: one request and one answer for each, brought to one shape. What a provider answers was written by
//! strangers.

use std::time::Duration;

use openfang_egress::http::{Caps, HttpDoor, Patience, Response};
use openfang_types::config::{SearchConfig, SearchProvider};
use openfang_types::limits::{SEARCH_ANSWER_MAX_BYTES, SEARCH_SNIPPET_CHARS, SEARCH_TITLE_CHARS, SEARCH_TOTAL};
use openfang_types::secret::Secret;
use openfang_types::unseen::is_obeyed;
use schemars::JsonSchema;
use serde::Serialize;
use url::Url;

mod duckduckgo;
mod json;

/// One result of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct SearchHit {
    pub(crate) title: String,
    pub(crate) url: String,
    pub(crate) snippet: String,
    /// When the page was published, as the provider writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) date: Option<String>,
    /// The provider that found it.
    pub(crate) source: &'static str,
}

/// What is searched for.
pub(crate) struct Search<'a> {
    pub(crate) query: &'a str,
    pub(crate) max_results: usize,
    pub(crate) config: &'a SearchConfig,
}

/// Why a provider has not answered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoAnswer {
    pub(crate) why: String,
    /// How long it should be left alone.
    pub(crate) pause: Option<Duration>,
}

impl NoAnswer {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), pause: None }
    }
}

impl Search<'_> {
    /// Asks one provider once.
    pub(crate) async fn ask(
        &self,
        door: &HttpDoor,
        provider: SearchProvider,
        key: Option<&Secret>,
    ) -> Result<Vec<SearchHit>, NoAnswer> {
        let invalid = |why: String| NoAnswer::new(format!("its URL in [web.search] cannot be used: {why}"));
        let mut url = Url::parse(self.config.url(provider)).map_err(|error| invalid(error.to_string()))?;
        if provider == SearchProvider::SearxNg && !url.path().ends_with("/search") {
            let path = format!("{}/search", url.path().trim_end_matches('/'));
            url.set_path(&path);
        }
        if provider != SearchProvider::Tavily {
            json::add_query(&mut url, provider, self);
        }
        let url = door.guard().operator(url.as_str()).map_err(|error| invalid(error.to_string()))?;
        let request = json::request(provider, url, self, key).map_err(NoAnswer::new)?;
        let patience = Patience { total: Some(SEARCH_TOTAL), ..Patience::default() };
        let caps = Caps { decoded_bytes: SEARCH_ANSWER_MAX_BYTES, ..Caps::default() };
        let response = door.send(request.patience(patience).caps(caps)).await;
        let response = response.map_err(|error| NoAnswer::new(error.to_string()))?;
        let hits = self.read(provider, response).await?;
        Ok(hits.into_iter().filter_map(clean).take(self.max_results).collect())
    }

    async fn read(&self, provider: SearchProvider, response: Response) -> Result<Vec<SearchHit>, NoAnswer> {
        let Response { status, body, .. } = response;
        match (provider, status.as_u16()) {
            (SearchProvider::DuckDuckGo, 202) => return Err(duckduckgo::refused()),
            (_, 200) => {}
            (SearchProvider::SearxNg, 403) => {
                return Err(NoAnswer::new("it answers 403; add json to search.formats in its settings.yml"));
            }
            (_, 401 | 403) => return Err(NoAnswer::new(format!("it refuses the key ({status}); check the key"))),
            (_, 429) => return Err(NoAnswer::new("its quota is used up (429)")),
            (_, _) => return Err(NoAnswer::new(format!("it answers {status}"))),
        }
        let bytes = body.bytes().await.map_err(|error| NoAnswer::new(error.to_string()))?;
        let read = move || match provider {
            SearchProvider::DuckDuckGo => duckduckgo::read(&String::from_utf8_lossy(&bytes)),
            SearchProvider::SearxNg | SearchProvider::Brave | SearchProvider::Tavily => json::read(provider, &bytes),
        };
        let read = tokio::task::spawn_blocking(read).await;
        read.map_err(|_| NoAnswer::new("its answer cannot be read"))?
    }
}

/// A result without links that are no links, characters that nobody sees, and texts without end.
fn clean(hit: SearchHit) -> Option<SearchHit> {
    let url = Url::parse(hit.url.trim()).ok()?;
    let is_web = matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none();
    if !is_web || url.as_str().len() > openfang_types::limits::WEB_LINK_MAX_BYTES {
        return None;
    }
    Some(SearchHit {
        title: shortened(&hit.title, SEARCH_TITLE_CHARS),
        url: url.into(),
        snippet: shortened(&hit.snippet, SEARCH_SNIPPET_CHARS),
        date: hit.date.map(|date| shortened(&date, SEARCH_TITLE_CHARS)),
        source: hit.source,
    })
}

fn shortened(text: &str, chars: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().take(chars).collect();
    words.join(" ").chars().filter(|c| !is_obeyed(*c)).take(chars).collect()
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;

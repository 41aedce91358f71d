//! The providers that answer in JSON, and the requests to all of them.

use http::{HeaderName, HeaderValue, Method, header};
use openfang_egress::http::Request;
use openfang_egress::url::OperatorUrl;
use openfang_types::config::SearchProvider;
use openfang_types::secret::Secret;
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::{NoAnswer, Search, SearchHit};
use crate::web::markdown;

/// Adds the query to the URL of a provider that is asked by GET.
pub(super) fn add_query(url: &mut Url, provider: SearchProvider, search: &Search<'_>) {
    let mut pairs = url.query_pairs_mut();
    pairs.append_pair("q", search.query);
    match provider {
        SearchProvider::SearxNg => {
            pairs.append_pair("format", "json");
        }
        SearchProvider::Brave => {
            pairs.append_pair("count", &search.max_results.to_string());
        }
        SearchProvider::Tavily | SearchProvider::DuckDuckGo => {}
    }
}

/// The request to a provider.
pub(super) fn request(
    provider: SearchProvider,
    url: OperatorUrl,
    search: &Search<'_>,
    key: Option<&Secret>,
) -> Result<Request, String> {
    let secret = |prefix: &str| -> Result<HeaderValue, String> {
        let key = key.ok_or_else(|| "it has no key".to_owned())?;
        let value = HeaderValue::from_str(&format!("{prefix}{}", key.expose()));
        value.map_err(|_| "its key has characters that no key has".to_owned())
    };
    let accept = HeaderValue::from_static("application/json");
    Ok(match provider {
        SearchProvider::SearxNg => Request::new(Method::GET, url).header(header::ACCEPT, accept),
        SearchProvider::Brave => Request::new(Method::GET, url)
            .header(header::ACCEPT, accept)
            .secret_header(HeaderName::from_static("x-subscription-token"), secret("")?),
        SearchProvider::Tavily => {
            let body = json!({ "query": search.query, "max_results": search.max_results });
            Request::new(Method::POST, url)
                .secret_header(header::AUTHORIZATION, secret("Bearer ")?)
                .body(HeaderValue::from_static("application/json"), body.to_string())
        }
        SearchProvider::DuckDuckGo => {
            Request::new(Method::GET, url).header(header::ACCEPT, HeaderValue::from_static("text/html"))
        }
    })
}

/// What SearXNG and Tavily answer.
#[derive(Deserialize)]
struct Answer {
    results: Vec<FoundPage>,
}

#[derive(Deserialize)]
struct FoundPage {
    url: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default, alias = "description")]
    content: Option<String>,
    #[serde(default, alias = "publishedDate", alias = "page_age")]
    published_date: Option<String>,
}

#[derive(Deserialize)]
struct BraveAnswer {
    /// Missing when nothing was found.
    #[serde(default)]
    web: Option<Answer>,
}

/// Reads the answer of a provider.
pub(super) fn read(provider: SearchProvider, bytes: &[u8]) -> Result<Vec<SearchHit>, NoAnswer> {
    let unreadable = |_| NoAnswer::new("its answer is not the JSON of a search; check its URL in [web.search]");
    let results = match provider {
        SearchProvider::Brave => {
            let answer: BraveAnswer = serde_json::from_slice(bytes).map_err(unreadable)?;
            answer.web.map(|web| web.results).unwrap_or_default()
        }
        SearchProvider::SearxNg | SearchProvider::Tavily | SearchProvider::DuckDuckGo => {
            serde_json::from_slice::<Answer>(bytes).map_err(unreadable)?.results
        }
    };
    let hit = |result: FoundPage| SearchHit {
        title: plain(result.title),
        url: result.url,
        snippet: plain(result.content),
        date: result.published_date,
        source: provider.as_str(),
    };
    Ok(results.into_iter().map(hit).collect())
}

/// Brave marks words with elements of HTML.
fn plain(text: Option<String>) -> String {
    let text = text.unwrap_or_default();
    match (text.contains('<'), Url::parse("https://localhost/")) {
        (true, Ok(base)) => markdown::convert(&text, &base).markdown,
        (true | false, _) => text,
    }
}

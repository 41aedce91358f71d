//! `web_search`: asks the configured providers in order, until one answers.

use std::sync::{Arc, Mutex, PoisonError};

use openfang_types::call::{Arguments, Outcome};
use openfang_types::config::SearchProvider;
use openfang_types::content::ToolOutput;
use openfang_types::limits::{SEARCH_QUERY_MAX_BYTES, SEARCH_RESULTS, SEARCH_RESULTS_MAX};
use openfang_types::taint::{Label, Labels, SinkKind};
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::{Tool, ToolFailure, ToolFuture, name, parse};
use crate::call_room::CallRoom;
use crate::context::CallContext;
use crate::pipeline::Permit;
use crate::web::Web;
use crate::web::search::{NoAnswer, Search, SearchHit};

pub(super) struct WebSearch {
    web: Arc<dyn Web>,
    calls: Arc<CallRoom>,
    /// Until when the provider without a key is left alone.
    paused: Mutex<Option<Instant>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// What to search for.
    query: String,
    /// How many results to return, 5 if left out.
    #[schemars(range(min = 1, max = 20))]
    max_results: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
struct SearchReport {
    results: Vec<SearchHit>,
}

impl WebSearch {
    pub(super) fn new(web: Arc<dyn Web>, calls: Arc<CallRoom>) -> Self {
        Self { web, calls, paused: Mutex::new(None) }
    }

    /// The answer of one provider, if it is configured and not left alone.
    async fn ask(&self, search: &Search<'_>, provider: SearchProvider) -> Result<Vec<SearchHit>, String> {
        if search.config.url(provider).is_empty() {
            return Err(format!("set web.search.{}_url", provider.as_str()));
        }
        let key = match provider.key_variable() {
            Some(variable) => Some(self.web.search_key(variable).ok_or_else(|| format!("set {variable}"))?),
            None => None,
        };
        if provider == SearchProvider::DuckDuckGo && self.is_paused() {
            return Err("it refused an earlier search, and is left alone for ten minutes".to_owned());
        }
        let door = self.web.operator_door()?;
        search.ask(&door, provider, key.as_ref()).await.map_err(|NoAnswer { why, pause }| {
            if let Some(until) = pause.and_then(|pause| Instant::now().checked_add(pause)) {
                *self.paused.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
            }
            why
        })
    }

    fn is_paused(&self) -> bool {
        let paused = self.paused.lock().unwrap_or_else(PoisonError::into_inner);
        paused.is_some_and(|until| Instant::now() < until)
    }
}

impl Tool for WebSearch {
    fn definition(&self) -> ToolDefinition {
        let says = "Searches the web and returns titles, URLs and snippets, which were written by strangers.";
        let annotations = ToolAnnotations { open_world_hint: true, ..ToolAnnotations::READ_ONLY };
        ToolDefinition::of::<Args>(name("web_search"), says, SinkKind::Queries, annotations).returning::<SearchReport>()
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let Args { query, max_results } = parse(arguments)?;
            let max_results = max_results.unwrap_or(SEARCH_RESULTS);
            if query.trim().is_empty() || query.len() > SEARCH_QUERY_MAX_BYTES {
                return Err(ToolFailure::new(format!("a query has 1 to {SEARCH_QUERY_MAX_BYTES} bytes")));
            }
            if !(1..=SEARCH_RESULTS_MAX).contains(&max_results) {
                return Err(ToolFailure::new(format!("`max_results` is between 1 and {SEARCH_RESULTS_MAX}")));
            }
            let _room = self.calls.begin(cx.principal.owner())?;
            let config = &cx.config.web.search;
            let search = Search { query: &query, max_results, config };
            let mut reasons = Vec::new();
            for provider in &config.providers {
                match self.ask(&search, *provider).await {
                    Ok(results) => return Ok(Outcome::Done(output_of(results, *provider))),
                    Err(why) => reasons.push(format!("{}: {why}", provider.as_str())),
                }
            }
            if reasons.is_empty() {
                reasons.push("web.search.providers is empty; name a provider".to_owned());
            }
            Err(ToolFailure::new(format!("no search provider answered; {}", reasons.join("; "))))
        })
    }
}

fn output_of(results: Vec<SearchHit>, provider: SearchProvider) -> ToolOutput {
    let labels = Labels::one(Label::ExternalNetwork, format!("web_search with {}", provider.as_str()));
    let lines = results.iter().map(|hit| match hit.date.as_deref() {
        Some(date) => format!("{} ({date})\n{}\n{}", hit.title, hit.url, hit.snippet),
        None => format!("{}\n{}\n{}", hit.title, hit.url, hit.snippet),
    });
    let text = lines.collect::<Vec<_>>().join("\n\n");
    let text = if text.is_empty() { "(no results)".to_owned() } else { text };
    ToolOutput::text(text).with_structured(&SearchReport { results }).labelled(&labels)
}

//! Which models a server on this machine has. It is asked when somebody wants to know, and is given little time.

use http::{HeaderMap, Method};
use openfang_egress::http::{HttpDoor, Patience, Redirects, Request};
use openfang_model::{Endpoint, WireKind};
use openfang_types::limits::{MODEL_LIST_MAX, MODEL_LIST_MAX_BYTES, MODEL_PROBE};
use openfang_types::scan;
use serde::Deserialize;
use tokio::time::timeout;

#[derive(Deserialize)]
struct OllamaTags {
    models: Vec<OllamaModel>,
}

#[derive(Deserialize)]
struct OllamaModel {
    name: String,
}

#[derive(Deserialize)]
struct ModelList {
    data: Vec<ListedModel>,
}

#[derive(Deserialize)]
struct ListedModel {
    id: String,
}

/// The models that an Ollama has downloaded.
pub(super) async fn ollama(door: &HttpDoor, endpoint: &Endpoint) -> Result<Vec<String>, String> {
    let text = get(door, &format!("{}/api/tags", endpoint.base_url)).await?;
    let tags: OllamaTags = serde_json::from_str(&text).map_err(|_| no_list())?;
    Ok(named(tags.models.into_iter().map(|model| model.name)))
}

/// The models of a server that speaks the given wire. Only servers without a key are asked.
pub(super) async fn models(door: &HttpDoor, endpoint: &Endpoint) -> Result<Vec<String>, String> {
    if endpoint.wire == WireKind::Ollama {
        return ollama(door, endpoint).await;
    }
    let text = get(door, &format!("{}/models", endpoint.base_url)).await?;
    let list: ModelList = serde_json::from_str(&text).map_err(|_| no_list())?;
    Ok(named(list.data.into_iter().map(|model| model.id)))
}

/// Names come from a stranger, and are shown.
fn named(names: impl Iterator<Item = String>) -> Vec<String> {
    let valid = names.filter(|name| name.parse::<openfang_types::ids::ModelName>().is_ok());
    valid.take(MODEL_LIST_MAX).collect()
}

fn no_list() -> String {
    "it answers with something else than a list of models".to_owned()
}

async fn get(door: &HttpDoor, url: &str) -> Result<String, String> {
    let url = door.guard().operator(url).map_err(|error| error.to_string())?;
    let patience =
        Patience { connect: MODEL_PROBE, first_byte: MODEL_PROBE, idle: MODEL_PROBE, total: Some(MODEL_PROBE) };
    let request = Request::new(Method::GET, url)
        .headers(HeaderMap::new())
        .patience(patience)
        .redirects(Redirects::Unchanged);
    let exchange = async {
        let response = door.send(request).await.map_err(|error| error.to_string())?;
        if !response.status.is_success() {
            return Err(format!("it answers with status {}", response.status.as_u16()));
        }
        let mut body = response.body.at_most(MODEL_LIST_MAX_BYTES);
        let mut bytes = Vec::new();
        while let Some(chunk) = body.chunk().await.map_err(|error| error.to_string())? {
            bytes.extend_from_slice(&chunk);
        }
        let text = scan::scan_text(&bytes).map_err(|_| no_list())?;
        Ok(text.to_owned())
    };
    timeout(MODEL_PROBE, exchange)
        .await
        .unwrap_or_else(|_| Err("it does not answer".to_owned()))
}

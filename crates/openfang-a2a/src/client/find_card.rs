//! Finds the card of an agent: at the paths that the versions of A2A define, below the URL and at its origin, or in a list of
//! agents.

use std::time::Duration;

use http::header::{self, HeaderMap, HeaderValue};
use openfang_egress::http::{Caps, Patience, Request};
use openfang_types::limits::{
    A2A_CARD_AGE, A2A_CARD_AGE_MAX, A2A_CARD_AGE_MIN, A2A_CARD_ENTRIES, A2A_CARD_MAX_BYTES, A2A_CARD_TOTAL,
    HTTP_CONNECT,
};
use openfang_types::scan::scan_text;
use serde_json::Value;
use url::Url;

use super::agent::RemoteAgent;
use super::card::PeerCard;
use super::discovery::{DiscoveryError, ListedAgent, Validators};
use super::error::ClientError;
use super::interface::lies_below;
use super::site::VERSION;
use crate::card::AGENT_CARD_TYPE;

const WELL_KNOWN: [&str; 2] = [".well-known/agent-card.json", ".well-known/agent.json"];

/// A card and where it came from.
pub(super) struct FoundCard {
    pub(super) card: PeerCard,
    /// The card as it was served. Signatures are about these bytes.
    pub(super) served: Vec<u8>,
    /// The URL of the card, at the origin that answered.
    pub(super) url: Url,
    pub(super) cache: CacheTerms,
}

/// How long a card may be kept.
#[derive(Debug, Clone)]
pub(super) struct CacheTerms {
    pub(super) validators: Validators,
    pub(super) max_age: Duration,
}

/// The result of a search.
pub(super) enum Search {
    Found(Box<FoundCard>),
    /// The known card is still the current one.
    NotModified(CacheTerms),
    /// There is no card; what the server answered.
    Nothing(String),
}

/// A document that was fetched.
enum Document {
    Body {
        bytes: Vec<u8>,
        url: Url,
        cache: CacheTerms,
    },
    NotModified(CacheTerms),
    /// Nothing usable; the reason in a few words, and the status of a refusal.
    Missing {
        reason: String,
        denied: Option<u16>,
    },
}

/// Looks for the card of an agent. With validators, only the URL they belong to is asked first.
pub(super) async fn find(agent: &RemoteAgent, known: Option<(&str, &Validators)>) -> Result<Search, DiscoveryError> {
    let base = &agent.site().base;
    if let Some((url, validators)) = known.and_then(|(url, validators)| Some((Url::parse(url).ok()?, validators))) {
        match fetch(agent, &url, Some(validators)).await? {
            Document::NotModified(cache) => return Ok(Search::NotModified(cache)),
            Document::Body { bytes, url, cache } => {
                if let Some(card) = read(agent, &bytes) {
                    return Ok(found(card, bytes, url, cache));
                }
            }
            Document::Missing { .. } => {}
        }
    }
    let (mut first, mut denied) = (None, None);
    for place in places(base) {
        match fetch(agent, &place.url, None).await? {
            Document::Body { bytes, url, cache } => match read(agent, &bytes) {
                Some(card) if place.is_shared && !lies_below(&card, base) => {
                    first = first.or(Some("the card at the origin belongs to another agent".to_owned()));
                }
                Some(card) => return Ok(found(card, bytes, url, cache)),
                None if place.may_list => {
                    if let Some(found) = listed(agent, &bytes, &url, cache).await? {
                        return Ok(found);
                    }
                }
                None => first = first.or(Some("the answer is not a card".to_owned())),
            },
            Document::NotModified(_) => {}
            Document::Missing { reason, denied: status } => {
                first = first.or(Some(reason));
                denied = denied.or(status);
            }
        }
    }
    match denied {
        Some(status) => Err(DiscoveryError::Unauthorized { origin: origin(base), status }),
        None => Ok(Search::Nothing(first.unwrap_or_else(|| "nothing found".to_owned()))),
    }
}

fn found(card: PeerCard, served: Vec<u8>, url: Url, cache: CacheTerms) -> Search {
    Search::Found(Box::new(FoundCard { card, served, url, cache }))
}

fn read(agent: &RemoteAgent, bytes: &[u8]) -> Option<PeerCard> {
    PeerCard::read(&agent.site().redactor.json(bytes))
}

/// A URL that may have the card.
struct CardLocation {
    url: Url,
    /// At the origin, where the card may belong to another agent.
    is_shared: bool,
    /// May be a list of agents.
    may_list: bool,
}

fn places(base: &Url) -> Vec<CardLocation> {
    let path = base.path();
    let is_card = path.ends_with(".json") || path.contains("/.well-known/");
    let place = |url, is_shared, may_list| CardLocation { url, is_shared, may_list };
    if is_card {
        return vec![place(base.clone(), false, true)];
    }
    let below = |from: &str, name: &str| {
        let mut url = base.clone();
        url.set_path(&format!("{}/{name}", from.trim_end_matches('/')));
        url.set_query(None);
        url
    };
    let mut places: Vec<CardLocation> = WELL_KNOWN.iter().map(|name| place(below(path, name), false, false)).collect();
    if path != "/" {
        places.extend(WELL_KNOWN.iter().map(|name| place(below("", name), true, false)));
    }
    places.push(place(below(path, "v1/card"), false, false));
    places.push(place(base.clone(), false, true));
    places
}

async fn fetch(agent: &RemoteAgent, url: &Url, validators: Option<&Validators>) -> Result<Document, DiscoveryError> {
    let site = agent.site();
    let missing = |reason: String| Document::Missing { reason, denied: None };
    let target = match site.target(url.as_str()) {
        Ok(target) => target,
        Err(error) => return Ok(missing(error.to_string())),
    };
    let patience = Patience {
        connect: HTTP_CONNECT.min(site.timeout),
        first_byte: A2A_CARD_TOTAL.min(site.timeout),
        idle: A2A_CARD_TOTAL,
        total: Some(A2A_CARD_TOTAL),
    };
    let request = Request::new(http::Method::GET, target)
        .headers(headers(agent, validators))
        .redirects(site.redirects)
        .patience(patience)
        .caps(Caps { decoded_bytes: A2A_CARD_MAX_BYTES, ..Caps::default() });
    let response = match site.door.send(request).await {
        Ok(response) => response,
        // The other paths are at the same server.
        Err(error) => return Err(DiscoveryError::Unreachable(ClientError::transport(&error).to_string())),
    };
    if !site.allows(&response.origin) {
        return Ok(missing(format!("it redirects to {}, which is not an allowed origin", response.origin)));
    }
    let (status, cache) = (response.status.as_u16(), CacheTerms::of(&response.headers));
    let url = at_origin(url, &response.origin.to_string());
    match status {
        304 => Ok(Document::NotModified(cache)),
        200..=299 => match response.body.bytes().await {
            Ok(bytes) => Ok(Document::Body { bytes: bytes.to_vec(), url, cache }),
            Err(error) => Err(DiscoveryError::Unreachable(ClientError::transport(&error).to_string())),
        },
        401 | 403 => Ok(Document::Missing { reason: format!("HTTP {status}"), denied: Some(status) }),
        _ => Ok(missing(format!("HTTP {status}"))),
    }
}

fn headers(agent: &RemoteAgent, validators: Option<&Validators>) -> HeaderMap {
    let mut headers = agent.site().headers();
    headers.extend(agent.extra().iter().map(|(name, value)| (name.clone(), value.clone())));
    headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
    // Servers of several versions show the card of the version that is asked for.
    headers.insert(VERSION, HeaderValue::from_static("1.0"));
    let text = |value: &Option<String>| value.as_deref().and_then(|value| HeaderValue::from_str(value).ok());
    if let Some(value) = validators.and_then(|held| text(&held.etag)) {
        headers.insert(header::IF_NONE_MATCH, value);
    }
    if let Some(value) = validators.and_then(|held| text(&held.last_modified)) {
        headers.insert(header::IF_MODIFIED_SINCE, value);
    }
    headers
}

/// The same path at another origin, after a redirect.
fn at_origin(url: &Url, origin: &str) -> Url {
    let Ok(mut moved) = Url::parse(origin) else { return url.clone() };
    moved.set_path(url.path());
    moved.set_query(url.query());
    moved
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

impl CacheTerms {
    fn of(headers: &HeaderMap) -> Self {
        let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let control = text(header::CACHE_CONTROL).unwrap_or_default().to_ascii_lowercase();
        let age = control
            .split(',')
            .find_map(|one| one.trim().strip_prefix("max-age=")?.trim_matches('"').parse().ok());
        let stated = if control.contains("no-store") || control.contains("no-cache") { Some(0) } else { age };
        let max_age = stated.map_or(A2A_CARD_AGE, Duration::from_secs).clamp(A2A_CARD_AGE_MIN, A2A_CARD_AGE_MAX);
        let owned = |name| text(name).map(str::to_owned);
        let validators = Validators { etag: owned(header::ETAG), last_modified: owned(header::LAST_MODIFIED) };
        Self { validators, max_age }
    }
}

/// The only agent of a list. Several agents are an error that names them.
async fn listed(
    agent: &RemoteAgent,
    bytes: &[u8],
    url: &Url,
    cache: CacheTerms,
) -> Result<Option<Search>, DiscoveryError> {
    let clean = agent.site().redactor.json(bytes);
    let Some(mut entries) = entries(&clean) else { return Ok(None) };
    let (Some(only), true) = (entries.pop(), entries.is_empty()) else {
        let all = super::find_card::entries(&clean).unwrap_or_default();
        let named = all.into_iter().map(|entry| ListedAgent { name: entry.name, url: entry.url });
        return Err(DiscoveryError::Several(named.collect()));
    };
    if let Some(card) = only.card.as_ref().and_then(PeerCard::of_value) {
        let served = only.card.map(|card| card.to_string().into_bytes()).unwrap_or_default();
        return Ok(Some(found(card, served, url.clone(), cache)));
    }
    let Some(place) = only.url.as_deref().and_then(|place| url.join(place).ok()) else { return Ok(None) };
    match fetch(agent, &place, None).await? {
        Document::Body { bytes, url, cache } => Ok(read(agent, &bytes).map(|card| found(card, bytes, url, cache))),
        Document::NotModified(_) | Document::Missing { .. } => Ok(None),
    }
}

/// The agents of a document: of a card, of `{"agents": [card]}`, or of an AI catalogue. None if it is none of these.
pub fn listed_agents(document: &[u8]) -> Option<Vec<ListedAgent>> {
    let url_of = |card: &PeerCard| card.interfaces.first().map(|interface| interface.url.clone());
    if let Some(card) = PeerCard::read(document) {
        return Some(vec![ListedAgent { url: url_of(&card), name: card.name }]);
    }
    let listed = |Entry { name, url, card }: Entry| {
        let url = url.or_else(|| url_of(&card.as_ref().and_then(PeerCard::of_value)?));
        ListedAgent { name, url }
    };
    Some(entries(document)?.into_iter().map(listed).collect())
}

/// An agent in a list.
struct Entry {
    name: String,
    url: Option<String>,
    card: Option<Value>,
}

/// The agents of `{"agents": [card]}` or of an AI catalogue. None if it is neither, or has no agent.
fn entries(document: &[u8]) -> Option<Vec<Entry>> {
    let value: Value = serde_json::from_str(scan_text(document).ok()?).ok()?;
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let entries: Vec<Entry> = if let Some(agents) = value.get("agents").and_then(Value::as_array) {
        let read =
            |card: &Value| Some(Entry { name: text(card, "name")?, url: text(card, "url"), card: Some(card.clone()) });
        agents.iter().filter_map(read).take(A2A_CARD_ENTRIES).collect()
    } else {
        let listed = value.get("entries").and_then(Value::as_array)?;
        let read = |entry: &Value| {
            text(entry, "type").filter(|kind| kind == AGENT_CARD_TYPE)?;
            let name = text(entry, "displayName").or_else(|| text(entry, "identifier"))?;
            Some(Entry { name, url: text(entry, "url"), card: entry.get("data").cloned() })
        };
        listed.iter().filter_map(read).take(A2A_CARD_ENTRIES).collect()
    };
    (!entries.is_empty()).then_some(entries)
}

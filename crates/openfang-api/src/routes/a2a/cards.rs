//! Serves cards: the public card to everybody, the extended card to callers with a credential. One document suits
//! clients of every version, unless the client states 1.0. `Vary` tells caches about the difference.

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LAST_MODIFIED, VARY};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use jiff::Timestamp;
use openfang_a2a::card::{CardDocument, CardForm, listing};
use openfang_kernel::{Caller, Kernel};

use super::CardRoute;
use crate::error::ApiError;

const VERSION: HeaderName = HeaderName::from_static("a2a-version");
/// The request headers a card depends on.
const DIFFERS_BY: HeaderValue = HeaderValue::from_static("A2A-Version, Authorization, Cookie");
const FOR_ALL: HeaderValue = HeaderValue::from_static("public, max-age=300");
/// Must be revalidated each time, which is cheap with an entity tag.
const FOR_ONE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// Answers a request for a card.
pub(super) fn answer(
    kernel: &Kernel,
    caller: Option<&Caller>,
    shown: CardRoute,
    agent: Option<&str>,
    headers: &HeaderMap,
) -> Response {
    let speaks_newest = headers.get(VERSION).is_some_and(|version| version.as_bytes().starts_with(b"1."));
    let form = if speaks_newest || shown == CardRoute::Strict { CardForm::Strict } else { CardForm::Superset };
    match (shown, caller) {
        (CardRoute::Card | CardRoute::Strict | CardRoute::Agent | CardRoute::Extended, _) => {
            in_form(kernel, caller, agent, headers, form)
        }
        (CardRoute::Keys, _) => keys(kernel, headers),
        (CardRoute::Catalogue, _) => catalogue(kernel, caller, headers),
        (CardRoute::Agents, Some(caller)) => list(kernel, caller),
        // Only a route that is wrongly marked public has no caller.
        (CardRoute::Agents, None) => ApiError::broken().into_response(),
    }
}

fn list(kernel: &Kernel, caller: &Caller) -> Response {
    let body = listing(&kernel.cards(&caller.principal));
    ([(CONTENT_TYPE, "application/json")], [(CACHE_CONTROL, FOR_ONE)], body).into_response()
}

fn catalogue(kernel: &Kernel, caller: Option<&Caller>, headers: &HeaderMap) -> Response {
    match kernel.catalogue(caller.map(|caller| &*caller.principal)) {
        Some(catalogue) => document(&catalogue, headers, if caller.is_some() { FOR_ONE } else { FOR_ALL }),
        None => ApiError::no_a2a().into_response(),
    }
}

fn keys(kernel: &Kernel, headers: &HeaderMap) -> Response {
    match kernel.card_jwks() {
        Some(keys) => document(&keys, headers, FOR_ALL),
        None => ApiError::no_card_keys().into_response(),
    }
}

fn in_form(
    kernel: &Kernel,
    caller: Option<&Caller>,
    agent: Option<&str>,
    headers: &HeaderMap,
    form: CardForm,
) -> Response {
    let who = caller.map(|caller| &*caller.principal);
    let name = agent.map(str::parse).transpose().ok();
    let Some(card) = name.and_then(|name| kernel.card(who, name.as_ref(), form)) else {
        return ApiError::no_such_agent(&kernel.config().a2a.listen_path).into_response();
    };
    document(&card, headers, if who.is_some() { FOR_ONE } else { FOR_ALL })
}

fn document(card: &CardDocument, asked: &HeaderMap, caching: HeaderValue) -> Response {
    let is_known = asked.get_all(IF_NONE_MATCH).iter().any(|tags| names(tags, &card.etag));
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(CONTENT_TYPE, "application/json")], Body::from(card.body.clone())).into_response()
    };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, caching);
    headers.insert(VARY, DIFFERS_BY);
    headers.extend(HeaderValue::from_str(&card.etag).ok().map(|tag| (ETAG, tag)));
    headers.extend(
        HeaderValue::from_str(&http_date(card.last_modified))
            .ok()
            .map(|date| (LAST_MODIFIED, date)),
    );
    response
}

fn names(tags: &HeaderValue, etag: &str) -> bool {
    let tags = tags.to_str().unwrap_or_default();
    tags.split(',')
        .map(|tag| tag.trim().trim_start_matches("W/"))
        .any(|tag| tag == "*" || tag == etag)
}

/// A time in the format of HTTP headers.
fn http_date(at: Timestamp) -> String {
    at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

#[cfg(test)]
#[path = "cards_tests.rs"]
mod tests;

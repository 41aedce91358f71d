//! Requests that another site makes a browser send. Only cookies are sent by themselves, so only they need this.

use http::header::ORIGIN;
use http::{HeaderName, Method, Request};

use crate::error::ApiError;

/// What a browser says about who made it send the request; no page can set it.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// A request that may change something must say where it comes from. An Origin that is there was found to be ours, or one
/// that config lists, when the host was checked.
pub(super) fn check<B>(request: &Request<B>) -> Result<(), ApiError> {
    let is_safe = [Method::GET, Method::HEAD, Method::OPTIONS].contains(request.method());
    let headers = request.headers();
    let mut sites = headers.get_all(SEC_FETCH_SITE).iter();
    let is_own_page = match (sites.next(), sites.next()) {
        (Some(site), None) => site == "same-origin" || site == "none",
        (None, _) | (Some(_), Some(_)) => false,
    };
    if is_safe || headers.contains_key(ORIGIN) || is_own_page { Ok(()) } else { Err(ApiError::forged()) }
}

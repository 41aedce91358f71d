//! Refuses requests that another site makes a browser send. Only cookies are sent automatically, so only they need this
//! check.

use http::header::ORIGIN;
use http::{HeaderName, Method, Request};

use crate::error::ApiError;

/// The browser's statement about the initiator of the request. Pages cannot set it.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// A request that may change something must state its origin. The host check already verified an existing Origin
/// header.
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

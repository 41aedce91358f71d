//! The headers that a caller may send: not those that are credentials, name another target, or belong to the connection.

use std::collections::BTreeMap;

use http::{HeaderMap, HeaderName, HeaderValue};
use openfang_types::limits::{WEB_BODY_MAX_BYTES, WEB_HEADER_MAX_BYTES, WEB_HEADERS};

use crate::tools::ToolFailure;

/// What a server may expect of every client.
const ACCEPTED: &str = "text/html,application/xhtml+xml,application/json,text/*;q=0.9,*/*;q=0.5";

const REFUSED: [&str; 17] = [
    "accept-encoding",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "cookie",
    "cookie2",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "via",
    "x-api-key",
];

/// The headers of a request.
pub(super) fn checked(asked: &BTreeMap<String, String>) -> Result<HeaderMap, ToolFailure> {
    if asked.len() > WEB_HEADERS {
        return Err(ToolFailure::new(format!("a request has at most {WEB_HEADERS} headers")));
    }
    let mut headers = HeaderMap::new();
    for (name, value) in asked {
        let name: HeaderName = name.trim().parse().map_err(|_| ToolFailure::new("a header has an invalid name"))?;
        if REFUSED.contains(&name.as_str()) || name.as_str().starts_with("proxy-") {
            return Err(ToolFailure::new(format!("the header {name} is not sent by this tool; leave it out")));
        }
        if value.len() > WEB_HEADER_MAX_BYTES {
            return Err(ToolFailure::new(format!("the header {name} is longer than {WEB_HEADER_MAX_BYTES} bytes")));
        }
        let why = |_| ToolFailure::new(format!("the header {name} has a value with line breaks or control characters"));
        let value = HeaderValue::from_str(value).map_err(why)?;
        headers.insert(name, value);
    }
    headers.entry(http::header::ACCEPT).or_insert(HeaderValue::from_static(ACCEPTED));
    Ok(headers)
}

/// Refuses a body that is too large.
pub(super) fn check_body(body: &str) -> Result<(), ToolFailure> {
    if body.len() > WEB_BODY_MAX_BYTES {
        return Err(ToolFailure::new(format!("the body is larger than {WEB_BODY_MAX_BYTES} bytes; send less")));
    }
    Ok(())
}

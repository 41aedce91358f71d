//! `A2A-Version`: which version a client says it speaks. Absent or empty means 0.3; patch numbers say nothing.

use http::HeaderMap;

use crate::dialect::Dialect;
use crate::error::A2aError;

const HEADER: &str = "a2a-version";

/// What a client says it speaks, if it says so.
pub(super) fn stated(headers: &HeaderMap, query: Option<&str>) -> Result<Option<Dialect>, A2aError> {
    let header = headers.get(HEADER).map(|value| value.to_str().unwrap_or("?").trim().to_owned());
    let stated = header.or_else(|| {
        let mut pairs = url::form_urlencoded::parse(query?.as_bytes());
        pairs
            .find(|(key, _)| key.eq_ignore_ascii_case(HEADER))
            .map(|(_, value)| value.into_owned())
    });
    let Some(stated) = stated.filter(|stated| !stated.is_empty()) else { return Ok(None) };
    let mut numbers = stated.split('.');
    match (numbers.next(), numbers.next()) {
        (Some("1"), None | Some("0")) => Ok(Some(Dialect::V10)),
        (Some("0"), Some("2" | "3")) => Ok(Some(Dialect::V03)),
        (Some("0"), Some("1")) => Ok(Some(Dialect::V01)),
        _ => Err(A2aError::VersionNotSupported(stated.chars().take(32).collect())),
    }
}

#[cfg(test)]
#[path = "version_tests.rs"]
mod tests;

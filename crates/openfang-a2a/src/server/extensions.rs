//! `A2A-Extensions`: what a client makes use of, held against what is required of it.

use http::HeaderMap;

use crate::error::A2aError;

/// Refuses a request that does not name every extension that is required.
pub(super) fn check(required: &[String], headers: &HeaderMap) -> Result<(), A2aError> {
    let named = |uri: &str| {
        let values = headers.get_all("a2a-extensions").iter().chain(headers.get_all("x-a2a-extensions"));
        let mut uris = values.filter_map(|value| value.to_str().ok()).flat_map(|text| text.split(','));
        uris.any(|one| one.trim() == uri)
    };
    match required.iter().find(|uri| !named(uri)) {
        Some(missing) => Err(A2aError::ExtensionRequired(missing.clone())),
        None => Ok(()),
    }
}

//! What is too large or packed is refused before a byte of it is read.

use http::Request;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};

use crate::error::ApiError;

/// Refuses a head of too many headers.
pub(super) fn check_headers<B>(request: &Request<B>, max_headers: usize) -> Result<(), ApiError> {
    if request.headers().len() > max_headers {
        return Err(ApiError::too_many_headers(max_headers));
    }
    Ok(())
}

/// Refuses a body that announces to be too large, or that would have to be unpacked.
pub(super) fn check<B>(request: &Request<B>, max_bytes: usize) -> Result<(), ApiError> {
    let packed = request.headers().get(CONTENT_ENCODING).is_some_and(|coding| coding != "identity");
    if packed {
        return Err(ApiError::unsupported("compressed bodies are not supported; send the body uncompressed"));
    }
    let announced = request
        .headers()
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    match announced {
        Some(bytes) if usize::try_from(bytes).map_or(true, |bytes| bytes > max_bytes) => {
            Err(ApiError::too_large(max_bytes))
        }
        Some(_) | None => Ok(()),
    }
}

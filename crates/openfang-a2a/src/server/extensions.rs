//! `A2A-Extensions`: what a caller makes use of, compared with what is required of it.

use crate::error::A2aError;

/// Refuses a request that does not name every extension that is required.
pub(super) fn check(required: &[String], named: &[String]) -> Result<(), A2aError> {
    match required.iter().find(|uri| !named.contains(uri)) {
        Some(missing) => Err(A2aError::ExtensionRequired(missing.clone())),
        None => Ok(()),
    }
}

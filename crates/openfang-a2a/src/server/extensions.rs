//! `A2A-Extensions`: the extensions a caller activates, compared with those that are required.

use crate::error::A2aError;

/// Refuses a request that does not name every required extension.
pub(super) fn check(required: &[String], named: &[String]) -> Result<(), A2aError> {
    match required.iter().find(|uri| !named.contains(uri)) {
        Some(missing) => Err(A2aError::ExtensionRequired(missing.clone())),
        None => Ok(()),
    }
}

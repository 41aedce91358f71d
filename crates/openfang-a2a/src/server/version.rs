//! `A2A-Version`: the version a caller states. Absent or empty means 0.3. The patch number is ignored.

use crate::dialect::Dialect;
use crate::error::A2aError;

/// The dialect of the stated version, if the caller states one.
pub(super) fn stated(version: Option<&str>) -> Result<Option<Dialect>, A2aError> {
    let Some(stated) = version.map(str::trim).filter(|stated| !stated.is_empty()) else { return Ok(None) };
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

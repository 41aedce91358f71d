//! What a push configuration must keep before it is stored: a url that strangers may name, and secrets that fit into a
//! header.

use std::net::IpAddr;

use openfang_a2a::operation::{PushAuthentication, PushNotificationConfig};
use openfang_egress::url::Guard;
use openfang_store::{PushAuthorization, PushConfig};
use openfang_types::limits::{A2A_PUSH_SECRET_MAX_BYTES, PEER_ID_MAX_BYTES, PUSH_SCHEME_MAX_BYTES};
use openfang_types::secret::Secret;
use openfang_types::task::Origin;
use uuid::Uuid;

use crate::KernelError;

/// A configuration that may be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckedPush {
    id: Option<String>,
    url: String,
    host: String,
    token: Option<Secret>,
    authorization: Option<PushAuthorization>,
    origin: Origin,
    maker: Option<String>,
}

/// What a configuration is called that is the only one of its task.
const ONLY_ONE: &str = "default";

impl CheckedPush {
    /// The configuration, made by this credential.
    pub(super) fn made_by(self, maker: Option<String>) -> Self {
        Self { maker, ..self }
    }

    /// The configuration with a name. Where a dialect knows one of them for each task, all that have none have the same, so
    /// that the next one takes its place.
    pub(crate) fn named(self, fresh: impl FnOnce() -> Uuid) -> PushConfig {
        let Self { id, url, host, token, authorization, origin, maker } = self;
        let id = id.unwrap_or_else(|| match origin {
            Origin::OpenFangA2a | Origin::V01 | Origin::V03 => ONLY_ONE.to_owned(),
            Origin::OpenFang | Origin::V10 => fresh().to_string(),
        });
        PushConfig { id, url, host, token, authorization, origin, maker }
    }
}

/// The configuration, if it may be kept. An empty text is as good as none: some dialects cannot say none.
pub(super) fn checked(push: PushNotificationConfig, origin: Origin, guard: &Guard) -> Result<CheckedPush, KernelError> {
    let PushNotificationConfig { id, url, token, authentication } = push;
    let target = guard.foreign(&url).map_err(|refused| invalid("url", format!("is refused: {refused}")))?;
    Ok(CheckedPush {
        id: checked_id(id.filter(|id| !id.is_empty()))?,
        host: known_as(target.origin().host()),
        url,
        token: secret("token", token)?,
        authorization: authentication.map(authorization).transpose()?.flatten(),
        origin,
        maker: None,
    })
}

fn checked_id(id: Option<String>) -> Result<Option<String>, KernelError> {
    match &id {
        Some(id) if id.len() > PEER_ID_MAX_BYTES => {
            Err(invalid("id", format!("is longer than {PEER_ID_MAX_BYTES} bytes")))
        }
        Some(id) if id.chars().any(char::is_control) => Err(invalid("id", "holds control characters")),
        Some(_) | None => Ok(id),
    }
}

fn authorization(given: PushAuthentication) -> Result<Option<PushAuthorization>, KernelError> {
    let PushAuthentication { scheme, credentials } = given;
    let credentials = secret("authentication.credentials", credentials)?;
    if scheme.is_empty() && credentials.is_none() {
        return Ok(None);
    }
    let is_token = !scheme.is_empty() && scheme.bytes().all(is_of_a_token);
    if !is_token || scheme.len() > PUSH_SCHEME_MAX_BYTES {
        return Err(invalid("authentication.scheme", "is no scheme; write one such as Bearer"));
    }
    Ok(Some(PushAuthorization { scheme, credentials }))
}

/// A text that is sent in a header: nothing that could end the header and begin another.
fn secret(field: &'static str, given: Option<Secret>) -> Result<Option<Secret>, KernelError> {
    let Some(given) = given.filter(|given| !given.expose().is_empty()) else { return Ok(None) };
    if given.expose().len() > A2A_PUSH_SECRET_MAX_BYTES {
        return Err(invalid(field, format!("is longer than {A2A_PUSH_SECRET_MAX_BYTES} bytes")));
    }
    if !given.expose().bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Err(invalid(field, "holds characters that no header may hold; use printable ASCII"));
    }
    Ok(Some(given))
}

const fn is_of_a_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~'
        )
}

/// One name for all spellings of a host, so that its pace is kept whatever it is called.
fn known_as(host: &str) -> String {
    let bare = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    bare.parse::<IpAddr>()
        .map_or_else(|_| bare.to_owned(), |address| address.to_canonical().to_string())
}

fn invalid(field: &'static str, why: impl Into<String>) -> KernelError {
    KernelError::InvalidPush { field, why: why.into() }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;

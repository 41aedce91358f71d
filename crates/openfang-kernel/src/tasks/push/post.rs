//! One delivery: a request to a stranger's url, and what the answer means.
//!
//! Beside the credentials of the configuration it carries `X-OpenFang-Event`, which names the event and is the same
//! whenever the event is sent again, and `X-OpenFang-Signature: t=..,kid=..,v1=..`: `v1` is the HMAC-SHA256 of the
//! moment `t`, a dot and the body. Its key is the token of the configuration (`kid=token`), which both sides know;
//! without one it is a key of this house (`kid` is its id), by which we know our own.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue, Method, StatusCode, header};
use openfang_egress::http::{Caps, HttpError, Pacer, Patience, Redirects, Request, Response, Retry};
use openfang_egress::url::UrlRefused;
use openfang_store::PushConfig;
use openfang_types::limits::{PUSH_ANSWER_MAX_BYTES, PUSH_RETRY_AFTER_MAX, PUSH_TIMEOUT};

use super::payload::Payload;
use crate::access::keys::{Purpose, sign_with};
use crate::tasks::Tasks;

const EVENT: HeaderName = HeaderName::from_static("x-openfang-event");
const SIGNATURE: HeaderName = HeaderName::from_static("x-openfang-signature");
const TOKEN: HeaderName = HeaderName::from_static("x-a2a-notification-token");

/// What became of a delivery.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The receiver has it.
    Delivered(String),
    /// It may go better later, and not before this long if the receiver says so.
    Failed { why: String, after: Option<Duration> },
    /// Nothing was sent: its address was told enough for now.
    TooFast(Duration),
    /// It will not go better later.
    Refused { why: String },
}

pub(super) async fn post(
    tasks: &Tasks,
    pace: Arc<dyn Pacer>,
    config: &PushConfig,
    event: &str,
    payload: Payload,
) -> Verdict {
    // Judged again: what may be reached can have changed since the configuration was made.
    match request(tasks, config, event, payload) {
        Ok(request) => judged(tasks.inner.settings().http().send(request.paced_by(pace)).await),
        Err(refused) => Verdict::Refused { why: refused.to_string() },
    }
}

fn request(tasks: &Tasks, config: &PushConfig, event: &str, payload: Payload) -> Result<Request, UrlRefused> {
    let url = tasks.inner.settings().http().guard().foreign(&config.url)?;
    let total = Some(PUSH_TIMEOUT);
    let mut request = Request::new(Method::POST, url)
        .patience(Patience { connect: PUSH_TIMEOUT, first_byte: PUSH_TIMEOUT, idle: PUSH_TIMEOUT, total })
        .caps(Caps { decoded_bytes: PUSH_ANSWER_MAX_BYTES, ..Caps::default() })
        .retry(Retry::Never)
        .redirects(Redirects::Unchanged);
    let secrets = [
        (SIGNATURE, Some(signature(tasks, config, &payload.body))),
        (TOKEN, config.token.as_ref().map(|token| token.expose().to_owned())),
        (header::AUTHORIZATION, authorization(config)),
    ];
    for (name, value) in secrets {
        // Checked when the configuration was made: what is no header value never came here.
        if let Some(Ok(value)) = value.map(HeaderValue::try_from) {
            request = request.secret_header(name, value);
        }
    }
    if let Ok(event) = HeaderValue::from_str(event) {
        request = request.header(EVENT, event);
    }
    Ok(request.body(HeaderValue::from_static(payload.media_type), payload.body))
}

fn authorization(config: &PushConfig) -> Option<String> {
    let held = config.authorization.as_ref()?;
    Some(format!("{} {}", held.scheme, held.credentials.as_ref()?.expose()))
}

fn signature(tasks: &Tasks, config: &PushConfig, body: &[u8]) -> String {
    let at = tasks.inner.clock.now().as_second().to_string();
    let message: [&[u8]; 3] = [at.as_bytes(), b".", body];
    let (kid, signed) = match &config.token {
        Some(token) => ("token".to_owned(), sign_with(token.expose().as_bytes(), &message)),
        None => (tasks.inner.access.keys().id(), tasks.inner.access.keys().sign(Purpose::PushSignature, &message)),
    };
    format!("t={at},kid={kid},v1={signed}")
}

fn judged(answer: Result<Response, HttpError>) -> Verdict {
    match answer {
        Ok(response) => judged_status(response.status, response.headers.get(header::RETRY_AFTER)),
        Err(HttpError::TooFast { retry_after, .. }) => Verdict::TooFast(retry_after),
        Err(error) if is_final(&error) => Verdict::Refused { why: error.to_string() },
        Err(error) => Verdict::Failed { why: error.to_string(), after: None },
    }
}

fn judged_status(status: StatusCode, retry_after: Option<&HeaderValue>) -> Verdict {
    let why = format!("the receiver answered {}", status.as_u16());
    let may_pass = matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS);
    if status.is_success() {
        return Verdict::Delivered(format!("delivered: {why}"));
    }
    if status.is_server_error() || may_pass {
        return Verdict::Failed { why, after: asked_for(retry_after) };
    }
    Verdict::Refused { why }
}

/// A date would need the receiver's clock.
fn asked_for(retry_after: Option<&HeaderValue>) -> Option<Duration> {
    let seconds = retry_after?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(PUSH_RETRY_AFTER_MAX))
}

/// Whether the url itself, or where it leads, is what is wrong.
const fn is_final(error: &HttpError) -> bool {
    match error {
        HttpError::Refused(_)
        | HttpError::RedirectRefused { .. }
        | HttpError::TooManyRedirects { .. }
        | HttpError::Downgrade { .. }
        | HttpError::BodyAcrossOrigins { .. }
        | HttpError::ReservedHeader { .. }
        | HttpError::Method { .. } => true,
        HttpError::Unresolvable { .. }
        | HttpError::Unreachable { .. }
        | HttpError::ConnectTimeout { .. }
        | HttpError::Tls { .. }
        | HttpError::FirstByte { .. }
        | HttpError::Stalled { .. }
        | HttpError::TookTooLong { .. }
        | HttpError::TooLarge { .. }
        | HttpError::Bomb { .. }
        | HttpError::UnsupportedEncoding { .. }
        | HttpError::Corrupt { .. }
        | HttpError::Interrupted { .. }
        | HttpError::BadResponse { .. }
        | HttpError::CircuitOpen { .. }
        | HttpError::TooFast { .. }
        | HttpError::Events { .. }
        | HttpError::Setup { .. } => false,
    }
}

#[cfg(test)]
#[path = "post_tests.rs"]
mod tests;

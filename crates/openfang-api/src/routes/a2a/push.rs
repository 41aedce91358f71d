//! Pushes of agents of other servers: `POST {listen_path}/push/{id}`. The secret is checked before the body is read, and the
//! body is thrown away: a push says that something changed, and what changed is asked of the agent.

use std::time::Duration;

use axum::response::{IntoResponse as _, Response};
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderName, StatusCode};
use openfang_kernel::{AuthError, PushProof, PushRefusal};
use openfang_types::limits::EXTERNAL_PUSH_BODY_BYTES;

use crate::error::ApiError;
use crate::extract::{RequestBody, whole_within};
use crate::layers::{Front, Reach};

const TOKEN: HeaderName = HeaderName::from_static("x-a2a-notification-token");
const SIGNATURE: HeaderName = HeaderName::from_static("x-openfang-signature");
/// After too many pushes in a second, the next one is taken in the next second.
const RETRY: Duration = Duration::from_secs(1);

/// Answers a push: 204 if somebody waits for it.
pub(super) async fn answer(
    (front, reach): (&Front, &Reach),
    id: &str,
    (head, body): (Parts, impl RequestBody),
) -> Response {
    let text = |name: &HeaderName| head.headers.get(name).and_then(|value| value.to_str().ok());
    let proof = PushProof { token: text(&TOKEN), authorization: text(&AUTHORIZATION), signature: text(&SIGNATURE) };
    let refused = |refusal| match refusal {
        PushRefusal::Unknown => ApiError::no_such_agent(reach.listen_path()),
        PushRefusal::WrongSecret => ApiError::unauthorized(AuthError::Invalid),
        PushRefusal::TooMany => ApiError::too_many(RETRY),
    };
    if let Err(refusal) = front.kernel.check_push(id, proof) {
        return refused(refusal).into_response();
    }
    let body = match whole_within(body, &head, &reach.config().limits, EXTERNAL_PUSH_BODY_BYTES).await {
        Ok(body) => body,
        Err(error) => return error.into_response(),
    };
    match front.kernel.take_push(id, proof, &body) {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(refusal) => refused(refusal).into_response(),
    }
}

//! `GET /health`: whether the server is there, and, to who asks with a challenge, that it is the one of `daemon.json`.

use axum::Json;
use axum::extract::State;
use openfang_kernel::Kernel;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::extract::Asked;

/// Longer ones are not challenges.
const CHALLENGE_MAX_CHARS: usize = 128;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    challenge: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Health {
    status: &'static str,
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<String>,
}

pub(super) async fn show(State(kernel): State<Kernel>, Asked(query): Asked<Query>) -> Result<Json<Health>, ApiError> {
    let proof = match query.challenge {
        Some(challenge) if challenge.chars().count() > CHALLENGE_MAX_CHARS => {
            return Err(ApiError::bad_request("a challenge has at most 128 characters"));
        }
        Some(challenge) => Some(kernel.prove(&challenge)),
        None => None,
    };
    Ok(Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION"), proof }))
}

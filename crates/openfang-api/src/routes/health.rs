//! `GET /health`: whether the server is there, and, to who asks with a challenge, that it is the one of `daemon.json`.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use openfang_kernel::{DatabaseCheck, Kernel};
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::extract::Asked;

/// Longer ones are not challenges.
const CHALLENGE_MAX_CHARS: usize = 128;

/// Unknown keys are left alone here: checkers add their own.
#[derive(Deserialize)]
pub(super) struct Query {
    challenge: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Health {
    status: &'static str,
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<String>,
    /// How the check of the whole database stands, where a process ended uncleanly or a read failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<String>,
}

/// 200 while all is well, 503 while nothing can be stored, or what is stored cannot be read.
pub(super) async fn show(
    State(kernel): State<Kernel>,
    Asked(query): Asked<Query>,
) -> Result<(StatusCode, Json<Health>), ApiError> {
    let proof = match query.challenge {
        Some(challenge) if challenge.chars().count() > CHALLENGE_MAX_CHARS => {
            return Err(ApiError::bad_request("a challenge has at most 128 characters"));
        }
        Some(challenge) => Some(kernel.prove(&challenge)),
        None => None,
    };
    let store = kernel.store_failure();
    let (code, status) =
        if store.is_some() { (StatusCode::SERVICE_UNAVAILABLE, "failing") } else { (StatusCode::OK, "ok") };
    let check = kernel.database_check().map(|check| match check {
        DatabaseCheck::Running => "running",
        DatabaseCheck::Passed => "ok",
        DatabaseCheck::Failed(_) => "not done",
        DatabaseCheck::Damaged(_) => "damaged",
    });
    Ok((code, Json(Health { status, version: env!("CARGO_PKG_VERSION"), store, check, proof })))
}

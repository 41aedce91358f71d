//! `GET /health`: whether the server is up. With a challenge it also proves that it is the server of `daemon.json`.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use openfang_kernel::{DatabaseCheck, Kernel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::extract::QueryParams;

/// Longer ones are not challenges.
const CHALLENGE_MAX_CHARS: usize = 128;

/// Unknown keys are ignored here: health checkers add their own.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Query {
    challenge: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Health {
    status: &'static str,
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<String>,
    /// The state of the database check after an unclean exit or a failed read.
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<String>,
}

/// 200 while everything works, 503 while the store cannot be written or read.
pub(super) async fn show(
    State(kernel): State<Kernel>,
    QueryParams(query): QueryParams<Query>,
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

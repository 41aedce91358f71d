//! `GET /api/policy/{agent}/{tool}` explains what the agent may do with the tool; `POST /api/policy` compares verdicts with expected
//! ones.

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use openfang_kernel::{Explanation, Kernel};
use openfang_types::api::{PolicyCases, PolicyReport};

use crate::error::ApiError;
use crate::extract::{CallerOrUser, JsonBody, RequestCaller, parse};

pub(super) async fn explain(
    State(kernel): State<Kernel>,
    CallerOrUser(caller): CallerOrUser,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Json<Explanation>, ApiError> {
    let Path((agent, tool)) = path.map_err(|_| ApiError::unread_path())?;
    Ok(Json(kernel.explain(&caller, &parse(&agent)?, &parse(&tool)?)?))
}

pub(super) async fn test(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    JsonBody(cases): JsonBody<PolicyCases>,
) -> Result<Json<PolicyReport>, ApiError> {
    Ok(Json(kernel.judge_cases(&caller, &cases)?))
}

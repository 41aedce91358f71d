//! `GET /api/policy/{agent}/{tool}`: explains what the agent may do with the tool.

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use openfang_kernel::{Explanation, Kernel};

use crate::error::ApiError;
use crate::extract::{CallerOrUser, parse};

pub(super) async fn explain(
    State(kernel): State<Kernel>,
    CallerOrUser(caller): CallerOrUser,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Json<Explanation>, ApiError> {
    let Path((agent, tool)) = path.map_err(|_| ApiError::unread_path())?;
    Ok(Json(kernel.explain(&caller, &parse(&agent)?, &parse(&tool)?)?))
}

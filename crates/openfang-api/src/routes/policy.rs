//! `GET /api/policy/{agent}/{tool}`: what the agent may do with the tool, and why.

use axum::Json;
use axum::extract::{Path, State};
use openfang_kernel::{Explanation, Kernel};

use crate::error::ApiError;
use crate::extract::{Who, parse};

pub(super) async fn explain(
    State(kernel): State<Kernel>,
    Who(caller): Who,
    Path((agent, tool)): Path<(String, String)>,
) -> Result<Json<Explanation>, ApiError> {
    Ok(Json(kernel.explain(&caller, &parse(&agent)?, &parse(&tool)?)?))
}

//! `/api/approvals`: calls that wait for a person. Who may decide is the kernel's business.

use axum::Json;
use axum::extract::State;
use openfang_kernel::Kernel;
use openfang_types::api::{ApprovalDecision, ApprovalList, ApprovalView};
use openfang_types::ids::ApprovalId;

use crate::error::ApiError;
use crate::extract::{JsonBody, PathParam, RequestCaller};

pub(super) async fn list(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
) -> Result<Json<ApprovalList>, ApiError> {
    Ok(Json(ApprovalList { approvals: kernel.approvals(&caller).await? }))
}

pub(super) async fn show(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(id): PathParam<ApprovalId>,
) -> Result<Json<ApprovalView>, ApiError> {
    Ok(Json(kernel.approval(&caller, id).await?))
}

pub(super) async fn decide(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(id): PathParam<ApprovalId>,
    JsonBody(ApprovalDecision { decision, digest }): JsonBody<ApprovalDecision>,
) -> Result<Json<ApprovalView>, ApiError> {
    Ok(Json(kernel.decide_approval(&caller, id, (decision, &digest)).await?))
}

//! `/api/schedules`: what a person does with a schedule. Creating, listing and deleting are tools.

use axum::Json;
use axum::extract::State;
use openfang_kernel::Kernel;
use openfang_types::api::{ScheduleChange, ScheduleStatus};
use openfang_types::ids::ScheduleId;

use crate::error::ApiError;
use crate::extract::{JsonBody, PathParam, RequestCaller};

pub(super) async fn change(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(id): PathParam<ScheduleId>,
    JsonBody(ScheduleChange { action }): JsonBody<ScheduleChange>,
) -> Result<Json<ScheduleStatus>, ApiError> {
    Ok(Json(kernel.change_schedule(&caller, id, action).await?))
}

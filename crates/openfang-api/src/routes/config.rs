//! `/api/config`: compares the files of the home with the current configuration, and reloads them.

use axum::Json;
use axum::extract::State;
use openfang_kernel::Kernel;
use openfang_types::settings_status::{ReloadReport, SettingsStatus};

use crate::error::ApiError;
use crate::extract::RequestCaller;

pub(super) async fn status(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
) -> Result<Json<SettingsStatus>, ApiError> {
    Ok(Json(kernel.settings_status(&caller)?))
}

pub(super) async fn reload(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
) -> Result<Json<ReloadReport>, ApiError> {
    Ok(Json(kernel.reload(&caller).await?))
}

//! `/api/config`: how the files of the home stand to what is in force, and taking them over.

use axum::Json;
use axum::extract::State;
use openfang_kernel::Kernel;
use openfang_types::settings_status::{ReloadReport, SettingsStatus};

use crate::error::ApiError;
use crate::extract::Who;

pub(super) async fn status(State(kernel): State<Kernel>, Who(caller): Who) -> Result<Json<SettingsStatus>, ApiError> {
    Ok(Json(kernel.settings_status(&caller)?))
}

pub(super) async fn reload(State(kernel): State<Kernel>, Who(caller): Who) -> Result<Json<ReloadReport>, ApiError> {
    Ok(Json(kernel.reload(&caller).await?))
}

//! `/api/secrets`: the stored secrets, without their values. For the operator of this machine only, which the kernel enforces.

use axum::Json;
use axum::extract::State;
use openfang_kernel::Kernel;
use openfang_kernel::vault::{SecretUser, SecretView};
use openfang_types::ids::SecretName;
use openfang_types::secret::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::extract::{JsonBody, PathParam, RequestCaller};

#[derive(Serialize, JsonSchema)]
pub(super) struct Secrets {
    secrets: Vec<SecretView>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SetBody {
    name: SecretName,
    value: Secret,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AllowBody {
    user: SecretUser,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Removed {
    removed: SecretName,
}

pub(super) async fn list(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
) -> Result<Json<Secrets>, ApiError> {
    Ok(Json(Secrets { secrets: kernel.secrets(&caller).await? }))
}

pub(super) async fn set(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    JsonBody(SetBody { name, value }): JsonBody<SetBody>,
) -> Result<Json<SecretView>, ApiError> {
    Ok(Json(kernel.set_secret(&caller, &name, value).await?))
}

pub(super) async fn remove(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<SecretName>,
) -> Result<Json<Removed>, ApiError> {
    kernel.remove_secret(&caller, &name).await?;
    Ok(Json(Removed { removed: name }))
}

pub(super) async fn allow(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<SecretName>,
    JsonBody(body): JsonBody<AllowBody>,
) -> Result<Json<SecretView>, ApiError> {
    Ok(Json(kernel.allow_secret(&caller, &name, body.user).await?))
}

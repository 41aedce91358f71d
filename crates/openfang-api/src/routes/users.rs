//! `/api/users`: users and their grants. For the admin only, which the kernel enforces.

use axum::Json;
use axum::extract::State;
use openfang_kernel::GrantMeaning;
use openfang_kernel::Kernel;
use openfang_kernel::users::{GrantsChange, UserView, UserWanted};
use openfang_types::api::{Removal, UserList};
use openfang_types::ids::Owner;
use openfang_types::secret::Secret;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::ApiError;
use crate::extract::{JsonBody, PathParam, QueryParams, RequestCaller};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddBody {
    name: Owner,
    #[serde(default)]
    grants: Vec<String>,
    password: Option<Secret>,
    #[serde(default)]
    again: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GrantsBody {
    /// These grants, and no others.
    grants: Option<Vec<String>>,
    /// Grants that are added to those of the user.
    #[serde(default)]
    add: Vec<String>,
    /// Grants to remove, as they are written.
    #[serde(default)]
    remove: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PasswordBody {
    password: Option<Secret>,
}

pub(super) async fn list(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
) -> Result<Json<UserList<UserView>>, ApiError> {
    Ok(Json(UserList { users: kernel.users(&caller).await? }))
}

pub(super) async fn add(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    JsonBody(body): JsonBody<AddBody>,
) -> Result<Json<UserView>, ApiError> {
    let AddBody { name, grants, password, again } = body;
    Ok(Json(kernel.add_user(&caller, UserWanted { name, grants, password, again }).await?))
}

pub(super) async fn remove(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<Owner>,
) -> Result<Json<Removal<Owner>>, ApiError> {
    kernel.remove_user(&caller, &name).await?;
    Ok(Json(Removal { removed: name }))
}

pub(super) async fn set_grants(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<Owner>,
    JsonBody(body): JsonBody<GrantsBody>,
) -> Result<Json<UserView>, ApiError> {
    let GrantsBody { grants, add, remove } = body;
    let change = match grants {
        Some(grants) if add.is_empty() && remove.is_empty() => GrantsChange::Set(grants),
        None if !(add.is_empty() && remove.is_empty()) => GrantsChange::Adjust { add, remove },
        Some(_) | None => return Err(ApiError::bad_request("send either `grants`, or `add` and `remove`")),
    };
    Ok(Json(kernel.change_user_grants(&caller, &name, change).await?))
}

pub(super) async fn set_password(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(name): PathParam<Owner>,
    JsonBody(body): JsonBody<PasswordBody>,
) -> Result<Json<UserView>, ApiError> {
    Ok(Json(kernel.set_user_password(&caller, &name, body.password).await?))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GrantQuery {
    grant: String,
}

pub(super) async fn explain_grant(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    QueryParams(query): QueryParams<GrantQuery>,
) -> Result<Json<GrantMeaning>, ApiError> {
    Ok(Json(kernel.grant_meaning(&caller, &query.grant)?))
}

//! `/api/keys`: the keys of users. The secret is shown only once, when the key is created.

use axum::Json;
use axum::extract::State;
use http::header::CACHE_CONTROL;
use http::{HeaderName, HeaderValue};
use jiff::Timestamp;
use openfang_kernel::Kernel;
use openfang_kernel::users::{KeyView, KeyWanted, MadeKey};
use openfang_types::api::KeyList;
use openfang_types::ids::{KeyId, Owner, ProfileName};
use openfang_types::taint::Label;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::ApiError;
use crate::extract::{JsonBody, PathParam, QueryParams, RequestCaller};

const NOT_STORED: (HeaderName, HeaderValue) = (CACHE_CONTROL, HeaderValue::from_static("no-store"));

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    user: Option<Owner>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct CreateBody {
    user: Owner,
    #[serde(default)]
    label: String,
    entry_label: Option<Label>,
    profile: Option<ProfileName>,
    expires_at: Option<Timestamp>,
}

pub(super) async fn list(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    QueryParams(query): QueryParams<ListQuery>,
) -> Result<Json<KeyList<KeyView>>, ApiError> {
    Ok(Json(KeyList { keys: kernel.user_keys(&caller, query.user.as_ref()).await? }))
}

pub(super) async fn create(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    JsonBody(body): JsonBody<CreateBody>,
) -> Result<([(HeaderName, HeaderValue); 1], Json<MadeKey>), ApiError> {
    let CreateBody { user, label, entry_label, profile, expires_at } = body;
    let wanted = KeyWanted { user, label, entry_label, profile, expires_at };
    let made = kernel.create_user_key(&caller, wanted).await?;
    Ok(([NOT_STORED], Json(made)))
}

pub(super) async fn revoke(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    PathParam(id): PathParam<KeyId>,
) -> Result<Json<KeyView>, ApiError> {
    Ok(Json(kernel.revoke_user_key(&caller, &id).await?))
}

//! `/api/models` and `/api/usage`: the providers of models, and what models were used for. Keys are never part of an answer.

use axum::Json;
use axum::extract::State;
use openfang_kernel::{Kernel, UsageWanted};
use openfang_types::api::{ModelList, ModelTest, ModelView, UsageBy, UsageView};
use openfang_types::limits::{USAGE_DAYS, USAGE_SHOWN_DAYS};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::ApiError;
use crate::extract::{JsonBody, QueryParams, RequestCaller};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ShowQuery {
    model: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TestBody {
    model: Option<String>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct UsageParams {
    by: UsageBy,
    days: Option<DayCount>,
    all: bool,
}

/// How many days back.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "String")]
struct DayCount(u32);

impl TryFrom<String> for DayCount {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let days = text.parse().ok().filter(|days| (1..=USAGE_DAYS).contains(&u64::from(*days)));
        days.map(Self).ok_or_else(|| format!("must be a whole number from 1 to {USAGE_DAYS}"))
    }
}

pub(super) async fn list(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
) -> Result<Json<ModelList>, ApiError> {
    Ok(Json(kernel.models(&caller).await?))
}

pub(super) async fn show(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    QueryParams(query): QueryParams<ShowQuery>,
) -> Result<Json<ModelView>, ApiError> {
    Ok(Json(kernel.model(&caller, &query.model).await?))
}

pub(super) async fn test(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    JsonBody(body): JsonBody<TestBody>,
) -> Result<Json<ModelTest>, ApiError> {
    Ok(Json(kernel.test_model(&caller, body.model.as_deref()).await?))
}

pub(super) async fn usage(
    State(kernel): State<Kernel>,
    RequestCaller(caller): RequestCaller,
    QueryParams(query): QueryParams<UsageParams>,
) -> Result<Json<UsageView>, ApiError> {
    let days = query.days.map_or(USAGE_SHOWN_DAYS, |DayCount(days)| days);
    let wanted = UsageWanted { by: query.by, days, is_of_all: query.all };
    Ok(Json(kernel.usage(&caller, wanted).await?))
}

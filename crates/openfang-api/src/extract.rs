//! The inputs of handlers: a caller, parsed ids, a body that passed the strict scan. Invalid input never reaches a
//! handler.

use std::borrow::Cow;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::pin;
use std::str::FromStr;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::BoxError;
use axum::body::HttpBody;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use openfang_kernel::{Caller, Kernel};
use openfang_types::ids::Owner;
use openfang_types::limits::{INFLIGHT_SMALL_BYTES, Limits, STRANGERS_BODY_BYTES};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::error::ApiError;
use crate::layers::Load;

use gathered::Gathered;

mod gathered;
mod query;

/// The body of a request, from the socket or the router.
pub(crate) trait RequestBody: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + 'static {}

impl<B> RequestBody for B where B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + 'static {}

/// The caller that the auth layer admitted.
pub(crate) struct RequestCaller(pub(crate) Caller);

impl FromRequestParts<Kernel> for RequestCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Kernel) -> Result<Self, ApiError> {
        // Only a route that is wrongly marked public has no caller.
        parts.extensions.get::<Caller>().cloned().map(Self).ok_or_else(ApiError::broken)
    }
}

/// The user in whose place the operator asks.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserQuery {
    /// Asks in the place of this user; for the admin only.
    pub(crate) user: Option<Owner>,
}

/// The caller, or the user in whose place the operator asks: the query `user`.
pub(crate) struct CallerOrUser(pub(crate) Caller);

impl FromRequestParts<Kernel> for CallerOrUser {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, kernel: &Kernel) -> Result<Self, ApiError> {
        let RequestCaller(caller) = RequestCaller::from_request_parts(parts, kernel).await?;
        let QueryParams(query) = QueryParams::<UserQuery>::from_request_parts(parts, kernel).await?;
        Ok(Self(kernel.in_place_of(caller, query.user.as_ref()).await?))
    }
}

/// The single path parameter, parsed.
pub(crate) struct PathParam<T>(pub(crate) T);

impl<T: FromStr<Err: std::fmt::Display>> FromRequestParts<Kernel> for PathParam<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, kernel: &Kernel) -> Result<Self, ApiError> {
        let Path(text) = Path::<String>::from_request_parts(parts, kernel)
            .await
            .map_err(|_| ApiError::unread_path())?;
        parse(&text).map(Self)
    }
}

/// Parses a text of the request.
pub(crate) fn parse<T: FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, ApiError> {
    text.parse().map_err(|error| ApiError::bad_request(format!("{error}")))
}

/// The query string. An unknown key is an error.
pub(crate) struct QueryParams<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<Kernel> for QueryParams<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, kernel: &Kernel) -> Result<Self, ApiError> {
        let unread = |_| ApiError::bad_request("invalid query string");
        let Query(pairs) = Query::<Vec<(String, String)>>::from_request_parts(parts, kernel).await.map_err(unread)?;
        query::read(pairs).map(Self).map_err(|error| ApiError::bad_request(error.to_string()))
    }
}

pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Kernel> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, kernel: &Kernel) -> Result<Self, ApiError> {
        let limits = &kernel.config().limits;
        json(request, limits, limits.body_bytes).await.map(Self)
    }
}

/// The JSON of a `T` that may hold secrets. Its handler reads it, and writes errors that do not quote it.
pub(crate) struct UnreadBody<T> {
    value: Value,
    shape: PhantomData<fn() -> T>,
}

impl<T> UnreadBody<T> {
    pub(crate) fn into_value(self) -> Value {
        self.value
    }
}

impl<'de, T> Deserialize<'de> for UnreadBody<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self { value: Value::deserialize(from)?, shape: PhantomData })
    }
}

impl<T: JsonSchema> JsonSchema for UnreadBody<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<T>()
    }
}

/// A JSON body from an unauthenticated client, with a small size limit.
pub(crate) struct AnonymousJson<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Kernel> for AnonymousJson<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, kernel: &Kernel) -> Result<Self, ApiError> {
        json(request, &kernel.config().limits, STRANGERS_BODY_BYTES).await.map(Self)
    }
}

async fn json<T: DeserializeOwned>(request: Request, limits: &Limits, max_bytes: usize) -> Result<T, ApiError> {
    // An HTML form cannot send this content type, so another site cannot make a browser send it without a preflight.
    if !is_json(&request) {
        return Err(ApiError::unsupported("send the header `Content-Type: application/json`"));
    }
    let load = request.extensions().get().cloned();
    let bytes = at_most(request.into_body(), load, limits, max_bytes).await?;
    openfang_types::scan::scan(&bytes)
        .map_err(|error| ApiError::bad_request(format!("the body is not JSON: {error}")))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| ApiError::bad_request(format!("the body has an invalid member: {error}")))
}

/// The whole body, within the configured size and time.
pub(crate) async fn whole(body: impl RequestBody, head: &Parts, limits: &Limits) -> Result<Bytes, ApiError> {
    at_most(body, head.extensions.get().cloned(), limits, limits.body_bytes).await
}

/// The same, within another size.
pub(crate) async fn whole_within(
    body: impl RequestBody,
    head: &Parts,
    limits: &Limits,
    max_bytes: usize,
) -> Result<Bytes, ApiError> {
    at_most(body, head.extensions.get().cloned(), limits, max_bytes).await
}

async fn at_most(
    body: impl RequestBody,
    load: Option<Arc<Load>>,
    limits: &Limits,
    max_bytes: usize,
) -> Result<Bytes, ApiError> {
    let mut bytes = pin!(read(body, load, max_bytes));
    // A body that arrived together with its head needs no timer.
    if let Poll::Ready(bytes) = poll_fn(|task| Poll::Ready(bytes.as_mut().poll(task))).await {
        return bytes;
    }
    let time = Duration::from_secs(limits.body_read_secs);
    tokio::time::timeout(time, bytes).await.map_err(|_| ApiError::slow_body())?
}

async fn read(body: impl RequestBody, load: Option<Arc<Load>>, max_bytes: usize) -> Result<Bytes, ApiError> {
    let declared = body
        .size_hint()
        .exact()
        .and_then(|length| usize::try_from(length).ok())
        .unwrap_or(0)
        .min(max_bytes);
    let mut body = pin!(Limited::new(body, max_bytes));
    let mut read = Gathered::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            let is_large = error.is::<LengthLimitError>();
            if is_large { ApiError::too_large(max_bytes) } else { ApiError::bad_request("the body ended early") }
        })?;
        // Trailers are ignored.
        if let Ok(data) = frame.into_data() {
            read.add(data, declared).map_err(|_| ApiError::too_much())?;
        }
        load.as_ref().map_or(Ok(()), |load| load.read(read.len()))?;
    }
    let read = read.into_bytes();
    if let Some(load) = load.filter(|_| read.len() >= INFLIGHT_SMALL_BYTES) {
        load.read_whole(&read).await?;
        // The body counts until everybody has dropped it, even if the client has disconnected.
        return Ok(Bytes::from_owner(LoadedBody { bytes: read, _load: load }));
    }
    Ok(read)
}

/// A body together with its load.
struct LoadedBody {
    bytes: Bytes,
    _load: Arc<Load>,
}

impl AsRef<[u8]> for LoadedBody {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

fn is_json(request: &Request) -> bool {
    let content_type = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = content_type.and_then(|value| value.split(';').next()).unwrap_or_default().trim();
    media_type.eq_ignore_ascii_case("application/json")
}

//! What the signature of a handler says about its route: the query and the body that it reads, and what it answers.

use std::future::Future;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Extension, Path, RawQuery, Request, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use openfang_kernel::Kernel;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::error::ApiError;
use crate::extract::{AnonymousJson, CallerOrUser, JsonBody, PathParam, QueryParams, RequestCaller, UserQuery};

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// The schemas of all routes.
pub(crate) struct Schemas {
    /// Schemas of answers, which are collected as components.
    pub(super) answers: SchemaGenerator,
    /// Schemas of requests, which are written where they are used.
    pub(super) requests: SchemaGenerator,
}

/// What is known of one operation.
#[derive(Default)]
pub(crate) struct Description {
    pub(super) parameters: Vec<Value>,
    pub(super) body: Option<Value>,
    /// The content of an answer by its media type, for each status.
    pub(super) answers: Map<String, Value>,
}

impl AnyJson {
    /// A JSON body, and a JSON answer.
    pub(crate) fn exchange(schemas: &mut Schemas, description: &mut Description) {
        description.body = Some(json!({ "required": true, "content": { JSON: {} } }));
        Self::describe(schemas, description);
    }
}

/// A function that adds to the description of an operation.
pub(crate) type Describe = fn(&mut Schemas, &mut Description);

/// A handler whose signature describes its route. `Arguments` is a tuple, one type for each argument.
pub(crate) trait Documented<Arguments> {
    fn describe(schemas: &mut Schemas, description: &mut Description);
}

macro_rules! documented {
    ($($argument:ident)*) => {
        impl<Handler, Answering, Answer, $($argument,)*> Documented<($($argument,)*)> for Handler
        where
            Handler: Fn($($argument),*) -> Answering,
            Answering: Future<Output = Answer>,
            Answer: DescribeAnswer,
            $($argument: DescribeArgument,)*
        {
            fn describe(schemas: &mut Schemas, description: &mut Description) {
                $($argument::describe(schemas, description);)*
                Answer::describe(schemas, description);
            }
        }
    };
}

documented!();
documented!(A1);
documented!(A1 A2);
documented!(A1 A2 A3);
documented!(A1 A2 A3 A4);
documented!(A1 A2 A3 A4 A5);

/// An argument of a handler.
pub(crate) trait DescribeArgument {
    fn describe(schemas: &mut Schemas, description: &mut Description);
}

/// Arguments that a client does not write, or writes in the path.
macro_rules! silent {
    ($($argument:ty),*) => {$(
        impl DescribeArgument for $argument {
            fn describe(_: &mut Schemas, _: &mut Description) {}
        }
    )*};
    (of $($argument:ident),*) => {$(
        impl<T> DescribeArgument for $argument<T> {
            fn describe(_: &mut Schemas, _: &mut Description) {}
        }
    )*};
}

silent!(State<Kernel>, RequestCaller, HeaderMap, RawQuery, Request);
silent!(of Extension, PathParam);

impl<T> DescribeArgument for Result<Path<T>, PathRejection> {
    fn describe(_: &mut Schemas, _: &mut Description) {}
}

impl<T: JsonSchema> DescribeArgument for QueryParams<T> {
    fn describe(schemas: &mut Schemas, description: &mut Description) {
        let schema = schemas.requests.subschema_for::<T>();
        let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        let members = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        description.parameters.extend(members.into_iter().map(|(name, mut schema)| {
            let about = schema.as_object_mut().and_then(|schema| schema.remove("description"));
            let mut parameter =
                json!({ "name": name, "in": "query", "required": required.contains(&json!(name)), "schema": schema });
            if let Some(about) = about {
                parameter["description"] = about;
            }
            parameter
        }));
    }
}

impl DescribeArgument for CallerOrUser {
    fn describe(schemas: &mut Schemas, description: &mut Description) {
        QueryParams::<UserQuery>::describe(schemas, description);
    }
}

impl<T: JsonSchema> DescribeArgument for JsonBody<T> {
    fn describe(schemas: &mut Schemas, description: &mut Description) {
        let schema = schemas.requests.subschema_for::<T>();
        description.body = Some(json!({ "required": true, "content": content(JSON, &schema) }));
    }
}

impl<T: JsonSchema> DescribeArgument for AnonymousJson<T> {
    fn describe(schemas: &mut Schemas, description: &mut Description) {
        JsonBody::<T>::describe(schemas, description);
    }
}

/// What a handler answers.
pub(crate) trait DescribeAnswer {
    fn describe(schemas: &mut Schemas, description: &mut Description);
}

impl<T: JsonSchema> DescribeAnswer for Json<T> {
    fn describe(schemas: &mut Schemas, description: &mut Description) {
        let schema = schemas.answers.subschema_for::<T>();
        description.answer(StatusCode::OK, "the answer", content(JSON, &schema));
    }
}

impl<T: DescribeAnswer> DescribeAnswer for Result<T, ApiError> {
    fn describe(schemas: &mut Schemas, description: &mut Description) {
        T::describe(schemas, description);
    }
}

impl<T: DescribeAnswer> DescribeAnswer for ([(HeaderName, HeaderValue); 1], T) {
    fn describe(schemas: &mut Schemas, description: &mut Description) {
        T::describe(schemas, description);
    }
}

/// A state of the server: with 503 it is a bad one.
impl<T: JsonSchema> DescribeAnswer for (StatusCode, Json<T>) {
    fn describe(schemas: &mut Schemas, description: &mut Description) {
        let schema = schemas.answers.subschema_for::<T>();
        description.answer(StatusCode::OK, "the answer", content(JSON, &schema));
        description.answer(StatusCode::SERVICE_UNAVAILABLE, "the server does not work", content(JSON, &schema));
    }
}

/// A response that its handler puts together, of what `Shape` describes.
pub(crate) struct Shaped<Shape> {
    response: Response,
    shape: std::marker::PhantomData<fn() -> Shape>,
}

impl<Shape> From<Response> for Shaped<Shape> {
    fn from(response: Response) -> Self {
        Self { response, shape: std::marker::PhantomData }
    }
}

impl<Shape> IntoResponse for Shaped<Shape> {
    fn into_response(self) -> Response {
        self.response
    }
}

impl<Shape: DescribeAnswer> DescribeAnswer for Shaped<Shape> {
    fn describe(schemas: &mut Schemas, description: &mut Description) {
        Shape::describe(schemas, description);
    }
}

/// JSON, or a stream of events for a caller that takes one.
pub(crate) struct JsonOrEvents<T>(std::marker::PhantomData<fn() -> T>);

impl<T: JsonSchema> DescribeAnswer for JsonOrEvents<T> {
    fn describe(schemas: &mut Schemas, description: &mut Description) {
        let schema = schemas.answers.subschema_for::<T>();
        let mut both = content(JSON, &schema);
        both[EVENTS] = text();
        description.answer(StatusCode::OK, "the answer, or server-sent events with `Accept: text/event-stream`", both);
    }
}

/// A stream of events.
pub(crate) struct Events;

impl DescribeAnswer for Events {
    fn describe(_: &mut Schemas, description: &mut Description) {
        description.answer(StatusCode::OK, "server-sent events", json!({ EVENTS: text() }));
    }
}

/// The metrics of the server, as text.
pub(crate) struct MetricsText;

impl DescribeAnswer for MetricsText {
    fn describe(_: &mut Schemas, description: &mut Description) {
        description.answer(StatusCode::OK, "the metrics", json!({ "application/openmetrics-text": text() }));
    }
}

/// An acknowledgement; what there is to say comes over a stream.
pub(crate) struct Accepted;

impl DescribeAnswer for Accepted {
    fn describe(_: &mut Schemas, description: &mut Description) {
        description.answer(StatusCode::ACCEPTED, "taken; the answer comes over the event stream", Value::Null);
    }
}

/// Any JSON: a document of a protocol that this one does not describe.
pub(crate) struct AnyJson;

impl DescribeAnswer for AnyJson {
    fn describe(_: &mut Schemas, description: &mut Description) {
        description.answer(StatusCode::OK, "the answer", json!({ JSON: {} }));
    }
}

impl Description {
    fn answer(&mut self, status: StatusCode, about: &str, content: Value) {
        let mut answer = json!({ "description": about });
        if !content.is_null() {
            answer["content"] = content;
        }
        self.answers.insert(status.as_str().to_owned(), answer);
    }
}

pub(super) fn content(media_type: &str, schema: &Schema) -> Value {
    json!({ media_type: { "schema": schema } })
}

fn text() -> Value {
    json!({ "schema": { "type": "string" } })
}

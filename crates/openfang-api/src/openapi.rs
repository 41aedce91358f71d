//! The OpenAPI document of the HTTP API, made from the table of routes and the signatures of their handlers.
//!
//! MCP and A2A have specifications of their own: their routes are listed here, and their messages are not described.

use http::Method;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::error::ErrorBody;
use crate::routes::{self, Access, Operation, Route};

pub(crate) use describe::{
    Accepted, AnyJson, Describe, DescribeAnswer, Documented, Events, JsonOrEvents, MetricsText, Shaped,
};
use describe::{Description, Schemas, content};

mod describe;

const ABOUT: &str = "The HTTP API of OpenFang: agents, tools, tasks, users and MCP servers. The endpoints of MCP and A2A \
                     are listed too; their messages are described by the specifications of these protocols.";

/// The document, for the default `listen_path`.
pub fn document() -> Value {
    let answers = SchemaSettings::draft2020_12().for_serialize().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let requests = SchemaSettings::draft2020_12().for_deserialize().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schemas = Schemas { answers: answers.into_generator(), requests: requests.into_generator() };
    let error = json!({
        "description": "the request was refused or failed",
        "content": content("application/json", &schemas.answers.subschema_for::<ErrorBody<'static>>()),
    });
    let mut paths = Map::new();
    for route in routes::table() {
        paths.insert(route.path.to_owned(), item(&route, &mut schemas));
    }
    json!({
        "openapi": "3.1.1",
        "info": {
            "title": "OpenFang",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "http://127.0.0.1:50051", "description": "the default address" }],
        "security": [{ "key": [] }, { "login": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas.answers.take_definitions(true),
            "responses": { "Error": error },
            "securitySchemes": {
                "key": { "type": "http", "scheme": "bearer", "description": "`api_key`, or a key of a user" },
                "login": {
                    "type": "apiKey", "in": "cookie", "name": "openfang_session",
                    "description": "the cookie of `POST /api/login`; changes need the header `Origin` too",
                },
            },
        },
    })
}

/// All operations of a path.
fn item(route: &Route, schemas: &mut Schemas) -> Value {
    let mut item = Map::new();
    let parameters: Vec<Value> = names(route.path)
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
        .collect();
    if !parameters.is_empty() {
        item.insert("parameters".to_owned(), parameters.into());
    }
    for operation in &route.operations {
        item.insert(operation.method.as_str().to_lowercase(), written(route, operation, schemas));
    }
    item.into()
}

fn written(route: &Route, operation: &Operation, schemas: &mut Schemas) -> Value {
    let mut description = Description::default();
    (operation.describe)(schemas, &mut description);
    let Description { parameters, body, mut answers } = description;
    answers.insert("default".to_owned(), json!({ "$ref": "#/components/responses/Error" }));
    let mut written = json!({
        "operationId": id(&operation.method, route.path),
        "tags": [tag(route.path)],
        "summary": operation.summary,
        "responses": answers,
    });
    if !parameters.is_empty() {
        written["parameters"] = parameters.into();
    }
    if let Some(body) = body {
        written["requestBody"] = body;
    }
    match route.access {
        Access::Public => written["security"] = json!([]),
        Access::Known => written["security"] = json!([{}, { "key": [] }, { "login": [] }]),
        Access::Credential | Access::Admin => {}
    }
    written
}

/// The parameters in a path.
fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

/// The method and the words of the path.
fn id(method: &Method, path: &str) -> String {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.fold(method.as_str().to_lowercase(), |id, word| id + "_" + word)
}

/// Groups paths by what they are about.
fn tag(path: &str) -> &str {
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    match (parts.next(), parts.next()) {
        (Some("api"), Some(what)) => what,
        (Some("a2a" | ".well-known" | "agent"), _) => "a2a",
        (Some("mcp" | "sse" | "messages"), _) => "mcp",
        _ => "server",
    }
}

#[cfg(test)]
#[path = "openapi_tests.rs"]
mod tests;

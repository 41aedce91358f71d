//! The document names every route, and its members are spelled alike.

use std::collections::BTreeSet;

use openfang_types::agent::AgentManifest;
use openfang_types::api::PolicyCases;
use openfang_types::config::{ExternalAgent, McpServerConfigEntry};
use schemars::schema_for;

use super::*;

/// Members that other programs read under these names.
const RELIED_ON: [&str; 3] = ["_meta", "session_id", "tools_count"];

/// Members that an operator writes in `config.toml`, `agent.toml` and the file of `openfang policy test`.
fn written_by_operators() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let written = [
        schema_for!(AgentManifest),
        schema_for!(McpServerConfigEntry),
        schema_for!(ExternalAgent),
        schema_for!(PolicyCases),
    ];
    for schema in written {
        members(&schema.to_value(), &mut found);
    }
    found
}

fn members(schema: &Value, found: &mut BTreeSet<String>) {
    visit(schema, &mut |object| {
        let properties = object.get("properties").and_then(Value::as_object);
        found.extend(properties.into_iter().flatten().map(|(name, _)| name.clone()));
    });
}

#[test]
fn every_method_of_every_route_is_described_once() {
    let document = document();
    let mut ids = BTreeSet::new();

    for route in routes::table() {
        let described: Vec<&Method> = route.operations.iter().map(|operation| &operation.method).collect();
        assert_eq!(described, route.methods.iter().collect::<Vec<_>>(), "{}", route.path);
        for method in route.methods {
            let operation = &document["paths"][route.path][method.as_str().to_lowercase()];
            assert!(operation["summary"].is_string(), "{method} {}", route.path);
            assert!(ids.insert(operation["operationId"].as_str().unwrap().to_owned()), "{operation}");
        }
    }
    assert_eq!(document["paths"].as_object().unwrap().len(), routes::table().len());
}

#[test]
fn an_operation_has_the_query_the_body_and_the_answer_of_its_handler() {
    let document = document();

    let list = &document["paths"]["/api/tasks"]["get"];
    let mut query: Vec<&str> =
        list["parameters"].as_array().unwrap().iter().filter_map(|p| p["name"].as_str()).collect();
    query.sort_unstable();
    assert_eq!(
        query,
        ["agent", "contextId", "includeArtifacts", "includeHistory", "pageSize", "pageToken", "state", "user"]
    );
    let page = &list["responses"]["200"]["content"]["application/json"]["schema"]["$ref"];
    assert_eq!(page, "#/components/schemas/TaskPage");

    let message = &document["paths"]["/api/agents/{name}/message"]["post"];
    let body = &message["requestBody"]["content"]["application/json"]["schema"]["properties"];
    assert!(body["returnImmediately"].is_object() && body["parts"].is_object(), "{message}");
    assert!(message["responses"]["200"]["content"]["text/event-stream"].is_object());

    let add = &document["paths"]["/api/mcp/servers"]["post"]["requestBody"]["content"]["application/json"]["schema"];
    assert!(add["properties"]["transport"].is_object(), "{add}");
}

#[test]
fn every_reference_names_a_component() {
    let document = document();
    let mut references = Vec::new();
    visit(&document, &mut |object| references.extend(object.get("$ref").and_then(Value::as_str).map(str::to_owned)));

    assert!(references.len() > 50);
    for reference in references {
        assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
    }
}

#[test]
fn members_are_camel_case_except_those_that_others_rely_on() {
    let document = document();
    let mut found = BTreeSet::new();
    members(&document, &mut found);
    let written = written_by_operators();

    let is_other = |name: &&String| name.contains(['_', '-']) || name.starts_with(|c: char| c.is_ascii_uppercase());
    let others = found.iter().filter(is_other).filter(|name| !written.contains(*name));
    assert_eq!(others.map(String::as_str).collect::<Vec<_>>(), RELIED_ON);
}

/// Calls a function with every object of a value.
fn visit(value: &Value, look: &mut impl FnMut(&Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            look(object);
            object.values().for_each(|value| visit(value, look));
        }
        Value::Array(values) => values.iter().for_each(|value| visit(value, look)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

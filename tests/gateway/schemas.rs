//! Servers whose schemas ask for more work than there is time.

use openfang_types::limits::Limits;
use serde_json::{Map, Value, json};

use super::fixture::{House, odd};

/// A chain of schemas in which each holds the value twice against the next one.
fn chain(steps: usize, step: impl Fn(Value) -> Value, last: Value) -> Value {
    let next = |at: usize| json!({"$ref": format!("#/$defs/s{}", at + 1)});
    let mut defs: Map<_, _> = (0..steps).map(|at| (format!("s{at}"), step(next(at)))).collect();
    defs.insert(format!("s{steps}"), last);
    json!({"type": "object", "$ref": "#/$defs/s0", "$defs": defs})
}

/// Doubles with each level of the value.
fn through_parts() -> Value {
    chain(24, |next| json!({"properties": {"x": {"anyOf": [next, next]}}}), json!({"type": "string"}))
}

/// A value that goes all the way down, and does not fit there.
fn deep() -> Value {
    (0..24).fold(json!(1), |inner, _| json!({ "x": inner }))
}

/// A house with a server that lists these tools, and a good one beside it.
async fn house(tools: Value) -> (House, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("tools.json");
    std::fs::write(&file, tools.to_string()).unwrap();
    let limits = Limits { schema_check_steps: 100_000, ..Limits::default() };
    let entries = [odd("hostile", &["--tools", file.to_str().unwrap()]), odd("neighbour", &[])];
    let house = House::limited(limits, entries).await;
    house.ready("hostile").await;
    (house, directory)
}

#[tokio::test]
async fn a_schema_whose_references_multiply_is_left_out_and_it_is_said_why() {
    let doubling =
        |steps: usize, key: &str| chain(steps, |next| json!({ key: [next, next] }), json!({"type": "object"}));
    let plain = json!({"type": "object"});
    let (house, _directory) = house(json!([
        {"name": "echo", "inputSchema": plain},
        {"name": "asks", "inputSchema": doubling(30, "allOf")},
        {"name": "tells", "inputSchema": plain, "outputSchema": doubling(60, "oneOf")},
    ]))
    .await;

    let mut left_out = house.status("hostile").left_out;
    left_out.sort_by(|a, b| a.name.cmp(&b.name));
    let left_out: Vec<_> = left_out.iter().map(|left| (left.name.as_str(), left.why.as_str())).collect();
    let expected = [
        ("asks", "the references of its schema expand to more than 10,000 subschemas"),
        ("tells", "its schema has a chain of more than 64 references and alternatives"),
    ];
    assert_eq!(left_out, expected);
    assert_eq!(house.says("mcp_hostile_echo", json!({"text": "fine"})).await, "fine");
    house.neighbour_works().await;
    house.close().await;
}

#[tokio::test]
async fn arguments_that_multiply_with_their_schema_are_refused_and_others_are_served_meanwhile() {
    let (house, _directory) = house(json!([{"name": "echo", "inputSchema": through_parts()}])).await;
    let hostile = || house.says("mcp_hostile_echo", deep());

    let (a, b, c, d, ()) = tokio::join!(hostile(), hostile(), hostile(), hostile(), house.neighbour_works());

    for said in [a, b, c, d] {
        assert!(said.starts_with('!') && said.contains("too many steps"), "{said}");
    }
    assert_eq!(house.says("mcp_hostile_echo", json!({"text": "short", "x": {}})).await, "short");
    house.close().await;
}

#[tokio::test]
async fn a_result_that_multiplies_with_the_promised_schema_is_an_error() {
    let structured = json!({"name": "structured", "inputSchema": {"type": "object"}, "outputSchema": through_parts()});
    let (house, _directory) = house(json!([structured])).await;
    let hostile = || house.says("mcp_hostile_structured", json!({"value": deep()}));

    let (a, b, ()) = tokio::join!(hostile(), hostile(), house.neighbour_works());

    for said in [a, b] {
        assert!(said.starts_with('!') && said.contains("too many steps"), "{said}");
    }
    let kept = house.call("mcp_hostile_structured", json!({"value": {"x": {}}})).await.unwrap();
    assert_eq!((kept.is_error, kept.structured_value()), (false, Some(json!({"x": {}}))));
    house.close().await;
}

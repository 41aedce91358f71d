//! Which marks are good, and what headers they make.

use serde_json::json;

use super::*;

fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).unwrap()
}

fn mirror(properties: &Value) -> Result<Mirror, BadMark> {
    Mirror::of(&raw(&json!({"type": "object", "properties": properties})))
}

fn marked(kind: &str, mark: &str) -> Value {
    json!({"type": kind, "x-mcp-header": mark})
}

fn headers(mirror: &Mirror, arguments: &Value) -> Vec<String> {
    let headers = mirror.headers(Some(&raw(arguments)));
    headers
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
        .collect()
}

#[test]
fn marked_arguments_become_headers_and_absent_ones_do_not() {
    let mirror = mirror(&json!({
        "region": marked("string", "Region"),
        "count": marked("integer", "Count"),
        "loud": marked("boolean", "Loud"),
        "where": {"type": "object", "properties": {"city": marked("string", "City")}},
        "maybe": {"type": ["string", "null"], "x-mcp-header": "Maybe"},
        "plain": {"type": "string"},
    }))
    .unwrap();

    let all = json!({"region": "us", "count": 9_007_199_254_740_993_u64, "loud": false, "where": {"city": "K\u{f6}ln"}, "plain": "x"});
    let mut found = headers(&mirror, &all);
    found.sort();

    assert_eq!(
        found,
        [
            "mcp-param-city: =?base64?S8O2bG4=?=",
            "mcp-param-count: 9007199254740993",
            "mcp-param-loud: false",
            "mcp-param-region: us"
        ]
    );
    assert!(headers(&mirror, &json!({"region": null, "maybe": null, "where": 5})).is_empty());
    assert!(mirror.headers(None).is_empty());
}

#[test]
fn a_bad_mark_is_found_wherever_it_stands() {
    for (properties, expected) in [
        (json!({"a": marked("string", "")}), BadMark::Name),
        (json!({"a": marked("string", "My Region")}), BadMark::Name),
        (json!({"a": marked("string", "R\u{e9}gion")}), BadMark::Name),
        (json!({"a": {"type": "string", "x-mcp-header": 5}}), BadMark::Name),
        (json!({"a": marked("string", "Same"), "b": marked("string", "sAME")}), BadMark::Twice),
        (json!({"a": marked("number", "A")}), BadMark::Type),
        (json!({"a": marked("object", "A")}), BadMark::Type),
        (json!({"a": {"x-mcp-header": "A"}}), BadMark::Type),
        (json!({"a": {"type": ["string", "integer"], "x-mcp-header": "A"}}), BadMark::Type),
        (json!({"a": {"type": "array", "items": marked("string", "A")}}), BadMark::Place),
        (json!({"a": {"anyOf": [marked("string", "A")]}}), BadMark::Place),
        (json!({"a": {"$defs": {"x": {"properties": {"y": marked("string", "A")}}}}}), BadMark::Place),
    ] {
        assert_eq!(mirror(&properties).unwrap_err(), expected, "{properties}");
    }
}

#[test]
fn what_only_looks_like_a_mark_is_none() {
    let schema =
        json!({"x-mcp-header": {"type": "string", "default": {"x-mcp-header": 1}}, "b": {"const": "x-mcp-header"}});
    assert!(mirror(&schema).unwrap().is_empty());
    assert!(Mirror::of(&raw(&json!(true))).unwrap().is_empty());
}

//! Which schemas are taken.

use serde_json::json;

use super::*;

#[test]
fn a_tree_may_refer_to_itself_and_a_circle_may_not() {
    let tree = json!({ "$defs": { "node": { "properties": { "next": { "$ref": "#/$defs/node" } } } }, "$ref": "#/$defs/node" });
    assert_eq!(fault_of(&tree), None);
    for circle in [
        json!({ "$ref": "#" }),
        json!({ "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } }),
        json!({ "$defs": { "a": { "allOf": [{ "$ref": "#/$defs/a" }] } } }),
    ] {
        assert_eq!(fault_of(&circle), Some("its schema refers to itself without end"), "{circle}");
    }
}

#[test]
fn a_reference_that_leaves_the_document_is_refused_wherever_it_stands() {
    for schema in [
        json!({ "$ref": "http://169.254.169.254/" }),
        json!({ "properties": { "x": { "items": { "$ref": "file:///etc/passwd" } } } }),
        json!({ "$dynamicRef": "other.json" }),
    ] {
        assert_eq!(fault_of(&schema), Some("its schema refers to something outside itself"));
    }
}

#[test]
fn a_schema_that_is_too_large_deep_or_wide_is_refused() {
    let mut deep = json!(true);
    for _ in 0..40 {
        deep = json!({ "not": deep });
    }
    let wide: Vec<_> = (0..2_001).map(|_| json!({})).collect();
    assert_eq!(fault_of(&deep), Some("its schema is nested deeper than 32"));
    assert_eq!(fault_of(&json!({ "anyOf": wide })), Some("its schema has more than 2,000 subschemas"));
    assert_eq!(fault_of(&json!({ "description": "x".repeat(70_000) })), Some("its schema is larger than 64 KiB"));
    assert_eq!(fault_of(&json!([])), Some("its schema is not an object"));
}

/// A chain in which every step makes two of the next one.
fn doubling(steps: usize, step: impl Fn(serde_json::Value) -> serde_json::Value) -> serde_json::Value {
    let next = |at: usize| json!({ "$ref": format!("#/$defs/s{}", at + 1) });
    let mut defs: serde_json::Map<_, _> = (0..steps).map(|at| (format!("s{at}"), step(next(at)))).collect();
    defs.insert(format!("s{steps}"), json!({ "type": "object" }));
    json!({ "type": "object", "$ref": "#/$defs/s0", "$defs": defs })
}

#[test]
fn references_that_multiply_are_refused_whichever_way_they_do() {
    let too_wide = Some("the references of its schema expand to more than 10,000 subschemas");
    let twice = |next: &serde_json::Value| json!([next, next]);
    for key in ["allOf", "anyOf", "oneOf"] {
        assert_eq!(fault_of(&doubling(30, |next| json!({ key: twice(&next) }))), too_wide, "{key}");
    }
    for schema in [
        doubling(30, |next| json!({ "not": next, "if": next })),
        doubling(30, |next| json!({ "then": next, "else": next })),
        doubling(30, |next| json!({ "dependentSchemas": { "a": next, "b": next } })),
        doubling(30, |next| json!({ "dependencies": { "a": next, "b": next } })),
    ] {
        assert_eq!(fault_of(&schema), too_wide);
    }
    assert_eq!(fault_of(&doubling(10, |next| json!({ "allOf": twice(&next) }))), None);
}

#[test]
fn references_are_followed_however_they_are_written() {
    let too_wide = Some("the references of its schema expand to more than 10,000 subschemas");
    let text = doubling(30, |next| json!({ "allOf": [next, next] })).to_string();
    for (from, to) in [("#/$defs/s", "#/%24defs/s"), ("#/$defs/s", "#/$defs/%73")] {
        let schema = serde_json::from_str(&text.replace(from, to)).unwrap();
        assert_eq!(fault_of(&schema), too_wide, "{to}");
    }
    let defs = (0..30).map(|at| {
        let next = json!({ "$dynamicRef": format!("#s{}", at + 1) });
        (format!("d{at}"), json!({ "$dynamicAnchor": format!("s{at}"), "anyOf": [next, next] }))
    });
    let defs: serde_json::Map<_, _> = defs.collect();
    assert_eq!(fault_of(&json!({ "$defs": defs })), too_wide);
}

#[test]
fn a_long_chain_of_references_is_refused_and_so_are_references_from_a_named_part() {
    let long = doubling(200, |next| json!({ "not": next }));
    let chain = "its schema has a chain of more than 64 references and alternatives";
    assert_eq!(fault_of(&long), Some(chain));
    assert_eq!(fault_of(&doubling(25, |next| json!({ "not": next }))), None);

    let named = json!({ "$defs": { "a": { "$id": "http://a/", "$ref": "#/b", "b": {} } } });
    assert_eq!(fault_of(&named), Some("its schema has references, and an `$id` below its root"));
    assert_eq!(fault_of(&json!({ "$id": "http://a/", "$ref": "#/b", "b": {} })), None);
    assert_eq!(fault_of(&json!({ "default": { "id": "x" }, "$ref": "#/b", "b": {} })), None);
}

#[test]
fn a_circle_is_refused_wherever_it_goes_through() {
    for circle in [
        json!({ "$defs": { "a": { "not": { "$ref": "#/$defs/a" } } } }),
        json!({ "$defs": { "a": { "if": { "$ref": "#/$defs/a" } } } }),
        json!({ "$defs": { "a": { "dependentSchemas": { "x": { "$ref": "#/$defs/a" } } } } }),
        json!({ "$defs": { "a": { "$anchor": "a", "oneOf": [{ "$ref": "#a" }] } } }),
        json!({ "not": { "$recursiveRef": "#" } }),
    ] {
        assert_eq!(fault_of(&circle), Some("its schema refers to itself without end"), "{circle}");
    }
}

#[test]
fn what_a_check_costs_is_known_from_the_schema() {
    let plain = json!({ "type": "object", "properties": { "a": { "type": "integer" } } });
    assert_eq!(cost_of(&plain), Ok(SchemaCost { subschemas: 3, expansion: 1, chain: 1, patterns: 0, is_plain: true }));
    let patterns = json!({ "properties": { "a": { "pattern": "x" } }, "patternProperties": { "y": {}, "z": {} } });
    let cost = cost_of(&patterns).unwrap();
    assert_eq!((cost.patterns, cost.is_plain), (3, false));
}

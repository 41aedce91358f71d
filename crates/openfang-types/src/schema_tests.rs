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

//! Which schemas are compiled and which are not.

use serde_json::json;

use super::*;

#[test]
fn a_reference_out_of_the_schema_is_refused_wherever_it_hides() {
    for target in ["http://169.254.169.254/", "file:///etc/passwd", "other.json", "https://example.org/s#/x"] {
        for schema in [
            json!({"$ref": target}),
            json!({"properties": {"a": {"items": [{"$ref": target}]}}}),
            json!({"allOf": [{"$dynamicRef": target}]}),
        ] {
            assert_eq!(check_schema(&schema), Err("it refers to something outside itself"), "{schema}");
        }
    }
    assert_eq!(check_schema(&json!({"$ref": "#/$defs/a", "$defs": {"a": true}})), Ok(()));
}

#[test]
fn a_schema_that_is_too_large_deep_or_wide_is_refused() {
    let mut deep = json!(true);
    for _ in 0..40 {
        deep = json!({ "not": deep });
    }
    let wide: Vec<_> = (0..2_001).map(|_| json!({})).collect();

    assert_eq!(check_schema(&deep), Err("it is nested deeper than 32"));
    assert_eq!(check_schema(&json!({ "anyOf": wide })), Err("it has more than 2,000 subschemas"));
    assert_eq!(check_schema(&json!({ "description": "x".repeat(70_000) })), Err("it is larger than 64 KiB"));
    assert_eq!(check_schema(&json!([])), Err("it is not an object"));
}

#[test]
fn a_pattern_that_backtracks_for_ever_elsewhere_is_answered_here() {
    let validator = compile(&json!({"type": "string", "pattern": "^(a+)+$"})).unwrap();

    assert!(!validator.is_valid(&json!(format!("{}!", "a".repeat(100_000)))));
}

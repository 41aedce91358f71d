//! What identifies a call.

use serde_json::json;

use super::*;

#[test]
fn the_order_of_members_does_not_make_another_call_and_anything_else_does() {
    let written = |value: &Value| canonical(value).to_string();
    let one: Value = serde_json::from_str(r#"{"b": {"y": 1, "x": [2, {"d": 1, "c": 2}]}, "a": "x"}"#).unwrap();
    let same: Value = serde_json::from_str(r#"{"a":"x","b":{"x":[2,{"c":2,"d":1}],"y":1}}"#).unwrap();

    assert_eq!(written(&one), written(&same));
    for other in [json!({"a": "x"}), json!({"a": "x", "b": {"x": [{"c": 2, "d": 1}, 2], "y": 1}})] {
        assert_ne!(written(&one), written(&other));
    }
}

#[test]
fn parts_cannot_be_moved_from_the_tool_to_the_arguments() {
    assert_ne!(digest(&["ab", "c"]), digest(&["a", "bc"]));
    assert_eq!(digest(&["a", "b"]).len(), 64);
}

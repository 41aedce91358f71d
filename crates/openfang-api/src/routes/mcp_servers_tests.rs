//! What is wrong with a body is said without a word of it.

use serde_json::json;

use super::*;

#[test]
fn what_does_not_fit_is_named_and_never_quoted() {
    let transport = json!({ "type": "stdio", "command": "x" });
    let rows = [
        (json!({ "transport": transport }), "missing field `name`"),
        (json!({ "name": "hunter2 hunter2", "transport": transport }), "name does not fit"),
        (json!({ "name": "x", "transport": { "type": "hunter2" } }), "transport does not fit"),
        (
            json!({ "name": "x", "transport": { "type": "http", "url": "u", "headers": { "A": 1 } } }),
            "transport does not fit",
        ),
        (
            json!({ "name": "x", "transport": { "type": "stdio", "command": "x", "hunter2": 1 } }),
            "transport does not fit",
        ),
        (json!({ "name": "x", "transport": transport, "env": "hunter2" }), "env does not fit"),
        (json!({ "name": "x", "transport": transport, "timeout_secs": "hunter2" }), "timeout_secs does not fit"),
        (json!({ "name": "x", "transport": transport, "hunter2": true }), "not known"),
        (json!("hunter2"), "not a valid server entry"),
    ];
    for (body, expected) in rows {
        let said = serde_json::to_string(&entry_of(body.clone()).unwrap_err().body()).unwrap();
        assert!(said.contains(expected), "{body}: {said}");
        assert!(!said.contains("hunter2"), "{said}");
    }
}

//! What is wrong with a body is said without a word of it.

use serde_json::json;

use super::*;

#[test]
fn what_does_not_fit_is_named_and_never_quoted() {
    let transport = json!({ "type": "stdio", "command": "x" });
    let rows = [
        (json!({ "transport": transport }), "missing field `name`"),
        (json!({ "name": "hunter2 hunter2", "transport": transport }), "invalid name"),
        (json!({ "name": "x", "transport": { "type": "hunter2" } }), "invalid transport"),
        (
            json!({ "name": "x", "transport": { "type": "http", "url": "u", "headers": { "A": 1 } } }),
            "invalid transport",
        ),
        (json!({ "name": "x", "transport": { "type": "stdio", "command": "x", "hunter2": 1 } }), "invalid transport"),
        (json!({ "name": "x", "transport": transport, "env": "hunter2" }), "invalid env"),
        (json!({ "name": "x", "transport": transport, "timeout_secs": "hunter2" }), "invalid timeout_secs"),
        (json!({ "name": "x", "transport": transport, "enabled": "hunter2" }), "invalid enabled"),
        (json!({ "name": "x", "transport": transport, "tools": { "only": ["hunter2"] } }), "invalid tools"),
        (json!({ "name": "x", "transport": transport, "hunter2": true }), "unknown or invalid member"),
        (json!("hunter2"), "not a valid server entry"),
    ];
    for (body, expected) in rows {
        let said = serde_json::to_string(&entry_of(body.clone()).unwrap_err().body()).unwrap();
        assert!(said.contains(expected), "{body}: {said}");
        assert!(!said.contains("hunter2"), "{said}");
    }
}

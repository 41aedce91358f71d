//! The validator: what each revision has, what it refuses.

use super::*;

use Revision::{R2024_11_05, R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};

fn from_client(message: &Value) -> Seen<'_> {
    Seen { sender: Sender::Client, message, answers: None }
}

fn from_server(message: &Value) -> Seen<'_> {
    Seen { sender: Sender::Server, message, answers: None }
}

/// The server answers a method with this.
fn answer(revision: Revision, method: &str, result: Value) -> Result<(), String> {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "result": result });
    check(revision, Seen { sender: Sender::Server, message: &message, answers: Some(method) })
}

/// In every revision from the newest to `since` the answer passes, and in every older one it is refused.
#[track_caller]
fn assert_since(since: Revision, method: &str, result: &Value) {
    for revision in Revision::ALL.into_iter().filter(|revision| *revision != R2026_07_28) {
        let passes = answer(revision, method, result.clone());
        assert_eq!(passes.is_ok(), revision.is_since(since), "{passes:?} in {}", revision.name());
    }
}

fn tool(member: &str, value: Value) -> Value {
    let mut tool = json!({ "name": "t", "inputSchema": { "type": "object" } });
    tool[member] = value;
    json!({ "tools": [tool] })
}

#[test]
fn the_table_has_the_methods_of_every_file_and_no_others() {
    let mut used = std::collections::BTreeSet::new();
    for revision in Revision::ALL {
        let schema = revision.schema();
        for (name, definition) in schema.json[schema.place].as_object().unwrap() {
            let Some(method) = definition["properties"]["method"]["const"].as_str() else { continue };
            let found = schema.method(method).unwrap_or_else(|| panic!("{method} of {}", revision.name()));
            // 2026-07-28 writes its only client notification out once more, under the name of the union.
            assert!(found.definition == name || name == "ClientNotification", "{name} of {}", revision.name());
            let result = found.result.map(|result| schema.definition(result).is_some());
            assert_ne!(result, Some(false), "{method} of {}", revision.name());
            used.insert(found.name);
        }
    }
    assert_eq!(used.len(), METHODS.len());
}

#[test]
fn a_revision_is_found_by_its_name() {
    assert!(
        Revision::ALL
            .into_iter()
            .all(|revision| Revision::named(revision.name()) == Some(revision))
    );
    assert_eq!(Revision::named("2025-11-26"), None);
}

#[test]
fn the_handshake_belongs_to_the_legacy_revisions() {
    for revision in Revision::ALL {
        let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": revision.name(), "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } } });
        let result = json!({ "protocolVersion": revision.name(), "capabilities": { "tools": {} },
            "serverInfo": { "name": "s", "version": "1" } });
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });

        let outcomes = [
            check(revision, from_client(&initialize)),
            answer(revision, "initialize", result),
            check(revision, from_client(&initialized)),
        ];

        let legacy = revision != R2026_07_28;
        assert!(outcomes.iter().all(|outcome| outcome.is_ok() == legacy), "{outcomes:?}");
    }
}

#[test]
fn a_modern_request_needs_its_meta_and_a_modern_result_its_type() {
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {} });
    let with = json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/list", "params": { "_meta": meta } });
    let without = json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/list", "params": {} });
    let complete = json!({ "resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "private" });

    assert_eq!(check(R2026_07_28, from_client(&with)), Ok(()));
    assert!(check(R2026_07_28, from_client(&without)).is_err());
    assert_eq!(answer(R2026_07_28, "tools/list", complete.clone()), Ok(()));
    for member in ["resultType", "ttlMs", "cacheScope"] {
        let mut result = complete.clone();
        result.as_object_mut().unwrap().remove(member);
        assert!(answer(R2026_07_28, "tools/list", result).is_err(), "without {member}");
    }
}

#[test]
fn what_only_the_modern_revision_has_is_refused_in_the_others() {
    for revision in [R2025_11_25, R2025_06_18, R2025_03_26, R2024_11_05] {
        for (member, value) in
            [("resultType", json!("complete")), ("ttlMs", json!(0)), ("cacheScope", json!("private"))]
        {
            let error = answer(revision, "tools/list", json!({ "tools": [], member: value })).unwrap_err();
            assert!(error.contains(&format!("`{member}` in `result` does not belong")), "{error}");
        }
    }
}

#[test]
fn only_the_methods_that_may_ask_answer_with_input_required() {
    let ask = json!({ "resultType": "input_required", "requestState": "s" });

    assert_eq!(answer(R2026_07_28, "tools/call", ask.clone()), Ok(()));
    assert!(
        answer(R2026_07_28, "tools/list", ask.clone())
            .unwrap_err()
            .contains("cannot ask for input")
    );
    assert!(answer(R2025_11_25, "tools/call", ask).is_err());
}

#[test]
fn members_are_refused_before_the_revision_that_brought_them() {
    assert_since(R2025_11_25, "tools/list", &tool("icons", json!([{ "src": "https://example.com/i.png" }])));
    assert_since(R2025_06_18, "tools/list", &tool("title", json!("T")));
    assert_since(R2025_06_18, "tools/list", &tool("outputSchema", json!({ "type": "object" })));
    assert_since(R2025_03_26, "tools/list", &tool("annotations", json!({ "title": "T", "readOnlyHint": true })));
    assert_since(R2024_11_05, "tools/list", &tool("description", json!("D")));
    assert_since(R2025_06_18, "tools/call", &json!({ "content": [], "structuredContent": { "a": 1 } }));
}

#[test]
fn kinds_of_content_are_refused_before_the_revision_that_brought_them() {
    let audio = json!({ "type": "audio", "data": "aGk=", "mimeType": "audio/wav" });
    let link = json!({ "type": "resource_link", "uri": "x://y", "name": "y" });
    let text = json!({ "type": "text", "text": "t", "annotations": { "priority": 1 } });

    assert_since(R2025_03_26, "tools/call", &json!({ "content": [audio] }));
    assert_since(R2025_06_18, "tools/call", &json!({ "content": [link] }));
    assert_since(R2024_11_05, "tools/call", &json!({ "content": [text] }));
}

#[test]
fn what_belongs_to_users_may_have_any_member() {
    let own = json!({ "title": "T", "resultType": "mine", "type": "audio" });
    let call =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "t", "arguments": own } });
    let schema = json!({ "type": "object", "title": "T", "properties": { "ttlMs": { "type": "integer" } } });

    assert_eq!(check(R2024_11_05, from_client(&call)), Ok(()));
    assert_eq!(answer(R2024_11_05, "tools/list", json!({ "tools": [{ "name": "t", "inputSchema": schema }] })), Ok(()));
    assert_eq!(answer(R2025_06_18, "tools/call", json!({ "content": [], "structuredContent": own })), Ok(()));

    let told = json!({ "jsonrpc": "2.0", "id": 1, "result": { "action": "accept", "content": { "title": "Dr" } } });
    let told = Seen { sender: Sender::Client, message: &told, answers: Some("elicitation/create") };
    assert_eq!(check(R2025_06_18, told), Ok(()));
}

#[test]
fn error_codes_are_refused_in_revisions_that_do_not_have_them() {
    let rows = [
        (-32601, &Revision::ALL[..]),
        (-32020, &Revision::ALL[..1]),
        (-32021, &Revision::ALL[..1]),
        (-32022, &Revision::ALL[..1]),
        (-32042, &Revision::ALL[1..2]),
        (-32002, &Revision::ALL[1..]),
    ];
    for (code, revisions) in rows {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": code, "message": "m" } });
        for revision in Revision::ALL {
            let outcome = check(revision, from_server(&message));
            assert_eq!(outcome.is_ok(), revisions.contains(&revision), "{outcome:?} in {}", revision.name());
        }
    }
}

#[test]
fn nobody_sends_what_only_the_other_side_may_send() {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "t" } });
    let roots = json!({ "jsonrpc": "2.0", "id": 1, "method": "roots/list" });
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });

    assert!(
        check(R2025_11_25, from_server(&call))
            .unwrap_err()
            .contains("the Server may not send tools/call")
    );
    assert_eq!(check(R2025_11_25, from_server(&roots)), Ok(()));
    assert!(check(R2025_11_25, from_client(&roots)).is_err());
    assert!(check(R2026_07_28, from_server(&roots)).is_err(), "a modern server asks in its results");
    assert_eq!(check(R2026_07_28, from_client(&cancelled)), Ok(()));
}

#[test]
fn a_method_of_another_revision_is_no_method() {
    let discover = json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {} });
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let elicit = json!({ "jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {
        "message": "m", "requestedSchema": { "type": "object", "properties": {} } } });

    assert!(
        check(R2025_11_25, from_client(&discover))
            .unwrap_err()
            .contains("server/discover is no request")
    );
    assert_eq!(check(R2025_11_25, from_server(&ping)), Ok(()));
    assert!(check(R2026_07_28, from_server(&ping)).is_err());
    assert_eq!(check(R2025_06_18, from_server(&elicit)), Ok(()));
    assert!(check(R2025_03_26, from_server(&elicit)).is_err());
}

#[test]
fn what_is_not_a_message_at_all_is_refused_in_every_revision() {
    let rows = [
        json!([]),
        json!("tools/list"),
        json!({}),
        json!({ "jsonrpc": "1.0", "id": 1, "method": "tools/list", "params": {} }),
        json!({ "id": 1, "result": {} }),
        json!({ "jsonrpc": "2.0", "id": 1.5, "result": {} }),
        json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": "x", "message": "m" } }),
        json!({ "jsonrpc": "2.0", "method": "tools/list" }),
    ];
    for message in &rows {
        for revision in Revision::ALL {
            assert!(check(revision, from_server(message)).is_err(), "{message} in {}", revision.name());
        }
    }
}

#[test]
fn a_good_call_in_a_bad_envelope_is_refused() {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "t" } });
    for revision in Revision::ALL.into_iter().filter(|revision| *revision != R2026_07_28) {
        assert_eq!(check(revision, from_client(&call)), Ok(()));
        for (member, value) in [("jsonrpc", json!("1.0")), ("id", json!(1.5)), ("id", Value::Null)] {
            let mut call = call.clone();
            call[member] = value;
            assert!(check(revision, from_client(&call)).is_err(), "{call} in {}", revision.name());
        }
    }
}

#[test]
fn a_result_without_its_required_members_is_refused_and_the_error_names_the_definition() {
    let error = answer(R2025_11_25, "tools/call", json!({ "isError": true })).unwrap_err();

    assert!(error.starts_with("no CallToolResult: \"content\" is a required property"), "{error}");
}

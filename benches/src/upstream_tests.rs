//! The upstream answers clients of either era.

use serde_json::{Value, json};

use super::*;

fn answer(tools: usize, message: &Value) -> Option<Value> {
    let upstream = Upstream { tools, manner: UpstreamBehavior::Answers };
    upstream
        .answer(message.to_string().as_bytes())
        .map(|answer| serde_json::from_str(&answer).unwrap())
}

#[test]
fn a_call_is_answered_with_what_was_said() {
    let call = json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": ECHO, "arguments": {"text": "x\ny"}}});

    let answered = answer(1, &call).unwrap();

    assert_eq!(answered["id"], "a");
    assert_eq!(answered["result"]["content"], json!([{"type": "text", "text": "x\ny"}]));
}

#[test]
fn a_long_list_comes_in_pages() {
    let mut names = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let page =
            answer(2_500, &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params})).unwrap();
        names.extend(page["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()));
        cursor = page["result"]["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }

    assert_eq!(names.len(), 2_500);
    assert_eq!((&names[0], &names[2_499]), (&json!(ECHO), &json!("look_up_record_02499")));
}

#[test]
fn both_eras_are_greeted_and_notifications_are_not_answered() {
    let greet = |method: &str, params: Value| {
        answer(1, &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    };

    assert_eq!(
        greet("initialize", json!({"protocolVersion": "2025-06-18"})).unwrap()["result"]["protocolVersion"],
        "2025-06-18"
    );
    assert_eq!(greet("server/discover", json!({})).unwrap()["result"]["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(answer(1, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"})), None);
}

#[test]
fn a_definition_has_the_size_of_a_real_one() {
    let bytes = definition_bytes(1_000) / 1_000;

    assert!((400..=600).contains(&bytes), "{bytes} bytes");
}

//! What is said again to whoever takes over.

use serde_json::{Value, json};

use super::*;

fn note(memory: &mut Memory, frame: &Value) {
    let bytes = Bytes::from(frame.to_string());
    match ClientFrame::read(&bytes) {
        ClientFrame::Handshake(id) => memory.begin(id, bytes),
        kind => memory.note(&kind, &bytes),
    }
}

fn request(id: i64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

#[test]
fn the_introduction_the_last_level_and_what_is_still_subscribed_are_said_again() {
    let mut memory = Memory::default();
    assert!(memory.frames().is_empty());
    for frame in [
        request(0, "initialize", json!({})),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        request(1, "logging/setLevel", json!({"level": "info"})),
        request(2, "logging/setLevel", json!({"level": "debug"})),
        request(3, "resources/subscribe", json!({"uri": "a:1"})),
        request(4, "resources/subscribe", json!({"uri": "b:1"})),
        request(5, "resources/unsubscribe", json!({"uri": "a:1"})),
        request(6, "tools/list", json!({})),
    ] {
        note(&mut memory, &frame);
    }

    let ids: Vec<_> = memory.frames().into_iter().map(|repeated| repeated.id).collect();
    assert_eq!(ids, [Some(Id::Number(0)), None, Some(Id::Number(2)), Some(Id::Number(4))]);

    note(&mut memory, &request(9, "initialize", json!({})));
    assert_eq!(memory.frames().len(), 1, "a conversation that begins anew forgets the one before");
}

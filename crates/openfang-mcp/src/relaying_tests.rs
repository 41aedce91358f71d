//! Frames as a relay sees them.

use serde_json::{Value, json};

use super::*;

fn read(frame: &Value) -> ClientFrame {
    ClientFrame::read(frame.to_string().as_bytes())
}

fn request(frame: &Value) -> RelayedRequest {
    match read(frame) {
        ClientFrame::Request(request) => request,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_kinds_of_frames_are_told_apart() {
    let id = Id::Number(7);
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});

    assert_eq!(
        read(&json!({"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {}})),
        ClientFrame::Handshake(id.clone())
    );
    assert_eq!(read(&cancel), ClientFrame::Stop(id.clone(), StopReason::Unwanted));
    for (reason, expected) in [
        ("McpError: MCP error -32001: Request timed out", StopReason::TimedOut),
        ("Timeout of 60000 ms exceeded", StopReason::TimedOut),
        ("the user pressed stop", StopReason::Unwanted),
    ] {
        let mut cancel = cancel.clone();
        cancel["params"]["reason"] = json!(reason);
        assert_eq!(read(&cancel), ClientFrame::Stop(id.clone(), expected), "{reason}");
    }
    assert_eq!(read(&json!({"jsonrpc": "2.0", "id": 7, "result": {}})), ClientFrame::Reply(id));
    assert_eq!(
        read(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})),
        ClientFrame::Notification("notifications/initialized".to_owned())
    );
    assert_eq!(read(&json!([])), ClientFrame::Other);
    assert_eq!(ClientFrame::read(b"hello"), ClientFrame::Other);
}

#[test]
fn a_modern_request_brings_headers_that_repeat_it_and_a_legacy_one_none() {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let modern = request(&json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "größer", "arguments": {}, "_meta": meta},
    }));
    let headers = modern.headers();

    assert_eq!(modern.era, Era::Modern);
    assert_eq!(headers[PROTOCOL_VERSION], "2026-07-28");
    assert_eq!(headers[METHOD], "tools/call");
    assert_eq!(headers[NAME], "=?base64?Z3LDtsOfZXI=?=");

    let legacy = request(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x"}}));
    assert_eq!((legacy.era, legacy.headers().len()), (Era::Legacy, 0));
}

#[test]
fn a_session_begins_with_an_answer_and_not_with_a_refusal() {
    let mut headers = HeaderMap::new();
    headers.insert(SESSION_ID, HeaderValue::from_static("s"));
    let answer = br#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}"#;

    let (id, revision) = begun_session(&headers, answer).unwrap();

    assert_eq!((id, revision), (HeaderValue::from_static("s"), HeaderValue::from_static("2025-11-25")));
    assert!(begun_session(&headers, br#"{"jsonrpc":"2.0","id":0,"error":{"code":1,"message":""}}"#).is_none());
    assert!(begun_session(&HeaderMap::new(), answer).is_none());
}

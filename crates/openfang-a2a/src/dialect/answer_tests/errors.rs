//! Refusals as peers write them.

use super::*;
use crate::peer::PeerError;

fn refused(status: u16, body: &str) -> PeerError {
    let received = PeerResponse::response(status, body.as_bytes());
    let read = Dialect::ALL.map(|dialect| match dialect.read_answer(Method::Get, &received, &reading()) {
        Err(AnswerError::Peer(error)) => *error,
        other => panic!("{dialect:?}: {body} was read as {other:?}"),
    });
    let [first, ..] = read;
    first
}

fn rpc(code: i64, message: &str) -> PeerError {
    refused(200, &json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}}).to_string())
}

#[test]
fn a_task_that_is_not_found_is_known_by_its_code_or_by_the_words() {
    for error in [
        rpc(-32_001, "nope"),
        rpc(-32_603, "Task not found: 7"),
        rpc(-32_602, "task 7 Not Found"),
        refused(
            404,
            r#"{"error": {"code": 404, "status": "NOT_FOUND", "message": "x", "details":
            [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND"}]}}"#,
        ),
        refused(404, r#"{"code": -32001, "message": "Task not found", "data": null}"#),
        refused(404, r#"{"message": "Task not found"}"#),
    ] {
        assert_eq!(error.fault, PeerFault::TaskNotFound, "{error:?}");
        assert!(!error.had_no_effect());
    }
    assert_eq!(rpc(-32_603, "boom").fault, PeerFault::Internal);
    assert_eq!(rpc(-32_601, "Method not found").fault, PeerFault::MethodNotFound);
}

#[test]
fn other_refusals_are_known_by_the_words_too() {
    for (code, words, fault) in [
        (-32_002, "no", PeerFault::NotCancelable),
        (-32_603, "Task not cancelable: t", PeerFault::NotCancelable),
        (-32_603, "Task cannot be canceled - current state: completed", PeerFault::NotCancelable),
        (-32_602, "Task t is in terminal state: completed", PeerFault::Ended),
        (-32_603, "the task is in a terminal state", PeerFault::Ended),
        (-32_004, "Cannot subscribe: the task is in a terminal state", PeerFault::Ended),
        (-32_004, "not supported", PeerFault::Unsupported),
        (-32_000, "custom", PeerFault::Other),
    ] {
        assert_eq!(rpc(code, words).fault, fault, "{code} {words}");
    }
}

#[test]
fn details_may_be_a_list_an_object_or_nothing() {
    for data in [json!(null), json!([]), json!({}), json!([{"reason": "X"}]), json!("text"), json!(5)] {
        let body = json!({"jsonrpc": "2.0", "error": {"code": -32_001.0, "message": "gone", "data": data}, "id": null});
        let error = refused(200, &body.to_string());
        assert_eq!((error.fault, error.code, error.message.as_str()), (PeerFault::TaskNotFound, Some(-32_001), "gone"));
    }
}

#[test]
fn a_method_that_a_validator_blames_is_a_method_that_is_missing() {
    let blamed = json!([{"type": "literal_error", "loc": ["SendMessageRequest", "method"], "msg": "Input should be"}]);
    let error = |data: Value| {
        let body =
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32_600, "message": "Invalid", "data": data}});
        refused(200, &body.to_string())
    };
    assert!(error(blamed).had_no_effect());
    assert!(!error(json!([{"loc": ["params", "message"]}])).had_no_effect());
    assert!(rpc(-32_601, "x").had_no_effect() && rpc(-32_009, "x").had_no_effect());
    for status in [404, 405, 501] {
        assert!(refused(status, "Not Found").had_no_effect(), "{status}");
    }
    for status in [400, 401, 403, 408, 429, 500, 502, 503] {
        assert!(!refused(status, "<html>no</html>").had_no_effect(), "{status}");
    }
}

#[test]
fn a_status_alone_is_a_refusal_too() {
    for (status, body, fault, message) in [
        (500, "Internal Server Error", PeerFault::Internal, "Internal Server Error"),
        (401, "", PeerFault::Unauthenticated, "HTTP status 401"),
        (403, r#"{"detail": "no"}"#, PeerFault::Forbidden, "no"),
        (404, r#"{"detail": "Not Found"}"#, PeerFault::NoEndpoint, "Not Found"),
        (429, r#"{"error": "slow down"}"#, PeerFault::TooMany, "slow down"),
        (
            422,
            r#"{"detail": [{"loc": ["body"], "msg": "bad"}]}"#,
            PeerFault::Other,
            r#"[{"loc":["body"],"msg":"bad"}]"#,
        ),
        (400, r#"{"type": "about:blank", "title": "Bad", "status": 400}"#, PeerFault::InvalidRequest, "Bad"),
    ] {
        let error = refused(status, body);
        assert_eq!((error.fault, error.message.as_str(), error.status), (fault, message, Some(status)), "{body}");
    }
}

#[test]
fn an_error_inside_a_stream_is_one_whatever_it_is_wrapped_in() {
    let framed = r#"{"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "gone"}}"#;
    for (name, data) in [
        ("message", framed),
        ("error", framed),
        ("error", r#"{"code": -32001, "message": "gone"}"#),
        ("message", r#"{"error": {"code": 404, "message": "gone", "details": [{"reason": "TASK_NOT_FOUND"}]}}"#),
    ] {
        match Dialect::V03.read_event(&PeerResponse::event(name, data), &reading()) {
            Err(AnswerError::Peer(error)) => {
                assert_eq!((error.fault, error.message.as_str()), (PeerFault::TaskNotFound, "gone"), "{data}");
            }
            other => panic!("{data}: {other:?}"),
        }
    }
}

#[test]
fn the_words_of_a_peer_are_cut_and_kept_on_one_line() {
    let error = rpc(-32_603, &format!("a\r\nb\u{1b}[31m{}", "x".repeat(10_000)));
    assert_eq!(error.message.chars().count(), openfang_types::limits::A2A_PEER_ERROR_MAX_CHARS);
    assert!(error.message.starts_with("a  b [31mx"), "{}", error.message);
}

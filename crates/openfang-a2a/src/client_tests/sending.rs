//! Messages and what becomes of them.

use serde_json::json;

use super::peer::{Peer, answer, card, chunk, error, events, message, name, result, status, talk, task};
use crate::client::{ClientError, Delivery};

#[tokio::test]
async fn a_message_is_sent_and_its_answer_is_followed_to_the_end() {
    let peer = Peer::agent(
        |own| card(own, false),
        |heard| match heard.method().as_str() {
            "SendMessage" => result(&json!({ "task": task("TASK_STATE_WORKING", &[]) })),
            "GetTask" => result(&task("TASK_STATE_COMPLETED", &[("a", &["hello"])])),
            other => error(-32_601, other),
        },
    );
    let said = talk(&peer.remote()).await.unwrap();
    assert_eq!(said, ["known t1 c1", "working", "artifact a hello", "ended completed"]);
    assert_eq!(peer.methods(), ["SendMessage", "GetTask"]);
}

#[tokio::test]
async fn a_stream_is_followed_event_by_event() {
    let peer = Peer::agent(
        |own| card(own, true),
        |heard| match heard.method().as_str() {
            "SendStreamingMessage" => events(&[
                json!({ "task": task("TASK_STATE_SUBMITTED", &[]) }),
                status("TASK_STATE_WORKING", Some("thinking")),
                chunk("a", "one", false),
                chunk("a", "two", true),
                status("TASK_STATE_COMPLETED", None),
            ]),
            other => error(-32_601, other),
        },
    );
    let said = talk(&peer.remote()).await.unwrap();
    let expected = ["known t1 c1", "submitted", "working thinking", "artifact a one", "more a two", "ended completed"];
    assert_eq!(said, expected);
    assert_eq!(peer.methods(), ["SendStreamingMessage"]);
}

#[tokio::test]
async fn every_request_of_1_0_names_the_version_and_who_asks() {
    let peer = Peer::agent(
        |own| card(own, false),
        |_| {
            result(&json!({ "message": {
        "messageId": "r", "role": "ROLE_AGENT", "parts": [{ "text": "hello" }],
    } }))
        },
    );
    assert_eq!(talk(&peer.remote()).await.unwrap(), ["replied hello"]);
    for heard in peer.heard() {
        assert_eq!(heard.header("a2a-version"), Some("1.0"), "{}", heard.head);
        assert_eq!(heard.header("user-agent"), Some("OpenFang/0.1 A2A"), "{}", heard.head);
    }
}

#[tokio::test]
async fn an_error_says_whether_the_message_may_have_arrived() {
    let cases = [
        (answer(500, "", b"oops"), Delivery::Unknown),
        (answer(502, "", b""), Delivery::Unknown),
        (answer(200, "content-type: application/json\r\n", b"{\"half\":"), Delivery::Unknown),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{".to_vec(), Delivery::Unknown),
        (answer(401, "", b""), Delivery::NotSent),
        (answer(429, "", b""), Delivery::NotSent),
        (error(-32_602, "no parts"), Delivery::Answered),
        (error(-32_603, "the model is down"), Delivery::Answered),
    ];
    for (said, expected) in cases {
        let shown = String::from_utf8_lossy(&said).into_owned();
        let peer = Peer::agent(|own| card(own, false), move |_| said.clone());
        let failed = peer.remote().send(message("hi")).await.unwrap_err();
        assert_eq!(failed.delivery(), expected, "{shown}: {failed}");
        assert_eq!(peer.methods(), ["SendMessage"], "{shown}");
    }
}

#[tokio::test]
async fn an_unknown_task_is_told_apart_from_other_errors() {
    let peer = Peer::agent(|own| card(own, false), |_| error(-32_001, "no such task"));
    let agent = peer.remote();
    assert!(matches!(agent.get_task(&name("x")).await, Err(ClientError::TaskNotFound)));
    assert!(matches!(agent.cancel(&name("x")).await, Err(ClientError::TaskNotFound)));
}

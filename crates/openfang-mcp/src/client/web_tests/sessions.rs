//! Sessions of the legacy era, and which revision gets which header.

use serde_json::{Value, json};

use super::peer::{Answer, Client, Heard, Peer, answer, asks, initialized, json_with, legacy, result};
use crate::client::ClientError;
use crate::revision::{Era, Revision};

fn client() -> Client {
    Client { only: Some(Era::Legacy), ..Client::default() }
}

/// A server with a session.
fn with_session(heard: &Heard, id: &str, rest: impl Fn(&Heard) -> Answer) -> Answer {
    match heard.method() {
        "initialize" => {
            let body = json!({"jsonrpc": "2.0", "id": heard.body["id"], "result": initialized("2025-11-25")});
            json_with(200, &format!("mcp-session-id: {id}\r\n"), &body)
        }
        "delete" => answer(204, "", ""),
        _ => legacy(heard, rest),
    }
}

#[tokio::test]
async fn a_session_is_named_in_every_request_and_ended_with_the_conversation() {
    let peer = Peer::new(|heard| with_session(heard, "s-1", |heard| result(heard, &json!({})))).await;
    let client = client();

    let connection = client.connect(&peer.url("/mcp")).await.unwrap();
    asks(&connection).await.unwrap();
    drop(connection);
    let goodbye = peer.hears("delete").await;

    assert_eq!(goodbye.header("mcp-session-id"), Some("s-1"));
    for heard in peer.heard() {
        let is_first = heard.method() == "initialize";
        assert_eq!(heard.header("mcp-session-id"), (!is_first).then_some("s-1"), "{heard:?}");
        assert_eq!(heard.header("mcp-protocol-version"), (!is_first).then_some("2025-11-25"), "{heard:?}");
        assert_eq!(heard.header("mcp-method"), None);
    }
    client.ends().await;
    assert_eq!(peer.methods().iter().filter(|method| *method == "delete").count(), 1);
}

#[tokio::test]
async fn closing_ends_the_session_and_whoever_waits_is_told() {
    let peer = Peer::new(|heard| with_session(heard, "s-1", |_| Answer::Held(Vec::new()))).await;
    let client = client();
    let connection = client.connect(&peer.url("/mcp")).await.unwrap();

    let closing = async {
        peer.hears("tools/list").await;
        connection.close("the test is over");
    };
    let (answer, ()) = tokio::join!(asks(&connection), closing);

    assert!(matches!(answer, Err(ClientError::Lost(_))), "{answer:?}");
    peer.hears("delete").await;
    drop(connection);
    client.ends().await;
}

#[tokio::test]
async fn a_session_that_the_server_forgot_is_gone_however_it_says_so() {
    let said: [fn() -> Answer; 4] = [
        || answer(404, "", ""),
        || {
            json_with(
                404,
                "",
                &json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32001, "message": "Session not found"}}),
            )
        },
        || {
            json_with(
                400,
                "",
                &json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "Bad Request: No valid session ID provided"}}),
            )
        },
        || answer(400, "content-type: text/plain\r\n", "Invalid or missing session ID"),
    ];
    for said in said {
        let peer = Peer::new(move |heard| with_session(heard, "s-1", |_| said())).await;
        let connection = client().connect(&peer.url("/mcp")).await.unwrap();

        let error = asks(&connection).await.unwrap_err();

        assert!(matches!(error, ClientError::SessionGone), "{error}");
    }
}

#[tokio::test]
async fn without_a_session_404_is_a_status() {
    let peer = Peer::new(|heard| legacy(heard, |_| answer(404, "", "not here"))).await;
    let connection = client().connect(&peer.url("/mcp")).await.unwrap();

    let error = asks(&connection).await.unwrap_err();

    assert!(matches!(&error, ClientError::Status { status: 404, said } if said == "not here"), "{error}");
}

#[tokio::test]
async fn the_id_of_a_session_must_be_visible_and_short() {
    for id in ["a b".to_owned(), "x".repeat(1_025), "\u{e9}".to_owned(), String::new()] {
        let peer = Peer::new(move |heard| with_session(heard, &id, |_| answer(404, "", ""))).await;

        let error = client().connect(&peer.url("/mcp")).await.err().unwrap();

        assert!(matches!(error, ClientError::NotMcp(_)), "{error}");
        assert_eq!(peer.methods(), ["initialize"]);
    }
}

#[tokio::test]
async fn an_old_server_never_sees_the_header_of_the_revision_and_may_answer_in_a_batch() {
    let peer = Peer::new(|heard| match heard.method() {
        "initialize" => result(heard, &initialized("2025-03-26")),
        _ => legacy(heard, |heard| {
            let told = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
            let answer = json!({"jsonrpc": "2.0", "id": heard.body["id"], "result": {"tools": []}});
            json_with(200, "", &Value::Array(vec![told, answer]))
        }),
    })
    .await;
    let connection = client().connect(&peer.url("/mcp")).await.unwrap();
    let mut notices = connection.notices();

    assert_eq!(asks(&connection).await.unwrap(), r#"{"tools":[]}"#);

    assert_eq!(connection.revision(), Revision::V2025_03_26);
    assert!(notices.try_recv().is_ok());
    assert!(peer.heard().iter().all(|heard| heard.header("mcp-protocol-version").is_none()));
}

#[tokio::test]
async fn the_id_of_a_session_is_not_shown_by_a_server_that_repeats_it() {
    let peer = Peer::new(|heard| with_session(heard, "sealed-7", |_| answer(500, "", "no luck with sealed-7"))).await;
    let connection = client().connect(&peer.url("/mcp")).await.unwrap();

    let error = asks(&connection).await.unwrap_err();

    assert_eq!(error.to_string(), "the server answered with status 500: no luck with [redacted]");
}

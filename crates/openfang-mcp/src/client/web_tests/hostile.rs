//! Servers that lie, break off, never stop or say too much.

use std::time::Duration;

use serde_json::{Value, json};

use super::peer::{
    Answer, Client, Heard, PATIENCE, Peer, answer, asks, event, initialized, json_with, legacy, modern, result, stream,
};
use crate::client::{ClientError, OutgoingRequest, RawMembers, Silent};
use crate::revision::Era;

/// What becomes of a request to a modern server that answers like this.
async fn asked(rest: impl Fn(&Heard) -> Answer + Send + Sync + 'static) -> Result<String, ClientError> {
    let peer = Peer::new(move |heard| modern(heard, &rest)).await;
    let connection = Client::default().connect(&peer.url("/mcp")).await.unwrap();
    tokio::time::timeout(PATIENCE, asks(&connection)).await.expect("the client hangs")
}

fn reply(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

#[tokio::test]
async fn what_is_not_mcp_is_named() {
    let page = asked(|_| answer(200, "content-type: Text/HTML; charset=utf-8\r\n", "<h1>hi</h1>"))
        .await
        .unwrap_err();
    let nothing = asked(|_| answer(200, "", "")).await.unwrap_err();
    let other = asked(|_| answer(200, "content-type: application/json\r\n", r#"{"hello":1}"#))
        .await
        .unwrap_err();

    assert!(matches!(&page, ClientError::NotMcp(why) if why.contains("Text/HTML")), "{page}");
    assert!(matches!(nothing, ClientError::NotMcp(_)), "{nothing}");
    assert!(matches!(other, ClientError::NotMcp(_)), "{other}");
}

#[tokio::test]
async fn the_type_of_an_answer_is_read_whatever_its_case_and_parameters() {
    let odd = |heard: &Heard| {
        let body = reply(&heard.body["id"], &json!({"a": 1})).to_string();
        answer(200, "content-type: Application/JSON;charset=UTF-8\r\n", body)
    };

    assert_eq!(asked(odd).await.unwrap(), r#"{"a":1}"#);
}

#[tokio::test]
async fn an_answer_cut_short_is_lost() {
    let cut = |_: &Heard| {
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 90\r\n\r\n{\"jsonrpc\":";
        Answer::Bytes(head.to_vec())
    };

    let error = asked(cut).await.unwrap_err();

    assert!(matches!(error, ClientError::Lost(_)), "{error}");
}

#[tokio::test]
async fn an_answer_to_something_else_is_none_and_of_two_the_first_counts() {
    let other = asked(|heard| {
        let other = heard.body["id"].as_i64().unwrap() + 1;
        json_with(200, "", &reply(&json!(other), &json!({})))
    });
    let two = asked(|heard| {
        let id = &heard.body["id"];
        Answer::Bytes(stream(&(event(&reply(id, &json!({"a": 1}))) + &event(&reply(id, &json!({"a": 2}))))))
    });

    let other = other.await.unwrap_err();
    assert!(matches!(other, ClientError::NotMcp(_)), "{other}");
    assert_eq!(two.await.unwrap(), r#"{"a":1}"#);
}

#[tokio::test]
async fn a_message_that_is_too_large_is_not_read_to_its_end() {
    let large = format!("{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{{\"a\":\"{}\"}}}}", "x".repeat(40 * 1024 * 1024));
    let (document, events) = (large.clone(), format!("data: {large}\n\n"));

    let whole = asked(move |_| answer(200, "content-type: application/json\r\n", &document))
        .await
        .unwrap_err();
    let unannounced = asked(move |_| {
        let head = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n\r\n".to_vec();
        Answer::Endless(head, vec![b'x'; 64 * 1024])
    });
    let unannounced = unannounced.await.unwrap_err();
    let streamed = asked(move |_| Answer::Bytes(stream(&events))).await.unwrap_err();

    for error in [whole, unannounced, streamed] {
        assert!(matches!(&error, ClientError::NotMcp(why) if why.contains("larger than")), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_never_stops_talking_is_left_when_the_time_is_over() {
    let line =
        event(&json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}));
    let ping = event(&json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}));
    for again in [line, ping, ": nothing\n\n".to_owned()] {
        for era in [Era::Modern, Era::Legacy] {
            let again = again.repeat(100).into_bytes();
            let endless = move |_: &Heard| Answer::Endless(stream(""), again.clone());
            let peer = Peer::new(move |heard| match (heard.method(), era) {
                ("post", _) => answer(202, "", ""),
                (_, Era::Modern) => modern(heard, &endless),
                (_, Era::Legacy) => legacy(heard, &endless),
            })
            .await;
            let client = Client { only: Some(era), ..Client::default() };
            let connection = client.connect(&peer.url("/mcp")).await.unwrap();

            let request = OutgoingRequest::new("tools/list", RawMembers::none(), Duration::from_millis(300));
            let asking = connection.request(request, &Silent);
            let error = tokio::time::timeout(PATIENCE, asking).await.expect("the client hangs").unwrap_err();

            assert!(matches!(error, ClientError::TimedOut(_)), "{error}");
            drop(connection);
            client.ends().await;
            peer.is_left_alone().await;
        }
    }
}

#[tokio::test]
async fn a_thousand_conversations_leave_no_task_and_no_connection() {
    let peer = Peer::new(|heard| match heard.method() {
        "initialize" => {
            let body = reply(&heard.body["id"], &initialized("2025-11-25"));
            json_with(200, "mcp-session-id: s-1\r\n", &body)
        }
        "get" => Answer::Held(stream(": hello\n\n")),
        "delete" => answer(204, "", ""),
        _ => legacy(heard, |heard| result(heard, &json!({}))),
    })
    .await;
    let client = Client { only: Some(Era::Legacy), ..Client::default() };

    for _ in 0..1_000 {
        drop(client.connect(&peer.url("/mcp")).await.unwrap());
    }

    client.ends().await;
    peer.is_left_alone().await;
    assert_eq!(peer.methods().iter().filter(|method| *method == "delete").count(), 1_000);
}

//! Answers that come as streams, and the stream that belongs to no request.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::peer::{Answer, Client, Heard, PATIENCE, Peer, answer, asks, event, legacy, modern, result, stream};
use crate::client::{ClientError, Notice};
use crate::revision::Era;

fn done(id: &Value) -> String {
    event(&json!({"jsonrpc": "2.0", "id": id, "result": {"tools": []}}))
}

#[tokio::test]
async fn a_broken_stream_is_taken_up_behind_the_last_event_that_was_seen() {
    let peer = Peer::new(|heard| match heard.method() {
        "get" if heard.header("last-event-id") == Some("e-7") => Answer::Bytes(stream(&done(&json!(2)))),
        _ => legacy(heard, |_| Answer::Bytes(stream("retry: 1\nid: e-7\ndata:\n\n"))),
    })
    .await;
    let connection = Client::default().connect(&peer.url("/mcp")).await.unwrap();

    assert_eq!(asks(&connection).await.unwrap(), r#"{"tools":[]}"#);
}

#[tokio::test]
async fn a_stream_that_brings_nothing_new_is_given_up() {
    let peer = Peer::new(|heard| match heard.method() {
        "get" if heard.header("last-event-id").is_some() => Answer::Bytes(stream("")),
        _ => legacy(heard, |_| Answer::Bytes(stream("retry: 1\nid: e-7\ndata:\n\n"))),
    })
    .await;
    let connection = Client::default().connect(&peer.url("/mcp")).await.unwrap();

    let error = asks(&connection).await.unwrap_err();

    assert!(matches!(error, ClientError::Lost(_)), "{error}");
    assert_eq!(peer.heard().iter().filter(|heard| heard.header("last-event-id").is_some()).count(), 5);
}

#[tokio::test]
async fn a_stream_without_ids_and_a_modern_one_are_lost_when_they_break() {
    let breaking: [fn(&Heard) -> Answer; 2] = [
        |heard| legacy(heard, |_| Answer::Bytes(stream("retry: 1\ndata:\n\n"))),
        |heard| modern(heard, |_| Answer::Bytes(stream("retry: 1\nid: e-7\ndata:\n\n"))),
    ];
    for breaking in breaking {
        let peer = Peer::new(breaking).await;
        let connection = Client::default().connect(&peer.url("/mcp")).await.unwrap();
        let before = peer.heard().len();

        let error = asks(&connection).await.unwrap_err();

        assert!(matches!(error, ClientError::Lost(_)), "{error}");
        assert_eq!(peer.heard().len(), before + 1);
    }
}

#[tokio::test]
async fn a_server_without_a_stream_of_its_own_is_asked_for_it_once() {
    let peer = Peer::new(|heard| legacy(heard, |heard| result(heard, &json!({})))).await;
    let client = Client::default();
    let connection = client.connect(&peer.url("/mcp")).await.unwrap();

    // Only the task that tells of abandoned requests is left, so nobody asks again.
    let settled = async {
        while client.tracker.len() > 1 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, settled).await.unwrap();
    asks(&connection).await.unwrap();

    assert_eq!(peer.methods().iter().filter(|method| *method == "get").count(), 1);
}

#[tokio::test]
async fn a_server_that_never_begins_its_stream_holds_nobody_up() {
    let peer = Peer::new(|heard| match heard.method() {
        "get" => Answer::Held(Vec::new()),
        _ => legacy(heard, |heard| result(heard, &json!({}))),
    })
    .await;
    let client = Client::default();

    let connection = client.connect(&peer.url("/mcp")).await.unwrap();
    asks(&connection).await.unwrap();

    drop(connection);
    client.ends().await;
    peer.is_left_alone().await;
}

#[tokio::test]
async fn the_stream_of_no_request_is_opened_again_where_it_broke() {
    let changed =
        |kind: &str| event(&json!({"jsonrpc": "2.0", "method": format!("notifications/{kind}/list_changed")}));
    let opened = AtomicUsize::new(0);
    let peer = Peer::new(move |heard| match (heard.method(), opened.load(Ordering::SeqCst)) {
        ("get", 0) => {
            opened.fetch_add(1, Ordering::SeqCst);
            Answer::Bytes(stream(&format!("id: e-1\n{}", changed("tools"))))
        }
        // Only when somebody listens.
        ("get", _) => Answer::Then(stream(""), "tools/list", changed("prompts").into_bytes()),
        _ => legacy(heard, |heard| result(heard, &json!({}))),
    })
    .await;
    let client = Client::default();

    let connection = client.connect(&peer.url("/mcp")).await.unwrap();
    let mut notices = connection.notices();
    asks(&connection).await.unwrap();
    let mut heard = Vec::new();
    while !heard.contains(&Notice::Prompts) {
        heard.push(tokio::time::timeout(PATIENCE, notices.recv()).await.unwrap().unwrap());
    }

    let again = peer.heard().into_iter().filter(|heard| heard.method() == "get").nth(1).unwrap();
    assert_eq!(again.header("last-event-id"), Some("e-1"));
    assert_eq!(again.header("accept"), Some("text/event-stream"));
    drop(connection);
    client.ends().await;
    peer.is_left_alone().await;
}

#[tokio::test]
async fn a_server_that_asks_on_the_stream_of_a_call_gets_its_answer_by_post() {
    let ping = event(&json!({"jsonrpc": "2.0", "id": "p-1", "method": "ping"}));
    let peer = Peer::new(move |heard| match heard.method() {
        "post" => answer(202, "", ""),
        _ => legacy(heard, |heard| Answer::Bytes(stream(&format!("{ping}{}", done(&heard.body["id"]))))),
    })
    .await;
    let client = Client::default();
    let connection = client.connect(&peer.url("/mcp")).await.unwrap();

    asks(&connection).await.unwrap();
    let pong = peer.hears("post").await;

    assert_eq!(pong.body, json!({"jsonrpc": "2.0", "id": "p-1", "result": {}}));
}

#[tokio::test]
async fn a_request_that_is_given_up_is_stopped_in_the_way_of_its_era() {
    for era in [Era::Modern, Era::Legacy] {
        let peer = Peer::new(move |heard| match era {
            Era::Modern => modern(heard, |_| Answer::Held(stream(""))),
            Era::Legacy => legacy(heard, |_| Answer::Held(stream(""))),
        })
        .await;
        let client = Client { only: Some(era), ..Client::default() };
        let connection = client.connect(&peer.url("/mcp")).await.unwrap();

        tokio::select! {
            answer = asks(&connection) => panic!("{answer:?}"),
            _ = peer.hears("tools/list") => {}
        }

        match era {
            Era::Modern => peer.is_left_alone().await,
            Era::Legacy => {
                let cancelled = peer.hears("notifications/cancelled").await;
                assert_eq!(cancelled.body["params"]["requestId"], 2);
            }
        }
        let told = peer.methods().iter().any(|method| method == "notifications/cancelled");
        assert_eq!(told, era == Era::Legacy);
    }
}

#[tokio::test]
async fn a_flood_before_the_answer_is_read_slowly_and_a_few_words_are_not() {
    let flooded = |count: usize| {
        let notice = event(&json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}));
        move |heard: &Heard| {
            legacy(heard, |heard| Answer::Bytes(stream(&(notice.repeat(count) + &done(&heard.body["id"])))))
        }
    };
    let took = async |count| {
        let peer = Peer::new(flooded(count)).await;
        let connection = Client::default().connect(&peer.url("/mcp")).await.unwrap();
        let begun = std::time::Instant::now();
        assert_eq!(asks(&connection).await.unwrap(), r#"{"tools":[]}"#);
        begun.elapsed()
    };

    assert!(took(1_000).await.as_millis() < 1_000);
    // Each counts for 4 KiB, and 32 MiB are free.
    assert!(took(10_000).await.as_millis() > 2_000);
}

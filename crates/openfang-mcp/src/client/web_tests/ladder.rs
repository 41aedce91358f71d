//! How a server is found out about.

use serde_json::{Value, json};

use super::peer::{
    Answer, Client, Heard, Peer, answer, asks, event, initialized, legacy, modern, refusal, result, stream,
};
use crate::client::ClientError;
use crate::revision::{Era, Revision};

/// Whatever a server that never heard of the modern era says to it.
fn misunderstandings() -> Vec<fn(&Heard) -> Answer> {
    vec![
        |heard| refusal(heard, 200, -32_601, &Value::Null),
        |heard| refusal(heard, 400, -32_000, &Value::Null),
        |heard| refusal(heard, 404, -32_601, &Value::Null),
        |heard| refusal(heard, 400, -32_022, &json!({"supported": ["2025-06-18"]})),
        |heard| result(heard, &json!({})),
        |_| answer(400, "content-type: text/plain\r\n", "Mcp-Session-Id header is required"),
        |_| answer(404, "", ""),
        |_| answer(405, "", ""),
        |_| answer(500, "content-type: text/html\r\n", "<h1>oops</h1>"),
        |_| answer(200, "content-type: text/html\r\n", "<h1>hello</h1>"),
        |_| answer(200, "content-type: application/json\r\n", "{}"),
        |_| answer(202, "", ""),
        |_| Answer::Bytes(stream("")),
        |_| Answer::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-type: application/json\r\n\r\n{".to_vec()),
    ]
}

#[tokio::test]
async fn a_legacy_server_is_understood_however_it_misunderstands_the_modern_question() {
    for (number, misunderstood) in misunderstandings().into_iter().enumerate() {
        let peer = Peer::new(move |heard| match heard.method() {
            "server/discover" => misunderstood(heard),
            _ => legacy(heard, |heard| result(heard, &json!({"tools": []}))),
        })
        .await;
        let client = Client::default();

        let connection = client
            .connect(&peer.url("/mcp"))
            .await
            .unwrap_or_else(|error| panic!("{number}: {error}"));

        assert_eq!(connection.revision(), Revision::V2025_11_25, "{number}");
        assert_eq!(asks(&connection).await.unwrap(), r#"{"tools":[]}"#, "{number}");
    }
}

#[tokio::test]
async fn a_server_that_is_silent_in_one_era_is_asked_in_the_other() {
    let peer = Peer::new(|heard| match heard.method() {
        "server/discover" => Answer::Held(Vec::new()),
        _ => legacy(heard, |heard| result(heard, &json!({}))),
    })
    .await;
    let client = Client::default();

    let connection = client.connect(&peer.url("/mcp")).await.unwrap();

    assert_eq!(connection.revision(), Revision::V2025_11_25);
    drop(connection);
    client.ends().await;
    peer.is_left_alone().await;
}

#[tokio::test]
async fn a_modern_server_is_asked_with_headers_that_say_what_the_body_says() {
    let peer = Peer::new(|heard| modern(heard, |heard| result(heard, &json!({"tools": []})))).await;
    let client = Client::default();

    let connection = client.connect(&peer.url("/mcp")).await.unwrap();
    asks(&connection).await.unwrap();

    assert_eq!(connection.revision(), Revision::V2026_07_28);
    assert_eq!(peer.methods(), ["server/discover", "tools/list"]);
    for (heard, method) in peer.heard().iter().zip(["server/discover", "tools/list"]) {
        assert_eq!(heard.header("mcp-method"), Some(method));
        assert_eq!(heard.header("mcp-protocol-version"), Some("2026-07-28"));
        assert_eq!(heard.header("accept"), Some("application/json, text/event-stream"));
        assert_eq!(heard.header("content-type"), Some("application/json"));
    }
}

#[tokio::test]
async fn a_modern_server_that_says_no_is_not_asked_in_the_legacy_way() {
    for (code, data) in
        [(-32_020, Value::Null), (-32_021, Value::Null), (-32_022, json!({"supported": ["2099-01-01"]}))]
    {
        let peer = Peer::new(move |heard| refusal(heard, 400, code, &data)).await;

        let error = Client::default().connect(&peer.url("/mcp")).await.err().unwrap();

        assert!(matches!(&error, ClientError::Refused(refused) if refused.code == code), "{error}");
        assert_eq!(peer.methods(), ["server/discover"]);
    }
}

#[tokio::test]
async fn a_server_that_refuses_a_version_and_names_ours_is_asked_once_more() {
    let peer = Peer::new(|heard| refusal(heard, 400, -32_022, &json!({"supported": ["2026-07-28"]}))).await;

    let error = Client::default().connect(&peer.url("/mcp")).await.err().unwrap();

    assert!(matches!(error, ClientError::Refused(_)), "{error}");
    assert_eq!(peer.methods(), ["server/discover", "server/discover"]);
}

#[tokio::test]
async fn a_server_that_wants_credentials_is_asked_once_and_the_user_is_told() {
    for status in [401, 403] {
        let peer =
            Peer::new(move |_| answer(status, "content-type: application/json\r\n", r#"{"error":"log in"}"#)).await;

        let error = Client::default().connect(&peer.url("/mcp")).await.err().unwrap();

        assert_eq!(error.to_string(), format!(r#"the server answered with status {status}: {{"error":"log in"}}"#));
        assert_eq!(peer.methods(), ["server/discover"]);
    }
}

#[tokio::test]
async fn what_a_server_asks_for_is_told_with_the_way_to_answer() {
    let head = "www-authenticate: Bearer realm=\"box\"\r\n";
    let peer = Peer::new(move |_| answer(401, head, "no")).await;

    let error = Client::default().connect(&peer.url("/mcp")).await.err().unwrap().to_string();

    assert!(error.contains("it wants a header Authorization (Bearer realm=\"box\")"), "{error}");
    assert!(error.contains("`openfang secret set NAME`"), "{error}");
}

#[tokio::test]
async fn a_server_that_is_down_is_reported_at_once() {
    let peer = Peer::new(|_| answer(200, "", "")).await;
    let url = peer.url("/mcp");
    drop(peer);
    let client = Client::default();

    let errors = [
        client.connect(&url).await.err().unwrap(),
        client.connect("http://no-such-host.invalid/").await.err().unwrap(),
    ];

    for error in errors {
        assert!(matches!(error, ClientError::NotSent(_)), "{error}");
    }
}

#[tokio::test]
async fn what_is_known_is_tried_first_and_what_is_excluded_never() {
    let speaks_both = |heard: &Heard| match heard.method() {
        "server/discover" => modern(heard, |_| answer(404, "", "")),
        _ => legacy(heard, |_| answer(404, "", "")),
    };
    for (only, known, first, revision) in [
        (None, Some(Era::Legacy), "initialize", Revision::V2025_11_25),
        (Some(Era::Legacy), None, "initialize", Revision::V2025_11_25),
        (None, Some(Era::Modern), "server/discover", Revision::V2026_07_28),
        (Some(Era::Modern), None, "server/discover", Revision::V2026_07_28),
    ] {
        let peer = Peer::new(speaks_both).await;
        let connection = Client { only, known, ..Client::default() }.connect(&peer.url("/mcp")).await.unwrap();
        assert_eq!((peer.methods()[0].as_str(), connection.revision()), (first, revision));
    }
    let peer = Peer::new(|heard| legacy(heard, |_| answer(404, "", ""))).await;
    assert!(
        Client { only: Some(Era::Modern), ..Client::default() }
            .connect(&peer.url("/mcp"))
            .await
            .is_err()
    );
    assert_eq!(peer.methods(), ["server/discover"]);
}

const MAILBOX: &str = "post /messages?key=1";

/// A server of 2024-11-05: its stream begins with where to post, and everything else comes on it too.
fn of_2024(heard: &Heard, endpoint: &str) -> Answer {
    let opening = stream(&format!(": hi\n\nevent: endpoint\ndata: {endpoint}\n\n"));
    let initialized = event(&json!({"jsonrpc": "2.0", "id": 1, "result": initialized("2024-11-05")}));
    match heard.line() {
        "get /sse" => Answer::Then(opening, MAILBOX, initialized.into_bytes()),
        MAILBOX => answer(202, "", ""),
        _ => answer(405, "", ""),
    }
}

#[tokio::test]
async fn a_server_of_2024_11_05_is_found_by_its_stream() {
    let peer = Peer::new(|heard| of_2024(heard, "/messages?key=1")).await;
    let client = Client::default();

    let connection = client.connect(&peer.url("/sse")).await.unwrap();

    assert_eq!(connection.revision(), Revision::V2024_11_05);
    let lines: Vec<String> = peer.heard().iter().map(|heard| heard.line().to_owned()).collect();
    assert_eq!(lines, ["post /sse", "post /sse", "get /sse", MAILBOX, MAILBOX]);
    drop(connection);
    client.ends().await;
    peer.is_left_alone().await;
}

#[tokio::test]
async fn a_stream_that_names_another_server_is_not_believed() {
    let other = Peer::new(|_| answer(202, "", "")).await;
    let elsewhere = other.url("/messages");
    let peer = Peer::new(move |heard| of_2024(heard, &elsewhere)).await;
    let client = Client::default();

    let error = client.connect(&peer.url("/sse")).await.err().unwrap();

    assert!(matches!(&error, ClientError::NotMcp(why) if why.contains("another server")), "{error}");
    assert!(other.heard().is_empty());
    client.ends().await;
    peer.is_left_alone().await;
}

//! What the suite takes on trust: that the answer came from the tool, that bytes are the very bytes, that a foreign
//! page is refused with the right status, and what becomes of a tool that ends its connection.

use openfang_testkit::mcp_fixture;
use serde_json::json;

use super::talk::{LEGACY, MODERN, Talk, request};

fn revisions() -> impl Iterator<Item = &'static str> {
    LEGACY.into_iter().chain([MODERN])
}

#[tokio::test]
async fn a_simple_tool_answers_with_its_text_and_not_with_an_error_that_looks_like_one() {
    let fixture = mcp_fixture::start().await;
    for revision in revisions() {
        let result = Talk::begin(&fixture, revision, &json!({})).await.call("test_simple_text").await;

        let text = json!([{ "type": "text", "text": "This is a simple text response for testing." }]);
        assert_eq!(result["content"], text, "{revision}");
        assert_eq!(result.get("isError"), None, "{revision}");
    }
}

#[tokio::test]
async fn a_tool_that_fails_says_so_itself_and_a_tool_that_is_not_there_is_a_protocol_error() {
    let fixture = mcp_fixture::start().await;
    for revision in revisions() {
        let talk = Talk::begin(&fixture, revision, &json!({})).await;
        let result = talk.call("test_error_handling").await;

        let text = json!([{ "type": "text", "text": "This tool intentionally returns an error for testing" }]);
        assert_eq!((&result["content"], &result["isError"]), (&text, &json!(true)), "{revision}");
        let missing = talk.ask("tools/call", json!({ "name": "test_nothing" })).await;
        assert_eq!((missing.status, &missing.json()["error"]["code"]), (200, &json!(-32_602)), "{revision}");
    }
}

#[tokio::test]
async fn a_schema_is_listed_byte_for_byte_in_every_revision() {
    let fixture = mcp_fixture::start().await;
    for revision in revisions() {
        let listed = Talk::begin(&fixture, revision, &json!({})).await.ask("tools/list", json!({})).await;

        let beginning = r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"#;
        let end = r#""weight":{"type":"number","maximum":1.50}},"allOf":[{"anyOf":"#;
        assert!(listed.body.contains(beginning) && listed.body.contains(end), "{revision}: {}", listed.body);
    }
}

#[tokio::test]
async fn who_names_another_host_or_comes_from_another_page_is_forbidden() {
    let fixture = mcp_fixture::start().await;
    let port = fixture.address.port();
    let (here, page) = (format!("localhost:{port}"), format!("http://127.0.0.1:{port}"));
    let rows = [
        (here.as_str(), None, 200),
        ("localhost", None, 200),
        (here.as_str(), Some(page.as_str()), 200),
        ("evil.example.com", None, 403),
        ("localhost.evil.example.com", None, 403),
        (here.as_str(), Some("http://evil.example.com"), 403),
        (here.as_str(), Some("https://localhost"), 403),
        (here.as_str(), Some("null"), 403),
    ];
    for (host, origin, status) in rows {
        let mut client = fixture.client().with("host", host);
        if let Some(origin) = origin {
            client = client.with("origin", origin);
        }
        for path in ["/mcp", "/messages?sessionId=x"] {
            let answer = client.post(path, &request("initialize", &json!({}))).await;
            let status = if path == "/mcp" || status == 403 { status } else { 404 };
            assert_eq!(answer.status, status, "{host} {origin:?} {path}");
        }
    }
}

#[tokio::test]
async fn a_tool_that_ends_its_connection_is_answered_at_once_where_nobody_could_come_back() {
    let fixture = mcp_fixture::start().await;
    for revision in revisions().filter(|revision| *revision != "2025-11-25") {
        let talk = Talk::begin(&fixture, revision, &json!({})).await;
        let messages = talk.stream("tools/call", json!({ "name": "test_reconnection" })).await;

        assert_eq!(messages.len(), 1, "{revision}");
        let text = &messages[0]["result"]["content"][0]["text"];
        assert_eq!(text, "Whoever reads this came back for it.", "{revision}");
    }
}

#[tokio::test]
async fn a_stream_that_was_cut_is_resumed_where_it_stood_however_often() {
    let fixture = mcp_fixture::start().await;
    let talk = Talk::begin(&fixture, "2025-11-25", &json!({})).await;
    let call = request("tools/call", &json!({ "name": "test_reconnection" })).to_string();

    let mut cut = talk.client.stream("POST", "/mcp", Some(&call)).await;
    let mut place = None;
    while let Some(line) = cut.next().await {
        assert!(!line.starts_with("data: {"), "the answer came on the stream that was to end: {line}");
        place = line.strip_prefix("id: ").map(str::to_owned).or(place);
    }
    let place = place.expect("a stream that is cut names the place to resume from");

    for _ in 0..2 {
        let client = talk.client.clone().with("last-event-id", &place);
        let events = client.stream("GET", "/mcp", None).await.events().await;
        let (_, id, message) = &events[0];
        assert_eq!((events.len(), &message["id"]), (1, &json!(7)));
        assert_ne!(id, &place);
    }
}

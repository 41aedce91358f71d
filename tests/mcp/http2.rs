//! HTTP/2 as raw frames: a reader that gives no room holds up nobody but itself.

use openfang_testkit::{TestHome, TestServer};
use serde_json::{Value, json};

use super::wire::{MODERN, modern, request};
use crate::support::frames::{Http2, Window};

#[tokio::test]
async fn work_goes_on_for_a_reader_that_gives_no_room() {
    let steps = "[[rules]]\nsteps = [{ chunk = \"a\" }, { delay_ms = 100 }, { chunk = \"b\" }, { delay_ms = 100 }, { chunk = \"c\" }]\n";
    let home = TestHome::new().with_script("slow", &[], steps);
    let server = TestServer::start(home.boot_with(crate::http::any_port()).start().unwrap()).await;
    let params =
        json!({"name": "openfang_agent_slow", "arguments": {"message": "go"}, "_meta": {"progressToken": "p"}});
    let body = request(1, "tools/call", modern(params, json!({}))).to_string();
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", MODERN),
        ("mcp-method", "tools/call"),
        ("mcp-name", "openfang_agent_slow"),
    ];

    let mut peer = Http2::open(server.address, Window::Shut).await;
    peer.ask(1, "/mcp", &headers, Some(&body)).await;

    let client = server.client();
    let states = async || {
        let tasks = client.get("/api/tasks").await.json()["tasks"].as_array().cloned().unwrap_or_default();
        tasks.iter().map(|task| task["status"]["state"].clone()).collect::<Vec<Value>>()
    };
    while states().await != ["completed"] {
        tokio::task::yield_now().await;
    }
    assert!(peer.next().await.is_some(), "the connection is still open");
    drop(peer);
    server.stop().await;
}

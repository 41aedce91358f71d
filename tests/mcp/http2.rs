//! HTTP/2 as raw frames: a reader that gives no room holds up nobody but itself.

use openfang_testkit::http::raw;
use openfang_testkit::{TestHome, TestServer};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;

use super::wire::{MODERN, modern, request};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const STREAM: u32 = 1;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// Settings that leave no room for bodies of answers.
fn no_window() -> Vec<u8> {
    frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0])
}

/// Each header by itself, in plain text.
fn headers(list: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in list {
        block.push(0);
        for text in [name, value] {
            block.push(u8::try_from(text.len()).ok().filter(|length| *length < 127).unwrap());
            block.extend(text.as_bytes());
        }
    }
    frame(HEADERS, END_HEADERS, STREAM, &block)
}

#[tokio::test]
async fn work_goes_on_for_a_reader_that_gives_no_room() {
    let steps = "[[rules]]\nsteps = [{ chunk = \"a\" }, { delay_ms = 100 }, { chunk = \"b\" }, { delay_ms = 100 }, { chunk = \"c\" }]\n";
    let home = TestHome::new().with_script("slow", &[], steps);
    let server = TestServer::start(home.boot_with(crate::http::any_port()).start().unwrap()).await;
    let params =
        json!({"name": "openfang_agent_slow", "arguments": {"message": "go"}, "_meta": {"progressToken": "p"}});
    let body = request(1, "tools/call", modern(params, json!({}))).to_string();
    let authority = server.address.to_string();
    let head = headers(&[
        (":method", "POST"),
        (":scheme", "http"),
        (":path", "/mcp"),
        (":authority", &authority),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", MODERN),
        ("mcp-method", "tools/call"),
        ("mcp-name", "openfang_agent_slow"),
    ]);
    let asked = [PREFACE.to_vec(), no_window(), head, frame(DATA, END_STREAM, STREAM, body.as_bytes())].concat();

    let mut stream = raw(server.address, &asked).await;

    let client = server.client();
    let states = async || {
        let tasks = client.get("/api/tasks").await.json()["tasks"].as_array().cloned().unwrap_or_default();
        tasks.iter().map(|task| task["status"]["state"].clone()).collect::<Vec<Value>>()
    };
    while states().await != ["completed"] {
        tokio::task::yield_now().await;
    }
    assert!(stream.read(&mut [0; 64]).await.unwrap() > 0, "the connection is still open");
    drop(stream);
    server.stop().await;
}

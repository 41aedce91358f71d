//! Floods of requests that the server must refuse: calls without a grant, in batches, and unknown sessions.

use anyhow::Result;
use serde_json::{Value, json};

use super::{Running, many};
use crate::soak::client::{Client, HOSTILE, Request};
use crate::soak::stage::Target;

const CLIENTS: usize = 4;
const BATCH: usize = 100;

/// Batches of refused calls: each call is an audit row.
pub(super) async fn refusals(target: Target) -> Result<Running> {
    let call = |id: usize| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "file_write", "arguments": {}}});
    target.tallies.expect(&["refused batches"]);
    let batch = Value::from((0..BATCH).map(call).collect::<Vec<_>>()).to_string();
    let headers = "accept: application/json, text/event-stream\r\nmcp-protocol-version: 2025-03-26\r\n";
    Ok(Box::pin(many(CLIENTS, move |_| {
        let tally = target.tallies.part("refused batches");
        post_for_ever(target.clone(), headers, batch.clone(), move |status| tally.add_if(status == 200))
    })))
}

/// Requests in sessions that do not exist.
pub(super) async fn unknown_ids(target: Target) -> Result<Running> {
    target.tallies.expect(&["requests in unknown sessions"]);
    let body = json!({"jsonrpc": "2.0", "id": 1, "result": {}}).to_string();
    let headers = "accept: application/json, text/event-stream\r\nmcp-session-id: nobody-has-this\r\n";
    Ok(Box::pin(many(CLIENTS, move |_| {
        let tally = target.tallies.part("requests in unknown sessions");
        post_for_ever(target.clone(), headers, body.clone(), move |status| tally.add_if(status == 404))
    })))
}

async fn post_for_ever(target: Target, headers: &'static str, body: String, count: impl Fn(u16)) {
    let mut client = Client::new(&target.address, HOSTILE);
    loop {
        let request = Request { what: "POST /mcp", key: &target.key, headers, body: body.as_bytes() };
        if let Ok((status, _)) = client.exchange(&request).await {
            count(status);
        }
    }
}

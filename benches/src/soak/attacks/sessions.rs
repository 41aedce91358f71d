//! More legacy sessions and event streams than one user should have, each with subscriptions to long addresses.

use anyhow::Result;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{Running, many};
use crate::soak::client::{Client, HOSTILE, Request, dial};
use crate::soak::stage::Target;

const CLIENTS: usize = 4;
const STREAMS: usize = 300;
const URI_BYTES: usize = 4 * 1024 * 1024;
const LEGACY: &str = "accept: application/json, text/event-stream\r\n";

pub(super) async fn prepare(target: Target) -> Result<Running> {
    let streams = target.clone();
    let sessions = many(CLIENTS, move |_| open_for_ever(target.clone()));
    let streams = many(STREAMS, move |_| listen_for_ever(streams.clone()));
    Ok(Box::pin(async move {
        tokio::join!(sessions, streams);
    }))
}

async fn open_for_ever(target: Target) {
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}})
    .to_string();
    let uri = format!("openfang://tasks/{}", "x".repeat(URI_BYTES));
    let subscribe =
        json!({"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": {"uri": uri}}).to_string();
    let mut client = Client::new(&target.address, HOSTILE);
    for number in 0_u64.. {
        // Most sessions are only opened; what each of them could hold is tried now and then.
        let body = if number % 50 == 0 { &subscribe } else { &initialize };
        let request = Request { what: "POST /mcp", key: &target.key, headers: LEGACY, body: body.as_bytes() };
        let _ = client.exchange(&request).await;
    }
}

/// Holds an event stream of the oldest transport open, and opens it again when it ends.
async fn listen_for_ever(target: Target) {
    let request = Request { what: "GET /sse", key: &target.key, headers: "accept: text/event-stream\r\n", body: b"" };
    let request = request.bytes(&target.address);
    loop {
        let Ok(mut stream) = dial(&target.address, HOSTILE).await else {
            tokio::task::yield_now().await;
            continue;
        };
        if stream.write_all(&request).await.is_ok() {
            let mut read = [0; 1024];
            while stream.read(&mut read).await.is_ok_and(|length| length > 0) {}
        }
    }
}

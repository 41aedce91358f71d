//! More legacy sessions and event streams than one user should have, each with subscriptions to long URIs.

use anyhow::Result;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{Running, many};
use crate::soak::client::{Client, HOSTILE, Request, dial};
use crate::soak::stage::Target;

const CLIENTS: usize = 4;
const STREAMS: usize = 300;
const URI_BYTES: [usize; 5] = [64, 512, 4 * 1024, 64 * 1024, 4 * 1024 * 1024];
const STREAM: &str = "streams at /sse";
const LEGACY: &str = "accept: application/json, text/event-stream\r\n";

pub(super) async fn prepare(target: Target) -> Result<Running> {
    target.tallies.expect(&["sessions", "subscriptions", STREAM]);
    let streams = target.clone();
    let sessions = many(CLIENTS, move |_| open_for_ever(target.clone()));
    let streams = many(STREAMS, move |_| listen_for_ever(streams.clone()));
    Ok(Box::pin(async move {
        tokio::join!(sessions, streams);
    }))
}

async fn open_for_ever(target: Target) {
    let (sessions, subscriptions) = (target.tallies.part("sessions"), target.tallies.part("subscriptions"));
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}})
    .to_string();
    let mut client = Client::new(&target.address, HOSTILE);
    for number in 0_u64.. {
        let request = Request { what: "POST /mcp", key: &target.key, headers: LEGACY, body: initialize.as_bytes() };
        let Ok((200, head, _)) = client.exchange_headed(&request).await else { continue };
        sessions.add();
        // Most sessions are only opened. Now and then one is filled as far as possible.
        if number % 50 == 0
            && let Some(session) = session_id(&head)
        {
            subscriptions.add_if(subscribe(&mut client, &target, &session).await);
        }
    }
}

fn session_id(head: &[u8]) -> Option<String> {
    let head = std::str::from_utf8(head).ok()?;
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    let id = fields.into_iter().find(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id"));
    id.map(|(_, id)| id.trim().to_owned())
}

/// Subscribes to URIs of many lengths. Returns whether one of them was accepted.
async fn subscribe(client: &mut Client, target: &Target, session: &str) -> bool {
    let headers = format!("{LEGACY}mcp-protocol-version: 2025-11-25\r\nmcp-session-id: {session}\r\n");
    let mut is_taken = false;
    for length in URI_BYTES {
        let uri = format!("openfang://tasks/{}", "x".repeat(length));
        let body =
            json!({"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": {"uri": uri}}).to_string();
        let request = Request { what: "POST /mcp", key: &target.key, headers: &headers, body: body.as_bytes() };
        let outcome = client.exchange_patiently(&request).await;
        is_taken |=
            outcome.is_ok_and(|(status, body)| status == 200 && body.windows(8).any(|part| part == b"\"result\""));
    }
    is_taken
}

/// Keeps an event stream of the oldest transport open, and reopens it when it ends.
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
            if let Ok(length @ 1..) = stream.read(&mut read).await {
                target.tallies.part(STREAM).add_if(read[..length].starts_with(b"HTTP/1.1 200"));
            }
            while stream.read(&mut read).await.is_ok_and(|length| length > 0) {}
        }
    }
}

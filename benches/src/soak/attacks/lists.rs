//! Creates large tasks, then requests every kind of list that could load them, several at a time.

use anyhow::{Result, bail};
use serde_json::json;

use super::{Running, many};
use crate::soak::client::{Client, HOSTILE, Request};
use crate::soak::stage::Target;

/// The number of tasks and the text of each: together a few hundred megabytes in the store.
const TASKS: usize = 24;
pub(super) const TEXT_BYTES: usize = 8 * 1024 * 1024;
const READERS: usize = 8;

const LEGACY: &str = "accept: application/json, text/event-stream\r\nmcp-protocol-version: 2025-11-25\r\n";
const LISTS: [(&str, &str, &str); 4] = [
    ("POST /mcp", LEGACY, r#"{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{}}"#),
    (
        "POST /mcp",
        LEGACY,
        r#"{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"openfang://tasks/{id}"},"argument":{"name":"id","value":""}}}"#,
    ),
    ("GET /api/tasks?pageSize=100", "", ""),
    (
        "POST /a2a",
        "a2a-version: 1.0\r\n",
        r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"pageSize":100,"includeArtifacts":true}}"#,
    ),
];

/// The names of the lists, in the same order.
const PARTS: [&str; LISTS.len()] = ["lists of resources", "completions", "lists of tasks", "lists of tasks over A2A"];

pub(super) async fn prepare(target: Target) -> Result<Running> {
    target.tallies.expect(&PARTS);
    let mut client = Client::new(&target.address, HOSTILE);
    for _ in 0..TASKS {
        large_task(&mut client, &target).await?;
    }
    Ok(Box::pin(many(READERS, move |number| read_for_ever(target.clone(), number))))
}

/// Creates a task with a large message.
pub(super) async fn large_task(client: &mut Client, target: &Target) -> Result<Vec<u8>> {
    let body = json!({"text": "x".repeat(TEXT_BYTES)}).to_string();
    let request =
        Request { what: "POST /api/agents/starter/message", key: &target.key, headers: "", body: body.as_bytes() };
    let (status, answer) = client.exchange_patiently(&request).await?;
    if status != 200 {
        bail!("a large message answered {status}: {}", String::from_utf8_lossy(&answer[..answer.len().min(200)]));
    }
    Ok(answer.to_vec())
}

async fn read_for_ever(target: Target, number: usize) {
    let tally = target.tallies.part(PARTS[number % LISTS.len()]);
    let (what, headers, body) = LISTS[number % LISTS.len()];
    let mut client = Client::new(&target.address, HOSTILE);
    loop {
        let request = Request { what, key: &target.key, headers, body: body.as_bytes() };
        tally.add_if(matches!(client.exchange(&request).await, Ok((200, _))));
    }
}

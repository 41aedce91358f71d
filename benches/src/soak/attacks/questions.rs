//! Calls of a server that asks for input. Some callers never answer, and each of their calls holds a conversation.
//! Others answer immediately, and each answer uses up a request state.

use anyhow::Result;
use serde_json::{Value, json};

use super::{Running, many};
use crate::soak::client::{Client, HOSTILE, Request};
use crate::soak::stage::Target;

const CALLERS: usize = 32;
const HEADERS: &str = "accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
                       mcp-method: tools/call\r\nmcp-name: ask\r\n";
const QUESTIONS: &str = "questions";
const STATES: &str = "request states";

pub(super) async fn prepare(target: Target) -> Result<Running> {
    target.tallies.expect(&[QUESTIONS, STATES]);
    Ok(Box::pin(many(CALLERS, move |number| call_for_ever(target.clone(), number % 2 == 0))))
}

async fn call_for_ever(target: Target, answers: bool) {
    let (questions, states) = (target.tallies.part(QUESTIONS), target.tallies.part(STATES));
    let mut client = Client::new(&target.address, HOSTILE);
    loop {
        let asked = call(&mut client, &target, None).await.unwrap_or_default();
        let Some(state) = asked["result"]["requestState"].as_str() else {
            tokio::task::yield_now().await;
            continue;
        };
        questions.add();
        if answers {
            let done = call(&mut client, &target, Some((state, &asked["result"]["inputRequests"]))).await;
            states.add_if(done.is_ok_and(|done| done["result"]["resultType"] == "complete"));
        }
    }
}

/// Calls the tool or continues a call. Returns the state and its questions.
async fn call(client: &mut Client, target: &Target, goes_on: Option<(&str, &Value)>) -> Result<Value> {
    let mut params = json!({"name": "ask", "arguments": {}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "soak", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}});
    if let Some((state, questions)) = goes_on {
        params["requestState"] = json!(state);
        let names = questions.as_object().into_iter().flat_map(serde_json::Map::keys);
        for name in names {
            params["inputResponses"][name] = json!({"action": "accept", "content": {}});
        }
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let request =
        Request { what: "POST /mcp/servers/asking", key: &target.key, headers: HEADERS, body: body.as_bytes() };
    let (_, answer) = client.exchange_patiently(&request).await?;
    Ok(serde_json::from_slice(&answer)?)
}

//! Attacks by tool calls: to a server with extremely expensive schemas, to one that floods its output, and to an agent
//! that writes one small file after the other.

use anyhow::Result;
use serde_json::{Value, json};

use super::{Running, many};
use crate::soak::client::{Client, HOSTILE, Request};
use crate::soak::hostile_server::nested_value;
use crate::soak::stage::Target;
use crate::soak::tally::Tally;

const CALLERS: usize = 4;

pub(super) async fn schemas(target: Target) -> Result<Running> {
    let tally = target.tallies.part("calls with endless schemas");
    Ok(Box::pin(many(CALLERS, move |number| {
        let (tool, arguments) = match number % 2 {
            0 => ("mcp_schemas_chain", json!({"a": "b"})),
            _ => ("mcp_schemas_nested", nested_value()),
        };
        call_for_ever(target.clone(), tool, arguments, tally.clone())
    })))
}

pub(super) async fn noise(target: Target) -> Result<Running> {
    let tally = target.tallies.part("calls that make noise");
    Ok(Box::pin(call_for_ever(target, "mcp_noise_shout", json!({}), tally)))
}

pub(super) async fn files(target: Target) -> Result<Running> {
    target.tallies.expect(&["files"]);
    Ok(Box::pin(many(CALLERS, move |writer| write_for_ever(target.clone(), writer))))
}

async fn call_for_ever(target: Target, tool: &'static str, arguments: Value, tally: Tally) {
    let what = format!("POST /api/tools/{tool}");
    let body = json!({"arguments": arguments}).to_string();
    let mut client = Client::new(&target.address, HOSTILE);
    loop {
        let request = Request { what: &what, key: &target.key, headers: "", body: body.as_bytes() };
        // An immediate refusal must not turn this attack into a busy loop: it is about the cost of a call.
        match client.exchange(&request).await {
            // The tool was called, or its arguments were checked.
            Ok((200 | 400 | 422, _)) => tally.add(),
            Ok(_) | Err(_) => tokio::task::yield_now().await,
        }
    }
}

async fn write_for_ever(target: Target, writer: usize) {
    let tally = target.tallies.part("files");
    let mut client = Client::new(&target.address, HOSTILE);
    for number in 0_u64.. {
        let arguments = json!({"path": format!("{writer}-{number}.txt"), "content": "small"});
        let body = json!({"parts": [{"data": {"tool": "file_write", "arguments": arguments}}]}).to_string();
        let request =
            Request { what: "POST /api/agents/clerk/message", key: &target.key, headers: "", body: body.as_bytes() };
        tally.add_if(matches!(client.exchange(&request).await, Ok((200, _))));
    }
}

//! Large bodies that grow further when they are parsed.

use std::rc::Rc;

use anyhow::Result;

use super::{Running, many};
use crate::soak::client::{Client, HOSTILE, Request};
use crate::soak::stage::Target;

const CLIENTS: usize = 4;
/// Just below the size limit of a body.
const ARRAYS: usize = 3 * 1024 * 1024;

pub(super) async fn prepare(target: Target) -> Result<Running> {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"get_greeting","arguments":{{"name":[{}[]]}}}}}}"#,
        "[],".repeat(ARRAYS)
    );
    let body = Rc::new(body);
    target.tallies.expect(&["large bodies"]);
    Ok(Box::pin(many(CLIENTS, move |_| post_for_ever(target.clone(), Rc::clone(&body)))))
}

async fn post_for_ever(target: Target, body: Rc<String>) {
    let headers = "accept: application/json, text/event-stream\r\nmcp-protocol-version: 2025-11-25\r\n";
    let tally = target.tallies.part("large bodies");
    let mut client = Client::new(&target.address, HOSTILE);
    loop {
        let request = Request { what: "POST /mcp", key: &target.key, headers, body: body.as_bytes() };
        let outcome = client.exchange(&request).await;
        tally.add_if(matches!(outcome, Ok((200 | 400 | 413 | 429 | 503, _))));
    }
}

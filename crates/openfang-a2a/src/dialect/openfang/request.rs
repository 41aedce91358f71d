//! Requests of OpenFang's own dialect on their way out.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{A2aMessage, A2aPart};
use crate::dialect::Dialect;
use crate::dialect::request::{HttpCall, WriteError, Written, segment};
use crate::dialect::v01::SendRequest;
use crate::dialect::write::{Nothing, some_members};
use crate::operation::{Operation, Request, When};

pub(in crate::dialect) fn http_call(request: &Request) -> Written<HttpCall> {
    let operation = Dialect::OpenFang.without_tenant(request)?;
    match operation {
        Operation::Send(sending) if sending.answer != When::Streaming => {
            let A2aMessage { role, parts } = A2aMessage::from(&sending.message);
            let message = MessageOut { role, parts, metadata: some_members(&sending.message.metadata) };
            HttpCall::post("tasks/send".to_owned(), &Envelope::new(SendRequest::new(sending, message)))
        }
        Operation::Get { task, .. } => Ok(HttpCall::get(format!("tasks/{}", segment(task.as_str())?))),
        Operation::Cancel { task } => HttpCall::post(format!("tasks/{}/cancel", segment(task.as_str())?), &Nothing {}),
        Operation::Send(_)
        | Operation::List(_)
        | Operation::Subscribe { .. }
        | Operation::SetPush { .. }
        | Operation::GetPush { .. }
        | Operation::ListPush { .. }
        | Operation::DeletePush { .. }
        | Operation::ExtendedCard => Err(WriteError::NoOperation(Dialect::OpenFang, operation.method())),
    }
}

/// The envelope that this dialect's first servers want around a message, although the answer has none.
#[derive(Serialize)]
struct Envelope<P> {
    jsonrpc: &'static str,
    id: u8,
    method: &'static str,
    params: P,
}

impl<P> Envelope<P> {
    const fn new(params: P) -> Self {
        Self { jsonrpc: "2.0", id: 1, method: "tasks/send", params }
    }
}

#[derive(Serialize)]
struct MessageOut<'a> {
    role: String,
    parts: Vec<A2aPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Map<String, Value>>,
}

//! Writes requests of OpenFang's own dialect.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{A2aMessage, A2aPart};
use crate::dialect::Dialect;
use crate::dialect::request::{HttpCall, WriteError, WriteResult, segment};
use crate::dialect::v01::SendRequest;
use crate::dialect::write::{EmptyObject, some_members};
use crate::operation::{Operation, ReplyMode, Request};

pub(in crate::dialect) fn http_call(request: &Request) -> WriteResult<HttpCall> {
    let operation = Dialect::OpenFang.without_tenant(request)?;
    match operation {
        Operation::Send(sending) if sending.answer != ReplyMode::Streaming => {
            let A2aMessage { role, parts } = A2aMessage::from(&sending.message);
            let message = MessageOut { role, parts, metadata: some_members(&sending.message.metadata) };
            HttpCall::post("tasks/send".to_owned(), &Envelope::new(SendRequest::new(sending, message)))
        }
        Operation::Get { task, .. } => Ok(HttpCall::get(format!("tasks/{}", segment(task.as_str())?))),
        Operation::Cancel { task } => {
            HttpCall::post(format!("tasks/{}/cancel", segment(task.as_str())?), &EmptyObject {})
        }
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

/// The envelope around a message. The first servers of this dialect require it, although their answers have none.
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

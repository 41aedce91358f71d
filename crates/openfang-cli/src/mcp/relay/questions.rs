//! Questions of a server to the client: each link counts its own, so those of a later link get a name that no earlier one
//! gave. An answer to a link that is gone is dropped.

use bytes::Bytes;
use openfang_mcp::relaying::ClientFrame;
use openfang_types::jsonrpc::{Id, IdRule, Incoming, decode, encode_error, encode_request, encode_result};
use serde::Deserialize;
use serde_json::value::RawValue;

/// What a frame of a server is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ServerFrame {
    /// The answer to a request of the client.
    Answer,
    /// A question to the client, by the id that the client sees.
    Question(Id),
    /// That a subscription has begun, by the id of its request.
    Acknowledged(Id),
    /// Progress, a log line, a change.
    Told,
}

/// What a frame of a server is, and the frame as the client is to see it.
pub(super) fn read(generation: u32, frame: Bytes) -> (ServerFrame, Bytes) {
    match decode(&frame, IdRule::Mcp) {
        Ok(Incoming::Request { id: Id::Number(number), method, params }) if generation > 0 => {
            let id = named(generation, number);
            let renamed = encode_request(&id, &method, params);
            (ServerFrame::Question(id), renamed.into())
        }
        Ok(Incoming::Request { id, .. }) => (ServerFrame::Question(id), frame),
        Ok(Incoming::Notification { method, params }) => {
            let kind = acknowledged(&method, params).map_or(ServerFrame::Told, ServerFrame::Acknowledged);
            (kind, frame)
        }
        Ok(Incoming::Response { .. }) | Err(_) => (ServerFrame::Answer, frame),
    }
}

/// The request whose subscription has begun, if that is what is told.
fn acknowledged(method: &str, params: Option<&RawValue>) -> Option<Id> {
    #[derive(Deserialize)]
    struct Params {
        #[serde(rename = "_meta")]
        meta: Meta,
    }
    #[derive(Deserialize)]
    struct Meta {
        #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
        id: Id,
    }
    let params = params.filter(|_| method == "notifications/subscriptions/acknowledged")?;
    serde_json::from_str::<Params>(params.get()).ok().map(|params| params.meta.id)
}

/// The frame of a client as the server is to see it; none where it answers a server that is gone.
pub(super) fn answered(generation: u32, kind: ClientFrame, frame: Bytes) -> Option<Bytes> {
    let ClientFrame::Reply(id) = kind else { return Some(frame) };
    if generation == 0 {
        return Some(frame);
    }
    let number = number_of(generation, &id)?;
    match decode(&frame, IdRule::Mcp) {
        Ok(Incoming::Response { outcome: Ok(result), .. }) => Some(encode_result(&number, result).into()),
        Ok(Incoming::Response { outcome: Err(error), .. }) => Some(encode_error(Some(&number), &error).into()),
        Ok(_) | Err(_) => None,
    }
}

fn named(generation: u32, number: i64) -> Id {
    Id::String(format!("openfang-{generation}-{number}"))
}

fn number_of(generation: u32, id: &Id) -> Option<Id> {
    let Id::String(text) = id else { return None };
    let number = text.strip_prefix("openfang-")?.strip_prefix(&generation.to_string())?.strip_prefix('-')?;
    number.parse().ok().map(Id::Number)
}

#[cfg(test)]
#[path = "questions_tests.rs"]
mod tests;

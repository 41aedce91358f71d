//! Messages into frames of one line each, without the line break that ends a line on stdio.

use serde::Serialize;
use serde_json::value::RawValue;

use super::{ErrorObject, Id};

const VERSION: &str = "2.0";
/// Room for most results, so that they are not moved while they are written.
const RESULT_BYTES: usize = 1024;

/// A response with a result. A result that cannot be written as JSON is our fault and becomes an internal error.
pub fn encode_result<T: Serialize + ?Sized>(id: &Id, result: &T) -> Vec<u8> {
    #[derive(Serialize)]
    struct Frame<'a, T: ?Sized> {
        jsonrpc: &'static str,
        id: &'a Id,
        result: &'a T,
    }

    let mut bytes = Vec::with_capacity(RESULT_BYTES);
    match serde_json::to_writer(&mut bytes, &Frame { jsonrpc: VERSION, id, result }) {
        Ok(()) => one_line(bytes),
        Err(_) => encode_error(Some(id), &ErrorObject::internal_error()),
    }
}

/// A response with an error; without an id it carries `null`, as JSON-RPC wants it.
pub fn encode_error(id: Option<&Id>, error: &ErrorObject) -> Vec<u8> {
    #[derive(Serialize)]
    struct Frame<'a> {
        jsonrpc: &'static str,
        id: Option<&'a Id>,
        error: &'a ErrorObject,
    }

    envelope(&Frame { jsonrpc: VERSION, id, error })
}

pub fn encode_request(id: &Id, method: &str, params: Option<&RawValue>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Frame<'a> {
        jsonrpc: &'static str,
        id: &'a Id,
        method: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        params: Option<&'a RawValue>,
    }

    envelope(&Frame { jsonrpc: VERSION, id, method, params })
}

pub fn encode_notification(method: &str, params: Option<&RawValue>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Frame<'a> {
        jsonrpc: &'static str,
        method: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        params: Option<&'a RawValue>,
    }

    envelope(&Frame { jsonrpc: VERSION, method, params })
}

#[expect(clippy::expect_used, reason = "the frames above hold nothing whose serialisation can fail")]
fn envelope(frame: &impl Serialize) -> Vec<u8> {
    one_line(serde_json::to_vec(frame).expect("strings, integers and raw values always serialise"))
}

/// A raw value keeps the whitespace its sender wrote. Line breaks stand between tokens only (within strings JSON wants
/// them escaped), and left there they would let a peer's `params` end our line and start a message of its own.
pub fn one_line(mut frame: Vec<u8>) -> Vec<u8> {
    for byte in &mut frame {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    frame
}

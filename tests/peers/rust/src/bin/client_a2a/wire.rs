//! Requests are written as JSON and read by the SDK's own types; answers go the other way.

use a2a::A2AError;
use a2a_client::{A2AClient, BoxStream, Transport};
use futures_util::StreamExt as _;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::normal;

const MAX_EVENTS: usize = 1000;

pub(crate) type Client = A2AClient<Box<dyn Transport>>;
/// What came back, or the error that the SDK gave.
pub(crate) type Done = Result<Value, Value>;

pub(crate) fn sending<T: DeserializeOwned>(parts: Value, of: Value, blocking: bool) -> Result<T, Value> {
    let nanos = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default()
        .as_nanos();
    let mut message = json!({"messageId": format!("rust-{nanos}"), "role": "ROLE_USER", "parts": parts});
    message
        .as_object_mut()
        .into_iter()
        .zip(of.as_object())
        .for_each(|(message, of)| message.extend(of.clone()));
    request(json!({"message": message, "configuration": {"returnImmediately": !blocking}}))
}

pub(crate) async fn sent(client: &Client, parts: Value, of: Value, blocking: bool) -> Done {
    let sending = sending(parts, of, blocking)?;
    let answer = answer(client.send_message(&sending).await)?;
    Ok(match answer.get("task") {
        Some(task) => normal::task(task),
        None => normal::message(&answer["message"]),
    })
}

pub(crate) async fn next(
    events: &mut BoxStream<'_, Result<a2a::StreamResponse, A2AError>>,
) -> Result<Option<Value>, Value> {
    match events.next().await {
        Some(event) => Ok(Some(normal::event(&answer(event)?))),
        None => Ok(None),
    }
}

pub(crate) fn bounded(heard: &[Value]) -> Result<(), Value> {
    match heard.len() < MAX_EVENTS {
        true => Ok(()),
        false => Err(json!({"name": "endless", "message": "the stream does not end"})),
    }
}

/// What an operation that must not work says.
pub(crate) fn refused(done: Done) -> Value {
    match done {
        Ok(answer) => json!({"refused": null, "answer": answer}),
        Err(error) => json!({ "refused": error }),
    }
}

pub(crate) fn request<T: DeserializeOwned>(json: Value) -> Result<T, Value> {
    serde_json::from_value(json).map_err(|error| json!({"name": "request", "message": error.to_string()}))
}

pub(crate) fn plain<T: Serialize>(value: &T) -> Done {
    serde_json::to_value(value).map_err(|error| json!({"name": "answer", "message": error.to_string()}))
}

pub(crate) fn answer<T: Serialize>(answer: Result<T, A2AError>) -> Done {
    plain(&answer.map_err(fault)?)
}

pub(crate) fn fault(error: A2AError) -> Value {
    json!({"name": "A2AError", "message": error.message, "code": error.code})
}

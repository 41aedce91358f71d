//! Headers of the modern era that repeat what the body says, for proxies that do not read bodies. They must agree:
//! whoever decides by the header must have decided about what is carried out.

use std::borrow::Cow;

use http::{HeaderMap, HeaderName};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Number, Value};

use super::super::Request;
use super::PROTOCOL_VERSION;
use crate::error::McpError;
use crate::header_text::{METHOD, NAME, decoded, param};
use crate::listing::MirroredParam;
use crate::meta::Meta;

/// Holds the version in the header against the one in the body, before anybody asks whether we speak either.
pub(super) fn version_agrees(headers: &HeaderMap, meta: &Meta) -> Result<(), McpError> {
    expect(headers, &PROTOCOL_VERSION, meta.protocol_version.as_deref())
}

/// Holds the other headers of a modern request against its body.
pub(super) fn agree<C>(headers: &HeaderMap, request: &Request<C>) -> Result<(), McpError> {
    expect(headers, &METHOD, Some(&request.method))?;
    match &request.named.task_id {
        // Clients that know tasks do not all repeat which one they mean. What is said must be right.
        Some(_) if request.method.starts_with("tasks/") && !headers.contains_key(&NAME) => Ok(()),
        _ => expect(headers, &NAME, named(request)),
    }
}

/// Holds `Mcp-Param-*` against the arguments, for a tool whose schema asks for them.
pub(super) fn params_agree(
    headers: &HeaderMap,
    mirrored: &[MirroredParam],
    params: Option<&RawValue>,
) -> Result<(), McpError> {
    #[derive(Deserialize)]
    struct Params {
        #[serde(default)]
        arguments: Value,
    }
    if mirrored.is_empty() {
        return Ok(());
    }
    let arguments = params.and_then(|raw| serde_json::from_str::<Params>(raw.get()).ok());
    let arguments = arguments.map(|params| params.arguments).unwrap_or_default();
    for mirrored in mirrored {
        let Some(header) = param(&mirrored.header) else { continue };
        let said = one(headers, &header)?;
        let value = mirrored.value_in(&arguments);
        if !same(said.as_deref(), value) {
            return Err(mismatch(&header));
        }
    }
    Ok(())
}

fn named<C>(request: &Request<C>) -> Option<&str> {
    match request.method.as_str() {
        "tools/call" | "prompts/get" => request.named.name.as_deref(),
        "resources/read" => request.named.uri.as_deref(),
        "tasks/get" | "tasks/update" | "tasks/cancel" => request.named.task_id.as_deref(),
        _ => None,
    }
}

fn expect(headers: &HeaderMap, name: &HeaderName, body: Option<&str>) -> Result<(), McpError> {
    match (one(headers, name)?, body) {
        (Some(said), Some(body)) if said == body => Ok(()),
        // A name where the method has none says nothing that could be wrong.
        (_, None) => Ok(()),
        (Some(_) | None, Some(_)) => Err(mismatch(name)),
    }
}

/// The header's value, decoded; twice is a mismatch.
fn one<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<Cow<'h, str>>, McpError> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(mismatch(name));
    }
    let text = value.to_str().map_err(|_| mismatch(name))?;
    decoded(text.trim_matches([' ', '\t'])).map(Some).ok_or_else(|| mismatch(name))
}

/// A header must be absent where the value is, and say the same where it is not.
fn same(said: Option<&str>, value: &Value) -> bool {
    match (said, value) {
        (None, Value::Null) => true,
        (Some(said), Value::String(text)) => said == text,
        (Some(said), Value::Bool(is_true)) => said == if *is_true { "true" } else { "false" },
        (Some(said), Value::Number(number)) => same_number(said, number),
        (None | Some(_), _) => false,
    }
}

/// By value, and exactly: two large integers may be one and the same to a float.
fn same_number(said: &str, number: &Number) -> bool {
    let whole = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    match (said.parse::<i128>(), whole) {
        (Ok(said), Some(number)) => said == number,
        (Ok(_) | Err(_), _) => said.parse().is_ok_and(|said: f64| number.as_f64() == Some(said)),
    }
}

fn mismatch(name: &HeaderName) -> McpError {
    McpError::HeaderMismatch(format!("the header {name} and the body do not agree"))
}

#[cfg(test)]
#[path = "headers_tests.rs"]
mod tests;

//! A minimal HTTP/1.1 client that costs little: a request as a single block of bytes, and the head of a response with a
//! `Content-Length`. Chunked responses are refused, because nothing measured here has one.

use anyhow::{Context, Result, bail};

use crate::scenarios::{API_KEY, Scenario};

/// A longer head is not from our server.
const MAX_HEAD_BYTES: usize = 16 * 1024;

/// What the head of a response says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    /// The length of the head.
    pub(crate) len: usize,
    pub(crate) content_length: usize,
}

/// The bytes of a scenario's request.
pub(crate) fn request(scenario: &Scenario<'_>, address: &str) -> Vec<u8> {
    let Scenario { method, path, headers, body, .. } = scenario;
    with_body(&format!("{method} {path}"), headers, body, address)
}

/// The bytes of a POST with a JSON body.
pub(crate) fn post(path: &str, headers: &str, body: &str, address: &str) -> Vec<u8> {
    with_body(&format!("POST {path}"), headers, body, address)
}

fn with_body(what: &str, headers: &str, body: &str, address: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "{what} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {API_KEY}\r\n\
         content-type: application/json\r\n{headers}content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// The bytes of a plain GET.
pub(crate) fn get(path: &str, address: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {API_KEY}\r\n\r\n").into_bytes()
}

/// Status and length of the response at the start of `bytes`: `(status, head, content length)`. `None` while the head
/// is incomplete.
pub(crate) fn scan(bytes: &[u8]) -> Result<Option<(u16, usize, usize)>> {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        if bytes.len() > MAX_HEAD_BYTES {
            bail!("a response head of more than {MAX_HEAD_BYTES} bytes");
        }
        return Ok(None);
    };
    let status = bytes
        .get(9..12)
        .and_then(|digits| std::str::from_utf8(digits).ok())
        .and_then(|digits| digits.parse().ok());
    let status = status.filter(|_| bytes.starts_with(b"HTTP/1.1 ")).context("not an HTTP/1.1 response")?;
    let mut length = None;
    for line in bytes[..end].split(|byte| *byte == b'\n').skip(1) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        if line[..colon].eq_ignore_ascii_case(b"content-length") {
            length = std::str::from_utf8(&line[colon + 1..]).ok().and_then(|value| value.trim().parse().ok());
        }
    }
    let length = length.context("a response without Content-Length")?;
    Ok(Some((status, end + 4, length)))
}

/// The whole head, for the one response that is recorded for the floor.
pub(crate) fn head(bytes: &[u8]) -> Result<Option<Head>> {
    let Some((status, len, content_length)) = scan(bytes)? else { return Ok(None) };
    let text = std::str::from_utf8(&bytes[..len]).context("a response head that is not UTF-8")?;
    let fields = text.lines().skip(1).filter_map(|line| line.split_once(':'));
    let headers = fields.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
    Ok(Some(Head { status, headers, len, content_length }))
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;

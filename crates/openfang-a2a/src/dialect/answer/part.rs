//! Reads parts from peers: by the member that is present, by `kind` or by `type`, flat or with a nested file.

use openfang_types::task::{Part, PartBody};
use serde_json::Value;

use super::members::MemberReader;
use crate::dialect::Dialect;
use crate::dialect::read::{ReadResult, bytes_of, under, unwrapped, whole_numbers};
use crate::error::A2aError;

/// The parts of a message or an artifact: a list, a single part, or a text.
pub(super) fn list(dialect: Dialect, members: &mut MemberReader) -> ReadResult<Vec<Part>> {
    let values = match members.take(&["parts", "content"]) {
        None => return Ok(Vec::new()),
        Some(Value::Array(values)) => values,
        Some(Value::String(text)) => return Ok(vec![Part::text(text)]),
        Some(value @ Value::Object(_)) => vec![value],
        Some(_) => return Err(A2aError::invalid("parts", "it must be a list")),
    };
    let read =
        |(at, value): (usize, Value)| read(dialect, value).map_err(|error| under(&format!("parts[{at}]"))(error));
    values.into_iter().enumerate().map(read).collect()
}

fn read(dialect: Dialect, value: Value) -> ReadResult<Part> {
    let mut members = MemberReader::of(value)?;
    let kind = members
        .get(&["kind", "type"])
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_ascii_lowercase();
    let mut file = MemberReader::from(serde_json::Map::new());
    let body = match kind.as_str() {
        "data" => data(&mut members, true),
        "file" => filed(&mut members, &mut file)?,
        _ => None,
    };
    let body = match body {
        Some(body) => Some(body),
        None => anything(&mut members, &mut file)?,
    };
    let Some(body) = body else {
        // An unknown kind of part is kept whole, as data.
        return Ok(Part::data(Value::Object(members.rest())));
    };
    let names = &["filename", "fileName", "name"];
    let types = &["mediaType", "media_type", "mimeType", "mime_type"];
    let filename = file.text(names).or_else(|| members.text(names)).map(Into::into);
    let media_type = file.text(types).or_else(|| members.text(types));
    let mut metadata = members.metadata();
    let body = match body {
        PartBody::Data(value) => PartBody::Data(whole_numbers(plain(dialect, value, &mut metadata))),
        body @ (PartBody::Text(_) | PartBody::Raw(_) | PartBody::Url(_)) => body,
    };
    Ok(Part { body, filename, media_type, metadata })
}

fn anything(members: &mut MemberReader, file: &mut MemberReader) -> ReadResult<Option<PartBody>> {
    match members.take(&["text"]) {
        Some(Value::String(text)) => return Ok(Some(PartBody::Text(text))),
        Some(_) => return Err(A2aError::invalid("text", "it must be a string")),
        None => {}
    }
    match filed(members, file)? {
        Some(body) => Ok(Some(body)),
        None => Ok(data(members, false)),
    }
}

/// The data of a part. Null counts as data if the part declares it, or if the part has no other content.
fn data(members: &mut MemberReader, is_said: bool) -> Option<PartBody> {
    let is_there = is_said || members.has(&["data"]) || !members.has(&["kind", "type"]);
    members.take_any("data").filter(|_| is_there).map(PartBody::Data)
}

/// The bytes or the URL of a file. `file` holds the members that describe it.
fn filed(members: &mut MemberReader, file: &mut MemberReader) -> ReadResult<Option<PartBody>> {
    if let Some(inner) = members.object(&["file"]) {
        *file = inner;
    }
    let kind = members.get(&["kind", "type"]).and_then(Value::as_str).unwrap_or_default();
    let is_flat = kind.eq_ignore_ascii_case("file");
    let flat: &[&str] = if is_flat { &["raw", "bytes", "data"] } else { &["raw"] };
    let bytes = file
        .take(&["bytes", "fileWithBytes", "file_with_bytes", "raw", "data"])
        .or_else(|| members.take(flat));
    if let Some(bytes) = bytes {
        let Value::String(bytes) = bytes else { return Err(A2aError::invalid("file", "its bytes must be base64")) };
        return Ok(Some(PartBody::Raw(bytes_of("file", &bytes)?)));
    }
    let uri = file
        .text(&["uri", "fileWithUri", "file_with_uri", "url"])
        .or_else(|| members.text(&["url", "uri"]));
    Ok(uri.map(PartBody::Url))
}

/// The original value: some dialects can write only objects, and one of them wraps even those.
fn plain(dialect: Dialect, value: Value, metadata: &mut serde_json::Map<String, Value>) -> Value {
    let value = match value {
        Value::Object(mut outer) if dialect == Dialect::V03Proto && outer.len() == 1 => match outer.remove("data") {
            Some(inner @ Value::Object(_)) => inner,
            Some(other) => Value::Object(serde_json::Map::from_iter([("data".to_owned(), other)])),
            None => Value::Object(outer),
        },
        value => value,
    };
    match (dialect, value) {
        (Dialect::V01 | Dialect::V03 | Dialect::V03Proto, Value::Object(members)) => unwrapped(members, metadata),
        (_, value) => value,
    }
}

//! Reads parts of versions before 1.0: a `kind` or `type`, with the file or the data nested. Parts of OpenFang's
//! dialect are flat.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use openfang_types::task::{Part, PartBody};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::message::PartIn;
use super::{Metadata, Object, ReadResult, filled};
use crate::dialect::write::WRAPPED;
use crate::error::A2aError;

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// Base64 in either alphabet, padded or not.
pub(in crate::dialect) fn bytes_of(field: &str, text: &str) -> ReadResult<Vec<u8>> {
    let engine = if text.contains(['-', '_']) { URL_SAFE } else { STANDARD };
    engine
        .decode(text)
        .map_err(|_| A2aError::invalid(field, format!("`{field}` must be base64")))
}

/// A part of 0.1 to 0.3, whose data is an object.
#[derive(Deserialize)]
#[serde(transparent)]
pub(in crate::dialect) struct LegacyPart(PartMembers);

/// A part of OpenFang's dialect, whose data is any value.
#[derive(Deserialize)]
#[serde(transparent)]
pub(in crate::dialect) struct OpenFangPart(PartMembers);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PartMembers {
    #[serde(alias = "type")]
    kind: Option<String>,
    text: Option<String>,
    file: Option<Object<FileIn>>,
    #[serde(default, deserialize_with = "any")]
    data: Option<Value>,
    name: Option<String>,
    #[serde(alias = "mime_type")]
    mime_type: Option<String>,
    metadata: Option<Metadata>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct FileIn {
    name: Option<String>,
    #[serde(alias = "mime_type")]
    mime_type: Option<String>,
    bytes: Option<String>,
    uri: Option<String>,
}

/// Tells `"data": null` apart from an absent member.
pub(in crate::dialect) fn any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl PartIn for OpenFangPart {
    fn read(self) -> ReadResult<Part> {
        self.0.read()
    }
}

impl PartIn for LegacyPart {
    fn read(self) -> ReadResult<Part> {
        let mut part = self.0.read()?;
        part.body = match part.body {
            PartBody::Data(Value::Object(members)) => PartBody::Data(unwrapped(members, &mut part.metadata)),
            PartBody::Data(_) => return Err(A2aError::invalid("data", "`data` must be an object")),
            body @ (PartBody::Text(_) | PartBody::Raw(_) | PartBody::Url(_)) => body,
        };
        Ok(part)
    }
}

/// The largest integer up to which a double is exact.
const WHOLE_UP_TO: f64 = 9_007_199_254_740_992.0;

/// Turns whole doubles into integers. Protocol buffers have only doubles and their SDKs write 3 as 3.0, but a tool may
/// require an integer.
pub(in crate::dialect) fn whole_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => match number.as_f64() {
            #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
            Some(double) if double.fract() == 0.0 && double.abs() <= WHOLE_UP_TO => Value::from(double as i64),
            Some(_) | None => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(whole_numbers).collect(),
        Value::Object(members) => members.into_iter().map(|(key, held)| (key, whole_numbers(held))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

/// Undoes the wrapping that the SDKs apply to data that is not an object; see [`WRAPPED`].
pub(in crate::dialect) fn unwrapped(mut members: Map<String, Value>, metadata: &mut Map<String, Value>) -> Value {
    let marked = metadata.remove(WRAPPED).is_some_and(|mark| mark == Value::Bool(true));
    match members.remove("value") {
        Some(value) if marked => value,
        Some(value) => {
            members.insert("value".to_owned(), value);
            Value::Object(members)
        }
        None => Value::Object(members),
    }
}

enum Body {
    Text(String),
    File(FileIn),
    FlatFile(String),
    Data(Value),
}

impl PartMembers {
    /// The single body, which must match the stated kind.
    fn body(&mut self) -> ReadResult<Body> {
        let says_data = self.kind.as_deref() == Some("data");
        let data = self.data.take().filter(|value| says_data || !value.is_null());
        let body = match (self.text.take(), self.file.take(), data) {
            (Some(text), None, None) => Body::Text(text),
            (None, Some(Object(file)), None) => Body::File(file),
            (None, None, Some(Value::String(bytes))) if self.kind.as_deref() == Some("file") => Body::FlatFile(bytes),
            (None, None, Some(value)) => Body::Data(value),
            (None, None, None) => return Err(A2aError::invalid("", "a part needs one of `text`, `file`, `data`")),
            _ => return Err(A2aError::invalid("", "a part has only one of `text`, `file`, `data`")),
        };
        match (self.kind.as_deref(), &body) {
            (None | Some("text"), Body::Text(_)) | (None | Some("file"), Body::File(_)) => Ok(body),
            (Some("file"), Body::FlatFile(_)) | (None | Some("data"), Body::Data(_)) => Ok(body),
            (Some("text" | "file" | "data"), _) => {
                Err(A2aError::invalid("kind", "the kind of the part does not match its content"))
            }
            (_, _) => Err(A2aError::invalid("kind", "a part is text, file or data")),
        }
    }

    fn read(mut self) -> ReadResult<Part> {
        let body = match self.body()? {
            Body::Text(text) => PartBody::Text(text),
            Body::File(file) => {
                self.name = file.name.or(self.name);
                self.mime_type = file.mime_type.or(self.mime_type);
                file_body("file", file.bytes, file.uri)?
            }
            Body::FlatFile(bytes) => PartBody::Raw(bytes_of("data", &bytes)?),
            Body::Data(value) => PartBody::Data(value),
        };
        Ok(Part {
            body,
            filename: filled(self.name).map(Into::into),
            media_type: filled(self.mime_type),
            metadata: self.metadata.unwrap_or_default().0,
        })
    }
}

/// The body of a file part: its bytes or its URL.
pub(in crate::dialect) fn file_body(at: &str, bytes: Option<String>, uri: Option<String>) -> ReadResult<PartBody> {
    match (bytes, filled(uri)) {
        (Some(bytes), None) => Ok(PartBody::Raw(bytes_of(at, &bytes)?)),
        (None, Some(uri)) => Ok(PartBody::Url(uri)),
        (None, None) => Err(A2aError::invalid(at, "a file needs its bytes or its uri")),
        (Some(_), Some(_)) => Err(A2aError::invalid(at, "a file has its bytes or its uri, not both")),
    }
}

//! A part of a message or artifact. In JSON the member that is present says what it is: `text`, `raw`, `url` or `data`.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::FileName;

/// One piece of content.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    pub body: PartBody,
    pub filename: Option<FileName>,
    /// What the content is.
    pub media_type: Option<String>,
    /// Free data of the sender.
    pub metadata: Map<String, Value>,
}

/// The member of a part's metadata that says how far something is.
const PROGRESS: &str = "openfang/progress";

/// The content of a part.
#[derive(Debug, Clone, PartialEq)]
pub enum PartBody {
    Text(String),
    /// Bytes; base64 in JSON.
    Raw(Vec<u8>),
    /// Where the content is. It is not fetched by us.
    Url(String),
    Data(Value),
}

impl Part {
    pub fn new(body: PartBody) -> Self {
        Self { body, filename: None, media_type: None, metadata: Map::new() }
    }

    /// A text that says how far something is. What it says is not a step of the work.
    pub fn progress(text: impl Into<String>, progress: Option<f64>, total: Option<f64>) -> Self {
        let mut part = Self::text(text);
        part.metadata
            .insert(PROGRESS.to_owned(), serde_json::json!({ "progress": progress, "total": total }));
        part
    }

    /// Whether it says how far something is.
    pub fn is_progress(&self) -> bool {
        self.metadata.contains_key(PROGRESS)
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::new(PartBody::Text(text.into()))
    }

    pub fn data(value: Value) -> Self {
        Self::new(PartBody::Data(value))
    }

    /// A file with its bytes.
    pub fn file(bytes: Vec<u8>, filename: Option<FileName>, media_type: Option<String>) -> Self {
        Self { body: PartBody::Raw(bytes), filename, media_type, metadata: Map::new() }
    }

    /// The text, if it is text.
    pub fn as_text(&self) -> Option<&str> {
        match &self.body {
            PartBody::Text(text) => Some(text),
            PartBody::Raw(_) | PartBody::Url(_) | PartBody::Data(_) => None,
        }
    }

    /// About how many bytes it holds.
    pub fn size(&self) -> usize {
        match &self.body {
            PartBody::Text(text) | PartBody::Url(text) => text.len(),
            PartBody::Raw(bytes) => bytes.len(),
            PartBody::Data(value) => value.to_string().len(),
        }
    }

    /// The value, if it is data.
    pub fn as_data(&self) -> Option<&Value> {
        match &self.body {
            PartBody::Data(value) => Some(value),
            PartBody::Text(_) | PartBody::Raw(_) | PartBody::Url(_) => None,
        }
    }
}

/// A piece of content: one of `text`, `raw`, `url` and `data`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
struct PartMembers {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    data: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<FileName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    metadata: Map<String, Value>,
}

/// `"data": null` is a data part whose value is null, not an absent one.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl JsonSchema for Part {
    fn schema_name() -> Cow<'static, str> {
        "Part".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        PartMembers::json_schema(generator)
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut members = PartMembers {
            filename: self.filename.clone(),
            media_type: self.media_type.clone(),
            metadata: self.metadata.clone(),
            ..PartMembers::default()
        };
        match &self.body {
            PartBody::Text(text) => members.text = Some(text.clone()),
            PartBody::Raw(bytes) => members.raw = Some(STANDARD.encode(bytes)),
            PartBody::Url(url) => members.url = Some(url.clone()),
            PartBody::Data(value) => members.data = Some(value.clone()),
        }
        members.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let members = PartMembers::deserialize(from)?;
        let mut bodies = Vec::new();
        bodies.extend(members.text.map(PartBody::Text));
        if let Some(raw) = members.raw {
            let bytes = STANDARD.decode(&raw).map_err(|_| D::Error::custom("`raw` must be base64"))?;
            bodies.push(PartBody::Raw(bytes));
        }
        bodies.extend(members.url.map(PartBody::Url));
        bodies.extend(members.data.map(PartBody::Data));
        if bodies.len() > 1 {
            return Err(D::Error::custom("a part has more than one of `text`, `raw`, `url`, `data`"));
        }
        let body = bodies
            .pop()
            .ok_or_else(|| D::Error::custom("a part needs one of `text`, `raw`, `url`, `data`"))?;
        Ok(Self { body, filename: members.filename, media_type: members.media_type, metadata: members.metadata })
    }
}

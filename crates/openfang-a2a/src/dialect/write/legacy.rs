//! Shared by 0.1 to 0.3: parts with a kind, and the state history.

use openfang_types::task::{Part, PartBody, TaskState, Transition};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::{Base64, Each, TimestampOut};

/// Marks data that was wrapped because it was not an object. The official SDKs use the same mark.
pub(in crate::dialect) const WRAPPED: &str = "data_part_compat";

/// Whether the task has ended or waits for input.
pub(in crate::dialect) const fn is_final(state: TaskState) -> bool {
    state.is_terminal() || state.is_interrupted()
}

/// The past states of a task, written into its metadata. The cards of these versions declare `stateTransitionHistory`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::dialect) struct StatusHistory<'a> {
    status_history: Each<'a, Transition, fn(TaskState) -> &'static str, TransitionOut>,
}

#[derive(Serialize)]
struct TransitionOut {
    state: &'static str,
    timestamp: TimestampOut,
}

impl<'a> StatusHistory<'a> {
    /// None if no transition is known.
    pub(in crate::dialect) fn new(past: &'a [Transition], word: fn(TaskState) -> &'static str) -> Option<Self> {
        let write = |past: &'a Transition, word: fn(TaskState) -> &'static str| TransitionOut {
            state: word(past.state),
            timestamp: TimestampOut(past.at),
        };
        (!past.is_empty()).then(|| Self { status_history: Each::new(past, word, write) })
    }
}

/// A part of 0.1 to 0.3.
#[derive(Serialize, Default)]
pub(in crate::dialect) struct PartOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    of_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<FileOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<DataOut<'a>>,
    #[serde(skip_serializing_if = "MetadataOut::is_empty")]
    metadata: MetadataOut<'a>,
}

impl<'a> PartOut<'a> {
    /// Writes the kind as `kind` (0.2 and 0.3).
    pub(in crate::dialect) fn by_kind(part: &'a Part, (): ()) -> Self {
        Self { kind: Some(kind(part)), ..Self::body(part) }
    }

    pub(in crate::dialect) fn by_type(part: &'a Part, (): ()) -> Self {
        Self { of_type: Some(kind(part)), ..Self::body(part) }
    }

    fn body(part: &'a Part) -> Self {
        let metadata = MetadataOut::of(part);
        match &part.body {
            PartBody::Text(text) => Self { text: Some(text), metadata, ..Self::default() },
            PartBody::Raw(bytes) => {
                let file = FileOut { bytes: Some(Base64(bytes)), ..FileOut::new(part) };
                Self { file: Some(file), metadata, ..Self::default() }
            }
            PartBody::Url(uri) => {
                let file = FileOut { uri: Some(uri), ..FileOut::new(part) };
                Self { file: Some(file), metadata, ..Self::default() }
            }
            PartBody::Data(value) => Self { data: Some(DataOut(value)), metadata, ..Self::default() },
        }
    }
}

const fn kind(part: &Part) -> &'static str {
    match &part.body {
        PartBody::Text(_) => "text",
        PartBody::Raw(_) | PartBody::Url(_) => "file",
        PartBody::Data(_) => "data",
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<Base64<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'a str>,
}

impl<'a> FileOut<'a> {
    fn new(part: &'a Part) -> Self {
        Self { name: part.filename.as_deref(), mime_type: part.media_type.as_deref(), bytes: None, uri: None }
    }
}

/// Data, which must be an object here. Any other value is wrapped in one.
pub(in crate::dialect) struct DataOut<'a>(pub(in crate::dialect) &'a Value);

impl Serialize for DataOut<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.0.is_object() {
            return self.0.serialize(to);
        }
        let mut wrapped = to.serialize_map(Some(1))?;
        wrapped.serialize_entry("value", self.0)?;
        wrapped.end()
    }
}

/// The metadata of a part, with the mark for wrapped data.
#[derive(Default)]
pub(in crate::dialect) struct MetadataOut<'a> {
    given: Option<&'a Map<String, Value>>,
    wrapped: bool,
}

impl<'a> MetadataOut<'a> {
    pub(in crate::dialect) fn of(part: &'a Part) -> Self {
        let wrapped = part.as_data().is_some_and(|value| !value.is_object());
        Self { given: super::some_members(&part.metadata), wrapped }
    }

    pub(in crate::dialect) const fn is_empty(&self) -> bool {
        self.given.is_none() && !self.wrapped
    }
}

impl Serialize for MetadataOut<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut members = to.serialize_map(None)?;
        let given = self
            .given
            .into_iter()
            .flatten()
            .filter(|(key, _)| !(self.wrapped && key.as_str() == WRAPPED));
        for (key, value) in given {
            members.serialize_entry(key, value)?;
        }
        if self.wrapped {
            members.serialize_entry(WRAPPED, &true)?;
        }
        members.end()
    }
}

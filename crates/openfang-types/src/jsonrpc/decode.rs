//! Frames into messages: one, or a batch of them.

use std::borrow::Cow;
use std::fmt;

use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{ErrorObject, Fault, Id, IdRule, Incoming, RpcError};
use crate::scan::{scan_list, scan_text};

/// Reads one message. An array is refused: only who asked [`is_batch`] may accept one.
pub fn decode(frame: &[u8], rule: IdRule) -> Result<Incoming<'_>, RpcError> {
    message(scan_text(frame)?, rule)
}

/// Like [`decode`], for a peer whose lists are long and are never parsed as a whole.
pub fn decode_list(frame: &[u8], rule: IdRule) -> Result<Incoming<'_>, RpcError> {
    message(scan_list(frame)?, rule)
}

/// Whether a frame can only be a batch.
pub fn is_batch(frame: &[u8]) -> bool {
    first_byte(frame) == Some(b'[')
}

/// How many messages a batch holds, up to one more than `max`. Only counted: what is no JSON is refused when it is read.
pub fn count_batch(frame: &[u8], max: usize) -> usize {
    let (mut depth, mut commas, mut has_items) = (0_usize, 0, false);
    let mut bytes = frame.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => continue,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 1 => commas += 1,
            _ => has_items |= depth == 1,
        }
        match byte {
            b'[' | b'{' => depth += 1,
            b'"' => skip_string(&mut bytes),
            _ => {}
        }
        if commas >= max {
            break;
        }
    }
    commas + usize::from(has_items)
}

/// Goes on to the end of a string that has begun.
fn skip_string(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.find(|byte| matches!(byte, b'"' | b'\\')) {
        if *byte == b'"' {
            return;
        }
        bytes.next();
    }
}

/// Reads a batch of one to `max` messages, each of which may be refused for itself; a batch within is refused.
pub fn decode_batch(frame: &[u8], rule: IdRule, max: usize) -> Result<Vec<Result<Incoming<'_>, RpcError>>, RpcError> {
    // How many there are is said before how much they would take.
    let text = scan_list(frame)?;
    let refused = |fault| RpcError::BadRequest { id: None, fault };
    let items = serde_json::Deserializer::from_str(text).deserialize_seq(AtMost { max });
    match items.map_err(|_| refused(Fault::NotABatch))? {
        None => Err(refused(Fault::LongBatch { max })),
        Some(items) if items.is_empty() => Err(refused(Fault::EmptyBatch)),
        Some(items) => {
            scan_text(frame)?;
            Ok(items.into_iter().map(|item| message(item.get(), rule)).collect())
        }
    }
}

fn message(text: &str, rule: IdRule) -> Result<Incoming<'_>, RpcError> {
    let fault = match first_byte(text.as_bytes()) {
        // Asked first, because serde would take an array as a list of fields.
        Some(b'{') => match serde_json::from_str::<Envelope<'_>>(text) {
            Ok(envelope) => return envelope.read(rule),
            Err(_) => Fault::NotAnObject,
        },
        Some(b'[') => Fault::UnexpectedBatch,
        _ => Fault::NotAnObject,
    };
    Err(RpcError::BadRequest { id: None, fault })
}

fn first_byte(json: &[u8]) -> Option<u8> {
    json.iter().copied().find(|byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t'))
}

/// The members as they are; what they must be is for [`Envelope::read`] to say, so that a wrong one does not hide
/// the id.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Keeps `null` apart from absent.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl<'a> Envelope<'a> {
    fn read(self, rule: IdRule) -> Result<Incoming<'a>, RpcError> {
        let raw_id = self.id;
        let id = || raw_id.and_then(|raw| read_id(raw, rule).ok());
        if self.method.is_none() && (self.result.is_some() || self.error.is_some()) {
            self.response(rule).map_err(|fault| RpcError::BadResponse { id: id(), fault })
        } else {
            self.request(rule).map_err(|fault| RpcError::BadRequest { id: id(), fault })
        }
    }

    fn request(self, rule: IdRule) -> Result<Incoming<'a>, Fault> {
        self.check_version()?;
        let id = self.id.map(|raw| read_id(raw, rule)).transpose()?;
        if self.result.is_some() || self.error.is_some() {
            return Err(Fault::Mixed);
        }
        let method = self.method.and_then(text).ok_or(Fault::Method)?;
        let params = self.params;
        if params.is_some_and(|raw| !raw.get().starts_with(['{', '['])) {
            return Err(Fault::Params);
        }
        Ok(match id {
            Some(id) => Incoming::Request { id, method, params },
            None => Incoming::Notification { method, params },
        })
    }

    fn response(self, rule: IdRule) -> Result<Incoming<'a>, Fault> {
        self.check_version()?;
        // Peers that write both members put `null` into the one that does not apply.
        let outcome = match (self.result, self.error) {
            (Some(result), None) => Ok(result),
            (Some(result), Some(error)) if is_null(error) => Ok(result),
            (Some(result), Some(_)) if !is_null(result) => return Err(Fault::Mixed),
            (_, error) => Err(error.and_then(error_object).ok_or(Fault::ErrorObject)?),
        };
        let id = match self.id {
            // The peer could not read our id: JSON-RPC writes null then, MCP may leave it out.
            None if outcome.is_err() => Id::Null,
            Some(raw) if outcome.is_err() && is_null(raw) => Id::Null,
            Some(raw) => read_id(raw, rule)?,
            None => return Err(Fault::Id),
        };
        Ok(Incoming::Response { id, outcome })
    }

    fn check_version(&self) -> Result<(), Fault> {
        match self.jsonrpc.and_then(text) {
            Some(version) if version == "2.0" => Ok(()),
            Some(_) | None => Err(Fault::Version),
        }
    }
}

fn read_id(raw: &RawValue, rule: IdRule) -> Result<Id, Fault> {
    match serde_json::from_str(raw.get()) {
        Ok(id) if rule.allows(&id) => Ok(id),
        Ok(_) | Err(_) => Err(Fault::Id),
    }
}

fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}

/// A string's text, unescaped; borrowed where there was nothing to unescape.
fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') { serde_json::from_str(raw.get()).ok().map(Cow::Owned) } else { Some(Cow::Borrowed(inner)) }
}

fn error_object(raw: &RawValue) -> Option<ErrorObject> {
    raw.get().starts_with('{').then(|| serde_json::from_str(raw.get()).ok())?
}

/// Collects up to `max` items and only counts on beyond them.
struct AtMost {
    max: usize,
}

impl<'de> Visitor<'de> for AtMost {
    type Value = Option<Vec<&'de RawValue>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while items.len() < self.max {
            match seq.next_element()? {
                Some(item) => items.push(item),
                None => return Ok(Some(items)),
            }
        }
        let mut is_longer = false;
        while seq.next_element::<IgnoredAny>()?.is_some() {
            is_longer = true;
        }
        Ok((!is_longer).then_some(items))
    }
}

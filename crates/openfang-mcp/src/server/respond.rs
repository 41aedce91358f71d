//! Responses, put together from prepared bytes. What an era adds to every result is added here and nowhere else.

use std::borrow::Cow;
use std::io::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use openfang_types::jsonrpc::{Id, one_line};
use openfang_types::limits::MCP_CACHE_TTL;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::host::Identity;
use crate::revision::Revision;

/// A message, perhaps around bytes that it shares with others: a long list is sent without being copied.
#[derive(Debug)]
pub(crate) struct Frame {
    head: Vec<u8>,
    shared: Bytes,
    tail: Vec<u8>,
}

impl From<Vec<u8>> for Frame {
    fn from(head: Vec<u8>) -> Self {
        Self { head, shared: Bytes::new(), tail: Vec::new() }
    }
}

impl From<Bytes> for Frame {
    fn from(whole: Bytes) -> Self {
        Self { head: whole.into(), shared: Bytes::new(), tail: Vec::new() }
    }
}

impl Frame {
    pub(crate) fn into_bytes(self) -> Bytes {
        if self.shared.is_empty() {
            return Bytes::from(self.head);
        }
        Bytes::from([&self.head[..], &self.shared, &self.tail].concat())
    }

    /// In pieces that follow each other.
    pub(crate) fn into_pieces(self) -> [Bytes; 3] {
        [Bytes::from(self.head), self.shared, Bytes::from(self.tail)]
    }
}

/// What a result is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The answer to this one request.
    Answer,
    /// An answer that whoever asked may keep for a while.
    Kept,
    InputRequired,
    /// A task in the place of an answer.
    Task,
}

impl Kind {
    /// What the modern era adds to it.
    fn members(self) -> Cow<'static, str> {
        match self {
            Self::Answer => "\"resultType\":\"complete\"".into(),
            Self::Kept => {
                let ttl = MCP_CACHE_TTL.as_millis();
                format!("\"resultType\":\"complete\",\"ttlMs\":{ttl},\"cacheScope\":\"private\"").into()
            }
            Self::InputRequired => "\"resultType\":\"input_required\"".into(),
            Self::Task => "\"resultType\":\"task\"".into(),
        }
    }
}

/// What a modern result says about who sent it.
pub(crate) struct Signature {
    identity: Arc<Identity>,
    server_info: String,
}

impl Signature {
    pub(crate) fn of(identity: Arc<Identity>) -> Self {
        let info = serde_json::to_string(&ServerInfo::of(&identity, true)).unwrap_or_default();
        Self { identity, server_info: format!("\"io.modelcontextprotocol/serverInfo\":{info}") }
    }

    /// Whose signature it is.
    pub(crate) const fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }

    /// A response whose result has these members, without braces.
    pub(crate) fn respond(&self, id: &Id, revision: Revision, members: &[u8], kind: Kind) -> Vec<u8> {
        let mut frame = Vec::with_capacity(members.len() + 256);
        write_head(&mut frame, id);
        frame.extend_from_slice(members);
        self.write_tail(&mut frame, revision, members, kind);
        frame
    }

    /// A response whose result is this object, which has no `_meta`; what stands there otherwise is given apart.
    pub(crate) fn respond_with(
        &self,
        (id, revision): (&Id, Revision),
        object: &impl Serialize,
        meta: Option<&RawValue>,
        kind: Kind,
    ) -> Vec<u8> {
        let mut frame = Vec::with_capacity(512);
        write_head(&mut frame, id);
        let begin = frame.len() - 1;
        frame.pop();
        // Our own types are always written; what cannot be is as good as empty.
        if serde_json::to_writer(&mut frame, object).is_err() || frame.last() != Some(&b'}') {
            frame.truncate(begin);
            frame.extend_from_slice(b"{}");
        }
        frame.pop();
        let is_empty = frame.len() == begin + 1;
        let mut frame = one_line(frame);
        let inner = meta.and_then(|meta| meta.get().strip_prefix('{')?.strip_suffix('}'));
        if let Some(meta) = inner {
            // A legacy result ends with it; a modern one has it together with what its era puts there.
            let (comma, end) =
                (if is_empty { "" } else { "," }, if revision.facts().meta_required { "," } else { "}}}" });
            frame.extend_from_slice(format!("{comma}\"_meta\":{{{meta}{end}").as_bytes());
            if revision.facts().meta_required {
                frame.extend_from_slice(format!("{}}},{}}}}}", self.server_info, kind.members()).as_bytes());
            }
            return one_line(frame);
        }
        self.write_tail(&mut frame, revision, if is_empty { b"" } else { b"," }, kind);
        frame
    }

    /// A response around members that are shared with other responses.
    pub(crate) fn respond_around(&self, id: &Id, revision: Revision, members: Bytes, kind: Kind) -> Frame {
        let (mut head, mut tail) = (Vec::with_capacity(64), Vec::with_capacity(256));
        write_head(&mut head, id);
        self.write_tail(&mut tail, revision, &members, kind);
        Frame { head, shared: members, tail }
    }

    /// What an era adds to a result, and its end.
    fn write_tail(&self, frame: &mut Vec<u8>, revision: Revision, members: &[u8], kind: Kind) {
        if revision.facts().meta_required {
            if !members.is_empty() {
                frame.push(b',');
            }
            frame.extend_from_slice(kind.members().as_bytes());
            if !has_meta(members) {
                frame.extend_from_slice(b",\"_meta\":{");
                frame.extend_from_slice(self.server_info.as_bytes());
                frame.push(b'}');
            }
        }
        frame.extend_from_slice(b"}}");
    }

    /// `_meta` of a message that belongs to a subscription.
    pub(crate) fn subscription_meta(id: &Id) -> String {
        let mut meta = b"\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":".to_vec();
        write_id(&mut meta, id);
        meta.push(b'}');
        String::from_utf8(meta).unwrap_or_default()
    }
}

impl<'a> ServerInfo<'a> {
    /// As much of it as a revision with or without titles has.
    pub(crate) fn of(identity: &'a Identity, has_titles: bool) -> Self {
        let title = Some(identity.title.as_str()).filter(|title| has_titles && !title.is_empty());
        Self { name: &identity.name, version: &identity.version, title }
    }
}

/// Who the server is, as far as a revision wants to know.
#[derive(Serialize)]
pub(crate) struct ServerInfo<'a> {
    name: &'a str,
    version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
}

/// The members of an object, without its braces and on one line.
pub(crate) fn members(object: &impl Serialize) -> Vec<u8> {
    let bytes = one_line(serde_json::to_vec(object).unwrap_or_default());
    match bytes.as_slice() {
        [b'{', members @ .., b'}'] => members.to_vec(),
        _ => Vec::new(),
    }
}

/// Results that we write carry `_meta` last, and only those of subscriptions have one of their own.
fn has_meta(members: &[u8]) -> bool {
    members.starts_with(b"\"_meta\"")
}

fn write_head(frame: &mut Vec<u8>, id: &Id) {
    frame.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    write_id(frame, id);
    frame.extend_from_slice(b",\"result\":{");
}

fn write_id(frame: &mut Vec<u8>, id: &Id) {
    match id {
        // Writing to memory does not fail.
        Id::Number(number) => drop(write!(frame, "{number}")),
        Id::String(_) | Id::Null => match serde_json::to_vec(id) {
            Ok(text) => frame.extend_from_slice(&text),
            Err(_) => frame.extend_from_slice(b"null"),
        },
    }
}

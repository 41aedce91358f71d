//! Responses, put together from prepared bytes. What an era adds to every result is added here and nowhere else.

use openfang_types::jsonrpc::{Id, one_line};
use openfang_types::limits::MCP_CACHE_TTL;
use serde::Serialize;

use crate::host::Identity;
use crate::revision::{Era, Revision};

/// What a result is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The answer to this one request.
    Answer,
    /// An answer that whoever asked may keep for a while.
    Kept,
    /// A question.
    InputRequired,
}

impl Kind {
    /// What the modern era adds to it.
    fn members(self) -> String {
        match self {
            Self::Answer => "\"resultType\":\"complete\"".to_owned(),
            Self::Kept => {
                let ttl = MCP_CACHE_TTL.as_millis();
                format!("\"resultType\":\"complete\",\"ttlMs\":{ttl},\"cacheScope\":\"private\"")
            }
            Self::InputRequired => "\"resultType\":\"input_required\"".to_owned(),
        }
    }
}

/// What a modern result says about who sent it.
pub(crate) struct Signature {
    /// `"io.modelcontextprotocol/serverInfo":{...}`.
    server_info: String,
}

impl Signature {
    pub(crate) fn of(identity: &Identity) -> Self {
        let info = ServerInfo { name: &identity.name, version: &identity.version, title: Some(&identity.title) };
        let info = serde_json::to_string(&info).unwrap_or_default();
        Self { server_info: format!("\"io.modelcontextprotocol/serverInfo\":{info}") }
    }

    /// A response whose result has these members, without braces.
    pub(crate) fn respond(&self, id: &Id, revision: Revision, members: &[u8], kind: Kind) -> Vec<u8> {
        let mut frame = Vec::with_capacity(members.len() + 256);
        frame.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        write_id(&mut frame, id);
        frame.extend_from_slice(b",\"result\":{");
        frame.extend_from_slice(members);
        if revision.era() == Era::Modern {
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
        frame
    }

    /// `_meta` of a message that belongs to a subscription.
    pub(crate) fn subscription_meta(id: &Id) -> String {
        let mut meta = b"\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":".to_vec();
        write_id(&mut meta, id);
        meta.push(b'}');
        String::from_utf8(meta).unwrap_or_default()
    }
}

/// Who the server is, as far as a revision wants to know.
#[derive(Serialize)]
pub(crate) struct ServerInfo<'a> {
    pub(crate) name: &'a str,
    pub(crate) version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<&'a str>,
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

fn write_id(frame: &mut Vec<u8>, id: &Id) {
    match id {
        Id::Number(number) => frame.extend_from_slice(number.to_string().as_bytes()),
        Id::String(_) | Id::Null => match serde_json::to_vec(id) {
            Ok(text) => frame.extend_from_slice(&text),
            Err(_) => frame.extend_from_slice(b"null"),
        },
    }
}

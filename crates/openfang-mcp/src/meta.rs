//! `_meta` of a request: which revision it speaks, what its client can do, and the token its progress is told under.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub use openfang_types::call::LogLevel;
use openfang_types::content::is_protocol_meta;
use openfang_types::jsonrpc::Id;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::call_task::TASKS_EXTENSION;
use crate::capabilities::ClientCapabilities;
use crate::client_name::ClientName;
use crate::error::McpError;
use crate::revision::Revision;

#[derive(Debug, Default)]
pub struct Meta {
    /// The revision this one request speaks, as named; only modern requests say so.
    pub protocol_version: Option<String>,
    /// What the client can be asked for; only modern requests say so.
    pub capabilities: Option<ClientCapabilities>,
    /// Whether the client waits for calls that become tasks; only modern requests say so.
    pub declares_tasks: bool,
    /// From which level on the client wants log messages; only modern requests say so.
    pub log_level: Option<LogLevel>,
    /// Progress is told under this token.
    pub progress_token: Option<Id>,
    /// The members that are nobody's but the two ends': a trace, what a vendor added. None where there are none.
    pub beside: Option<Arc<RawValue>>,
    client_info: Option<ClientInfo>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClientInfo {
    Named(ClientName),
    Malformed,
}

/// The members as they are; what they must be is for [`Meta::read`] to say. `null` is as good as absent.
#[derive(Default)]
struct MetaMembers<'a> {
    protocol_version: Option<&'a RawValue>,
    capabilities: Option<&'a RawValue>,
    client_info: Option<&'a RawValue>,
    log_level: Option<&'a RawValue>,
    progress_token: Option<&'a RawValue>,
    beside: BTreeMap<Cow<'a, str>, &'a RawValue>,
}

impl<'a> MetaMembers<'a> {
    fn take(&mut self, name: Cow<'a, str>, value: &'a RawValue) {
        let said = Some(value).filter(|raw| raw.get() != "null");
        match &*name {
            "io.modelcontextprotocol/protocolVersion" => self.protocol_version = said,
            "io.modelcontextprotocol/clientCapabilities" => self.capabilities = said,
            "io.modelcontextprotocol/clientInfo" => self.client_info = said,
            "io.modelcontextprotocol/logLevel" => self.log_level = said,
            "progressToken" => self.progress_token = said,
            other if is_protocol_meta(other) => {}
            _ => drop(self.beside.insert(name, value)),
        }
    }
}

impl<'de> Deserialize<'de> for MetaMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(MetaVisitor)
    }
}

/// Reads all members in one pass.
struct MetaVisitor;

impl<'de> Visitor<'de> for MetaVisitor {
    type Value = MetaMembers<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        #[derive(Deserialize)]
        struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

        let mut members = MetaMembers::default();
        while let Some((Name(name), value)) = map.next_entry()? {
            members.take(name, value);
        }
        Ok(members)
    }
}

impl Meta {
    /// Reads `_meta`. What belongs to the modern era is checked by [`Meta::modern`] only, so that a legacy peer may write
    /// there what it likes.
    pub fn read(meta: &RawValue) -> Result<Self, McpError> {
        let not_an_object = |_: serde_json::Error| McpError::BadMeta("_meta must be an object".to_owned());
        let members: MetaMembers<'_> = serde_json::from_str(meta.get()).map_err(not_an_object)?;
        Self::of(&members)
    }

    fn of(members: &MetaMembers<'_>) -> Result<Self, McpError> {
        let wrong = |what: &str| McpError::BadMeta(format!("_meta: {what}"));
        let protocol_version = match members.protocol_version {
            Some(raw) => Some(text(raw).ok_or_else(|| wrong("protocolVersion must be a string"))?),
            None => None,
        };
        let capabilities = match members.capabilities {
            Some(raw) if raw.get().starts_with('{') => Some(ClientCapabilities::read(raw)),
            Some(_) => return Err(wrong("clientCapabilities must be an object")),
            None => None,
        };
        let declares_tasks = members.capabilities.is_some_and(declares_tasks);
        let log_level = match members.log_level {
            Some(raw) => Some(serde_json::from_str(raw.get()).map_err(|_| wrong("logLevel is not a level"))?),
            None => None,
        };
        // A progress token that is neither a string nor an integer cannot be told under; the request is still good.
        let progress_token = members.progress_token.and_then(|raw| serde_json::from_str::<Id>(raw.get()).ok());
        let progress_token = progress_token.filter(|token| *token != Id::Null);
        let client_info = members.client_info.map(|raw| match raw.get().starts_with('{') {
            true => ClientInfo::Named(ClientName::read(raw)),
            false => ClientInfo::Malformed,
        });
        let beside = (!members.beside.is_empty()).then(|| Arc::from(crate::content::raw(&members.beside)));
        Ok(Self { protocol_version, capabilities, declares_tasks, log_level, progress_token, beside, client_info })
    }

    /// What the client of a modern request calls itself.
    pub(crate) fn client_name(&self) -> ClientName {
        match self.client_info {
            Some(ClientInfo::Named(name)) => name,
            Some(ClientInfo::Malformed) | None => ClientName::default(),
        }
    }

    /// Whether the request says that it is a modern one.
    pub const fn is_modern(&self) -> bool {
        self.protocol_version.is_some()
    }

    /// What a modern request must say: a revision we speak in that era, and what its client can do.
    pub fn modern(&self) -> Result<(Revision, ClientCapabilities), McpError> {
        let missing = |what: &str| McpError::BadMeta(format!("_meta must have io.modelcontextprotocol/{what}"));
        let name = self.protocol_version.as_ref().ok_or_else(|| missing("protocolVersion"))?;
        let revision = Revision::named(name)
            .filter(|revision| revision.facts().meta_required)
            .ok_or_else(|| McpError::UnsupportedVersion(name.chars().take(64).collect()))?;
        let capabilities = self.capabilities.ok_or_else(|| missing("clientCapabilities"))?;
        match self.client_info {
            Some(ClientInfo::Malformed) => Err(McpError::BadMeta("_meta: clientInfo must be an object".to_owned())),
            Some(ClientInfo::Named(_)) | None => Ok((revision, capabilities)),
        }
    }
}

/// What a question is called, in a request of the legacy era, which has no other place for it.
pub(crate) const QUESTION_KEY: &str = "openfang/question";

/// Whether capabilities name the extension for tasks.
fn declares_tasks(capabilities: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Declared {
        #[serde(default)]
        extensions: BTreeMap<String, Box<RawValue>>,
    }
    capabilities.get().contains(TASKS_EXTENSION)
        && serde_json::from_str::<Declared>(capabilities.get()).is_ok_and(|declared| {
            declared.extensions.get(TASKS_EXTENSION).is_some_and(|said| said.get().starts_with('{'))
        })
}

fn text(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

#[cfg(test)]
#[path = "meta_tests.rs"]
mod tests;

//! `_meta` of a request: which revision it speaks, what its client can do, and the token its progress is told under.

use std::borrow::Cow;
use std::collections::BTreeMap;

pub use openfang_types::call::LogLevel;
use openfang_types::content::is_protocol_meta;
use openfang_types::jsonrpc::Id;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::capabilities::ClientCapabilities;
use crate::error::McpError;
use crate::revision::{Era, Revision};

#[derive(Debug, Default)]
pub struct Meta {
    /// The revision this one request speaks, as named; only modern requests say so.
    pub protocol_version: Option<String>,
    /// What the client can be asked for; only modern requests say so.
    pub capabilities: Option<ClientCapabilities>,
    /// From which level on the client wants log messages; only modern requests say so.
    pub log_level: Option<LogLevel>,
    /// Progress is told under this token.
    pub progress_token: Option<Id>,
    client_info: Option<ClientInfo>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClientInfo {
    Named,
    Malformed,
}

/// The members as they are; what they must be is for [`Meta::read`] to say.
#[derive(Deserialize)]
struct MetaMembers<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    protocol_version: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientInfo")]
    client_info: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/logLevel")]
    log_level: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "progressToken")]
    progress_token: Option<&'a RawValue>,
}

impl Meta {
    /// Reads `_meta`. What belongs to the modern era is checked by [`Meta::modern`] only, so that a legacy peer may write
    /// there what it likes.
    pub fn read(meta: &RawValue) -> Result<Self, McpError> {
        let not_an_object = |_| McpError::BadMeta("_meta must be an object".to_owned());
        // Asked first, because serde would take an array as a list of members.
        if !meta.get().starts_with('{') {
            return Err(not_an_object(()));
        }
        let members: MetaMembers<'_> = serde_json::from_str(meta.get()).map_err(|_| not_an_object(()))?;
        Self::of(&members)
    }

    fn of(members: &MetaMembers<'_>) -> Result<Self, McpError> {
        let wrong = |what: &str| McpError::BadMeta(format!("_meta: {what}"));
        let protocol_version = match members.protocol_version {
            Some(raw) => Some(text(raw).ok_or_else(|| wrong("protocolVersion must be a string"))?.into_owned()),
            None => None,
        };
        let capabilities = match members.capabilities {
            Some(raw) if raw.get().starts_with('{') => Some(ClientCapabilities::read(raw)),
            Some(_) => return Err(wrong("clientCapabilities must be an object")),
            None => None,
        };
        let log_level = match members.log_level {
            Some(raw) => Some(serde_json::from_str(raw.get()).map_err(|_| wrong("logLevel is not a level"))?),
            None => None,
        };
        // A progress token that is neither a string nor an integer cannot be told under; the request is still good.
        let progress_token = members.progress_token.and_then(|raw| serde_json::from_str::<Id>(raw.get()).ok());
        let progress_token = progress_token.filter(|token| *token != Id::Null);
        let client_info = members.client_info.map(|raw| match raw.get().starts_with('{') {
            true => ClientInfo::Named,
            false => ClientInfo::Malformed,
        });
        Ok(Self { protocol_version, capabilities, log_level, progress_token, client_info })
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
            .filter(|revision| revision.era() == Era::Modern)
            .ok_or_else(|| McpError::UnsupportedVersion(name.chars().take(64).collect()))?;
        let capabilities = self.capabilities.ok_or_else(|| missing("clientCapabilities"))?;
        match self.client_info {
            Some(ClientInfo::Malformed) => Err(McpError::BadMeta("_meta: clientInfo must be an object".to_owned())),
            Some(ClientInfo::Named) | None => Ok((revision, capabilities)),
        }
    }
}

/// The members of `_meta` in these parameters that are nobody's but the two ends': a trace, what a vendor added. None where
/// there are none.
pub(crate) fn beside(params: &RawValue) -> Option<Box<RawValue>> {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow, default, rename = "_meta")]
        meta: Option<BTreeMap<Cow<'a, str>, &'a RawValue>>,
    }
    let mut members = serde_json::from_str::<Params<'_>>(params.get()).ok()?.meta?;
    members.retain(|name, _| !is_protocol_meta(name));
    (!members.is_empty()).then(|| crate::content::raw(&members))
}

/// What a question is called, in a request of the legacy era, which has no other place for it.
pub(crate) const QUESTION_KEY: &str = "openfang/question";

fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<String>(raw.get()).ok().map(Cow::Owned)
}

#[cfg(test)]
#[path = "meta_tests.rs"]
mod tests;

//! Ids as types: mixing two of them does not compile, and each is made by parsing.
//!
//! Ids that we mint are UUIDs (time-ordered where rows are sorted by them). Ids that a peer mints stay opaque text in
//! a type of their own and never grant anything by themselves.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::limits;

/// Why a text is not an id; `what` names the kind of id for the reader.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{value:?} is not {what}: {why}")]
pub struct IdError {
    what: &'static str,
    value: String,
    why: &'static str,
}

impl IdError {
    fn new(what: &'static str, value: &str, why: &'static str) -> Self {
        Self { what, value: value.chars().take(80).collect(), why }
    }
}

macro_rules! uuid_ids {
    ($($(#[$doc:meta])* $name:ident, $what:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
        #[serde(transparent)]
        #[schemars(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// For an id source and for stores; everybody else parses.
            pub const fn from_uuid(id: Uuid) -> Self {
                Self(id)
            }

            /// The bare value, for stores.
            pub const fn as_uuid(&self) -> Uuid {
                self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                Uuid::try_parse(text).map(Self).map_err(|_| IdError::new($what, text, "it must be a UUID"))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.as_hyphenated().fmt(f)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                parse_text(from)
            }
        }
    )*};
}

macro_rules! text_ids {
    ($($(#[$doc:meta])* $name:ident, $check:path;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
        #[serde(transparent)]
        #[schemars(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
                    pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The text itself, shared.
            pub fn to_shared(&self) -> Arc<str> {
                Arc::clone(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                $check(text)?;
                Ok(Self(text.into()))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                parse_text(from)
            }
        }
    )*};
}

uuid_ids! {
    /// A task of ours.
    TaskId, "a task id";
    /// One run of an agent: the loop guard and the context labels belong to it.
    RunId, "a run id";
    /// A process that works on a home.
    NodeId, "a node id";
    /// What ties the log lines, audit rows and spans of one request together.
    TraceId, "a trace id";
    /// A stretch of the audit chain.
    AuditSegmentId, "an audit segment id";
    /// A login of a user; what proves it is in a cookie.
    LoginId, "a login id";
    /// Something that a result of a tool lost on its way, and that is kept for a while.
    ResultId, "a result id";
    /// An item of the work queue.
    QueueItemId, "an id of the queue";
    /// Something that an agent is to do at certain times.
    ScheduleId, "a schedule id";
    /// Something that was published.
    PublishedEventId, "an event id";
    /// A call of a tool that waits for a person.
    ApprovalId, "an approval id";
}

text_ids! {
    /// A conversation; peers may name their own.
    ContextId, check_context_id;
    /// A task, as a peer names it: by our id, or in A2A 0.1 by one of its own.
    TaskName, check_task_name;
    /// A message, as its sender named it.
    MessageId, check_message_id;
    /// An artifact, unique within its task.
    ArtifactId, check_artifact_id;
    /// The name of a local agent.
    AgentName, check_agent_name;
    /// A tool, whatever it is served by.
    ToolName, check_tool_name;
    /// An MCP server that this house connects to.
    ServerName, check_server_name;
    /// A profile: a selection of servers, tools and agents.
    ProfileName, check_profile_name;
    /// A secret that the home stores.
    SecretName, check_secret_name;
    /// A provider of models.
    ProviderName, check_provider_name;
    /// A model, as its provider names it.
    ModelName, check_model_name;
    /// A skill, by its own name.
    SkillName, check_skill_name;
    /// Who owns tasks, memory and streams: `admin`, or a user's name.
    Owner, check_owner;
    /// What kind of event was published.
    EventType, check_event_type;
    /// A user's key, as lists show it; it proves nothing.
    KeyId, check_key_id;
}

impl AgentName {
    /// The name with hyphens as underscores: two agents must differ in it, because tool names are built from it.
    pub fn folded(&self) -> String {
        self.0.replace('-', "_")
    }
}

/// No user's name: it has a character that those may not have.
const HOUSE: &str = "*house";

impl Owner {
    /// Names that mean somebody already, so that no user may have them.
    pub fn is_reserved(&self) -> bool {
        ["admin", "local", "nobody"].iter().any(|word| self.0.eq_ignore_ascii_case(word))
    }

    /// Whoever gave a name that is nobody's, in the audit log.
    pub fn nobody() -> Self {
        Self("nobody".into())
    }

    /// The owner behind the admin key, the daemon token and `local`.
    pub fn admin() -> Self {
        Self("admin".into())
    }

    /// The house itself, for what no caller may read or write. No user can have this name.
    pub fn house() -> Self {
        Self(HOUSE.into())
    }

    /// An owner as our own records have it: a user's name, or the house. Never for what comes from outside.
    pub fn from_record(text: &str) -> Result<Self, IdError> {
        if text == HOUSE { Ok(Self::house()) } else { text.parse() }
    }
}

fn parse_text<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: FromStr<Err = IdError>,
    D: serde::Deserializer<'de>,
{
    let text = std::borrow::Cow::<str>::deserialize(from)?;
    text.parse().map_err(serde::de::Error::custom)
}

fn check_opaque(what: &'static str, text: &str) -> Result<(), IdError> {
    if text.is_empty() {
        return Err(IdError::new(what, text, "it is empty"));
    }
    if text.len() > limits::PEER_ID_MAX_BYTES {
        return Err(IdError::new(what, text, "it is longer than 256 bytes"));
    }
    if text.chars().any(char::is_control) {
        return Err(IdError::new(what, text, "it contains control characters"));
    }
    Ok(())
}

fn check_context_id(text: &str) -> Result<(), IdError> {
    check_opaque("a context id", text)
}

fn check_task_name(text: &str) -> Result<(), IdError> {
    check_opaque("the name of a task", text)
}

fn check_message_id(text: &str) -> Result<(), IdError> {
    check_opaque("a message id", text)
}

fn check_artifact_id(text: &str) -> Result<(), IdError> {
    check_opaque("an artifact id", text)
}

/// Path segments below `/a2a` that an agent of the same name would shadow.
const RESERVED_AGENT_NAMES: [&str; 5] = ["v1", "tasks", "rest", "strict", "agents"];

fn check_agent_name(text: &str) -> Result<(), IdError> {
    const WHAT: &str = "an agent name";
    let mut bytes = text.bytes();
    let starts_well = bytes.next().is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    if !starts_well || !bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-') {
        return Err(IdError::new(WHAT, text, "use lower case letters, digits and hyphens, a letter or digit first"));
    }
    if text.len() > limits::AGENT_NAME_MAX_BYTES {
        return Err(IdError::new(WHAT, text, "it is longer than 33 characters"));
    }
    if RESERVED_AGENT_NAMES.contains(&text) {
        return Err(IdError::new(WHAT, text, "this word is reserved for a route"));
    }
    Ok(())
}

fn check_tool_name(text: &str) -> Result<(), IdError> {
    const WHAT: &str = "a tool name";
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')) {
        return Err(IdError::new(WHAT, text, "use letters, digits, underscore, hyphen and dot"));
    }
    if text.len() > limits::TOOL_NAME_MAX_BYTES {
        return Err(IdError::new(WHAT, text, "it is longer than 128 characters"));
    }
    Ok(())
}

fn check_server_name(text: &str) -> Result<(), IdError> {
    check_plain_name("a server name", text)
}

fn check_profile_name(text: &str) -> Result<(), IdError> {
    check_plain_name("a profile name", text)
}

fn check_secret_name(text: &str) -> Result<(), IdError> {
    check_plain_name("the name of a secret", text)
}

fn check_provider_name(text: &str) -> Result<(), IdError> {
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_');
    if !text.bytes().all(is_plain) {
        return Err(IdError::new("the name of a provider", text, "use small letters, digits, - and _"));
    }
    check_plain_name("the name of a provider", text)
}

fn check_model_name(text: &str) -> Result<(), IdError> {
    let error = |why| Err(IdError::new("the name of a model", text, why));
    if text.is_empty() {
        return error("it is empty");
    }
    if !text.bytes().all(|b| b.is_ascii_graphic()) {
        return error("use visible ASCII characters without spaces");
    }
    if text.len() > limits::MODEL_NAME_MAX_BYTES {
        return error("it is longer than 200 characters");
    }
    Ok(())
}

fn check_event_type(text: &str) -> Result<(), IdError> {
    const WHAT: &str = "the type of an event";
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-' | b'.');
    if text.is_empty() || text.len() > limits::EVENT_TYPE_MAX_BYTES || !text.bytes().all(is_plain) {
        return Err(IdError::new(WHAT, text, "use 1 to 64 small letters, digits, and . _ -"));
    }
    Ok(())
}

fn check_skill_name(text: &str) -> Result<(), IdError> {
    const WHAT: &str = "a skill name";
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if text.is_empty() || !text.bytes().all(is_plain) {
        return Err(IdError::new(WHAT, text, "use lower case letters, digits and hyphens"));
    }
    if text.starts_with('-') || text.ends_with('-') || text.contains("--") {
        return Err(IdError::new(WHAT, text, "a hyphen stands alone, between letters or digits"));
    }
    if text.len() > limits::SKILL_NAME_MAX_BYTES {
        return Err(IdError::new(WHAT, text, "it is longer than 64 characters"));
    }
    Ok(())
}

fn check_plain_name(what: &'static str, text: &str) -> Result<(), IdError> {
    let mut bytes = text.bytes();
    let starts_well = bytes.next().is_some_and(|b| b.is_ascii_alphanumeric());
    if !starts_well || !bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')) {
        return Err(IdError::new(what, text, "use letters, digits, and . _ -, a letter or digit first"));
    }
    if text.len() > limits::SERVER_NAME_MAX_BYTES {
        return Err(IdError::new(what, text, "it is longer than 64 characters"));
    }
    Ok(())
}

fn check_owner(text: &str) -> Result<(), IdError> {
    const WHAT: &str = "a user name";
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'@');
    if text.is_empty() || text.len() > limits::USER_NAME_MAX_BYTES || !text.bytes().all(plain) {
        return Err(IdError::new(WHAT, text, "use 1 to 64 letters, digits, and . _ - @"));
    }
    if text.starts_with('.') {
        return Err(IdError::new(WHAT, text, "it must not start with a dot"));
    }
    Ok(())
}

fn check_key_id(text: &str) -> Result<(), IdError> {
    let is_hex = |b: u8| b.is_ascii_digit() || matches!(b, b'a'..=b'f');
    if text.len() != limits::KEY_ID_CHARS || !text.bytes().all(is_hex) {
        let why = "it has 12 characters of 0-9 and a-f";
        // Somebody may have pasted the key itself.
        return Err(IdError::new("a key id", "...", why));
    }
    Ok(())
}

#[cfg(test)]
#[path = "ids_tests.rs"]
mod tests;

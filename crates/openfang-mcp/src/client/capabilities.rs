//! What a server says about itself when a conversation begins.

use openfang_types::limits::{MCP_IDENTITY_CHARS, MCP_INSTRUCTIONS_CHARS};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::call_task::TASKS_EXTENSION;
use crate::revision::Revision;
use crate::skills::SKILLS_EXTENSION;

/// Who the server is, and what it has.
#[derive(Debug, Clone)]
pub struct ServerFacts {
    /// The revision that is spoken.
    pub revision: Revision,
    /// Its name; empty where it did not say.
    pub name: String,
    /// What it is called, for people.
    pub title: Option<String>,
    pub version: String,
    /// What a model should know about it. Data, not instructions to us.
    pub instructions: Option<String>,
    pub capabilities: ServerCapabilities,
    /// Which OpenFang it is, if it is one.
    pub instance: Option<String>,
}

impl ServerFacts {
    /// Whether the server is this OpenFang.
    pub fn is_instance(&self, instance: Option<&str>) -> bool {
        instance.is_some() && self.instance.as_deref() == instance
    }

    /// Without what goes beyond any use: all of it is kept, shown and handed on.
    pub(super) fn cut(mut self) -> Self {
        for text in [&mut self.name, &mut self.version].into_iter().chain(&mut self.title) {
            cut(text, MCP_IDENTITY_CHARS);
        }
        self.instructions.iter_mut().for_each(|text| cut(text, MCP_INSTRUCTIONS_CHARS));
        self
    }
}

fn cut(text: &mut String, chars: usize) {
    if let Some((end, _)) = text.char_indices().nth(chars) {
        text.truncate(end);
    }
}

/// What a server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a capability of its own, declared or not")]
pub struct ServerCapabilities {
    pub tools: bool,
    pub prompts: bool,
    pub resources: bool,
    /// Resources can be subscribed to.
    pub subscribe: bool,
    pub completions: bool,
    pub logging: bool,
    /// Calls of tools can become tasks.
    pub tasks: bool,
    /// The server lists skills.
    pub skills: bool,
}

impl ServerCapabilities {
    pub(super) fn read(raw: Option<&RawValue>) -> Self {
        let declared: Value = raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
        let has = |name: &str| declared[name].is_object();
        Self {
            tools: has("tools"),
            prompts: has("prompts"),
            resources: has("resources"),
            subscribe: declared["resources"]["subscribe"] == true,
            completions: has("completions"),
            logging: has("logging"),
            skills: has("resources") && declared["extensions"][SKILLS_EXTENSION].is_object(),
            tasks: declared["extensions"][TASKS_EXTENSION].is_object()
                || declared["tasks"]["requests"]["tools"]["call"].is_object(),
        }
    }
}

/// What an OpenFang says of itself when a conversation begins.
#[derive(Deserialize, Default)]
pub(super) struct HandshakeMeta {
    #[serde(default, rename = "io.modelcontextprotocol/serverInfo")]
    pub(super) server_info: Implementation,
    #[serde(default, rename = "openfang/instance")]
    pub(super) instance: Option<String>,
}

/// A name and a version.
#[derive(Deserialize, Default)]
pub(super) struct Implementation {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) title: Option<String>,
    #[serde(default)]
    pub(super) version: String,
}

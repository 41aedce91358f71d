//! The tools of a request, prepared once for each kind of provider. They are sorted by name, so that the same tools are
//! the same bytes, which a provider's prompt cache needs.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use openfang_types::limits::{MODEL_DESCRIPTION_MAX_CHARS, TENTH_CHARS_PER_TOKEN};
use serde_json::Value;

use crate::answer::CallArguments;
use crate::schema::{self, SchemaDialect, plain_name, short_hash};
use crate::wire::WireKind;

/// What a request says around a definition.
const FRAME_BYTES: u64 = 60;

/// A tool as a model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// The JSON Schema of the arguments.
    pub schema: Value,
}

/// The tools of a request.
#[derive(Debug, Default)]
pub struct Toolbox {
    specs: Vec<ToolSpec>,
    estimated: OnceLock<u64>,
    prepared: [OnceLock<AdvertisedTools>; WireKind::COUNT],
}

impl Toolbox {
    /// The tools by name. Of two with the same name the first one counts.
    pub fn new(mut specs: Vec<ToolSpec>) -> Self {
        let mut seen = HashSet::new();
        specs.retain(|spec| seen.insert(spec.name.clone()));
        specs.sort_by(|one, two| one.name.cmp(&two.name));
        Self { specs, estimated: OnceLock::new(), prepared: Default::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.specs.is_empty()
    }

    /// The name of the tool in this place of an encoded request.
    pub fn name_at(&self, index: usize) -> Option<&str> {
        self.specs.get(index).map(|spec| spec.name.as_str())
    }

    /// About how many tokens the definitions take in a request.
    pub fn estimated_tokens(&self) -> u64 {
        *self.estimated.get_or_init(|| {
            let sizes = self.specs.iter().map(|spec| {
                let text = spec.name.len() + spec.description.len() + spec.schema.to_string().len();
                // The names of the members around it, and three and a half characters for a token.
                (text as u64 + FRAME_BYTES) * 10 / TENTH_CHARS_PER_TOKEN
            });
            sizes.sum()
        })
    }

    /// All tools but one: a provider may reject a single tool's schema.
    #[must_use]
    pub fn without(&self, name: &str) -> Self {
        Self::new(self.specs.iter().filter(|spec| spec.name != name).cloned().collect())
    }

    /// The tools as this wire wants them.
    pub(crate) fn advertised(&self, wire: WireKind) -> &AdvertisedTools {
        self.prepared[wire.index()].get_or_init(|| AdvertisedTools::new(&self.specs, wire))
    }
}

/// One tool as a wire wants it.
#[derive(Debug)]
pub(crate) struct AdvertisedTool {
    /// The name at the provider.
    pub(crate) name: String,
    pub(crate) description: String,
    /// The schema as JSON.
    pub(crate) schema: String,
    original: String,
    renames: HashMap<String, String>,
}

/// The tools as a wire wants them, and the way back to their real names.
#[derive(Debug)]
pub(crate) struct AdvertisedTools {
    pub(crate) tools: Vec<AdvertisedTool>,
}

impl AdvertisedTools {
    fn new(specs: &[ToolSpec], wire: WireKind) -> Self {
        let mut used = HashSet::new();
        let tools = specs.iter().map(|spec| {
            let mut tool = AdvertisedTool::new(spec, wire);
            if !used.insert(tool.name.clone()) {
                tool.name = format!("{:.55}_{}", tool.name, short_hash(&spec.name));
                used.insert(tool.name.clone());
            }
            tool
        });
        Self { tools: tools.collect() }
    }

    /// The name of a tool at the provider. A tool that is no longer offered keeps its name as far as it is valid.
    pub(crate) fn wire_name(&self, original: &str) -> String {
        let known = self.tools.iter().find(|tool| tool.original == original);
        known.map_or_else(
            || plain_name(original, is_plain).unwrap_or_else(|| original.to_owned()),
            |tool| tool.name.clone(),
        )
    }

    /// The real name of a tool that a model named. An unknown name stays as it is: the caller will refuse it.
    pub(crate) fn original_name<'a>(&'a self, wire_name: &'a str) -> &'a str {
        self.find(wire_name).map_or(wire_name, |tool| tool.original.as_str())
    }

    /// The arguments with the real property names.
    pub(crate) fn restored(&self, wire_name: &str, arguments: CallArguments) -> CallArguments {
        let CallArguments::Object(object) = &arguments else { return arguments };
        let renames = self.find(wire_name).map(|tool| &tool.renames).filter(|renames| !renames.is_empty());
        let Some(renames) = renames else { return arguments };
        match serde_json::from_str(object.get()) {
            Ok(value) => CallArguments::parse(&schema::restore(value, renames).to_string()),
            Err(_) => arguments,
        }
    }

    fn find(&self, wire_name: &str) -> Option<&AdvertisedTool> {
        self.tools.iter().find(|tool| tool.name == wire_name)
    }
}

impl AdvertisedTool {
    fn new(spec: &ToolSpec, wire: WireKind) -> Self {
        let schema = schema::advertise(&spec.schema, dialect(wire));
        let mut name = plain_name(&spec.name, is_plain).unwrap_or_else(|| spec.name.clone());
        if wire == WireKind::Gemini && !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
            name = format!("_{:.63}", name);
        }
        let mut description = spec.description.clone();
        if let Some(note) = &schema.note {
            description = format!("{description} {note}").trim_start().to_owned();
        }
        if matches!(wire, WireKind::Chat | WireKind::Ollama) {
            description = cut(description, MODEL_DESCRIPTION_MAX_CHARS);
        }
        let (schema, renames) = (schema.json.to_string(), schema.renames);
        Self { name, description, schema, original: spec.name.clone(), renames }
    }
}

/// The letters that every provider takes in the name of a tool.
fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}

fn dialect(wire: WireKind) -> SchemaDialect {
    SchemaDialect { plain_properties: wire == WireKind::Anthropic, single_types: wire == WireKind::Ollama }
}

/// A text of at most so many characters.
pub(crate) fn cut(mut text: String, chars: usize) -> String {
    if let Some((at, _)) = text.char_indices().nth(chars) {
        text.truncate(at);
    }
    text
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;

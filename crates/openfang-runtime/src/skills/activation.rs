//! The calls that read skills: an agent activates one, or reads one of its files. They pass the guards like calls of tools.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::BoxFuture;
use openfang_mcp::content::ResourceContents;
use openfang_model::ToolSpec;
use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::ids::ToolName;
use openfang_types::limits::{SKILLS_OFFERED_CHARS, SKILLS_OFFERED_MAX};
use openfang_types::tool::ToolTraits;
use serde::Deserialize;
use serde_json::json;

use super::package::SkillFault;
use super::ready::{ReadySkill, SkillSet};
use super::{SKILL_FILE, frontmatter};
use crate::context::CallContext;
use crate::pipeline::{Callee, Permit, ToolCall};
use crate::tools::ToolFailure;

/// The tool with which an agent activates a skill. It is there inside of runs only.
pub const ACTIVATE_SKILL: &str = "activate_skill";
/// The tool with which MCP clients read skills.
pub const SKILL_READ: &str = "skill_read";

/// The content of a skill, or of one of its files, for whoever may read it.
pub struct SkillContent {
    traits: ToolTraits,
    skill: Arc<ReadySkill>,
    /// The file; none: the instructions.
    file: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ActivationArgs {
    name: String,
    #[serde(default)]
    file: Option<String>,
}

impl SkillContent {
    /// What reads a skill, under the name of this tool.
    pub const fn new(traits: ToolTraits, skill: Arc<ReadySkill>, file: Option<String>) -> Self {
        Self { traits, skill, file }
    }

    /// What a call of `activate_skill` asks for. The failure names the skills that there are.
    pub(crate) fn asked_for(cx: &CallContext, skills: &SkillSet, call: &ToolCall<'_>) -> Result<Self, ToolFailure> {
        let value = call.arguments.value().map_err(|error| ToolFailure::new(error.to_string()))?;
        let ActivationArgs { name, file } = serde_json::from_value(value.clone())
            .map_err(|error| ToolFailure::new(format!("give the name of a skill: {error}")))?;
        let found = skills.usable(cx).find(|skill| skill.name.as_str() == name).map(Arc::clone);
        let skill = found.ok_or_else(|| {
            let known: Vec<&str> =
                skills.usable(cx).take(SKILLS_OFFERED_MAX).map(|skill| skill.name.as_str()).collect();
            let name: String = name.chars().take(80).collect();
            match known.is_empty() {
                true => ToolFailure::new(format!("there is no skill {name:?}, and no other one for this agent")),
                false => ToolFailure::new(format!("there is no skill {name:?}; there are {}", known.join(", "))),
            }
        })?;
        Ok(Self { traits: skill.traits(call.name.clone()), skill, file })
    }

    fn output(&self, text: String) -> Outcome<ToolOutput> {
        Outcome::Done(ToolOutput::text(text).labelled(&self.skill.labels))
    }
}

impl Callee for SkillContent {
    type Output = ToolOutput;

    fn traits(&self) -> &ToolTraits {
        &self.traits
    }

    fn call<'a>(
        &'a self,
        cx: &'a CallContext,
        _: Arguments<'a>,
        _: Permit,
    ) -> BoxFuture<'a, Result<Outcome<ToolOutput>, ToolFailure>> {
        Box::pin(async move {
            let name = &self.skill.name;
            if let Some(file) = &self.file {
                let text = text_of(read(&self.skill, file).await?, file)?;
                return Ok(self.output(text));
            }
            let text = text_of(read(&self.skill, SKILL_FILE).await?, SKILL_FILE)?;
            let body = frontmatter::read(&text).map_err(|error| ToolFailure::new(error.to_string()))?.body;
            if cx.run.as_ref().is_some_and(|run| !run.activates(name, &self.skill.expects)) {
                return Ok(self.output(format!("the skill {name} is active already; its instructions are above")));
            }
            Ok(self.output(instructions(&self.skill, &body)))
        })
    }
}

/// A file of a skill as a resource, byte for byte.
pub struct SkillResource<'a> {
    pub traits: ToolTraits,
    pub skill: Arc<ReadySkill>,
    /// The path of the file in the skill.
    pub path: &'a str,
    /// What the caller knows it as.
    pub uri: &'a str,
    pub media_type: &'a str,
}

impl Callee for SkillResource<'_> {
    type Output = ResourceContents;

    fn traits(&self) -> &ToolTraits {
        &self.traits
    }

    fn call<'a>(
        &'a self,
        _: &'a CallContext,
        _: Arguments<'a>,
        _: Permit,
    ) -> BoxFuture<'a, Result<Outcome<ResourceContents>, ToolFailure>> {
        Box::pin(async move {
            let contents = match String::from_utf8(read(&self.skill, self.path).await?) {
                Ok(text) => ResourceContents::text(self.uri, self.media_type, &text),
                Err(bytes) => {
                    let blob = STANDARD.encode(bytes.as_bytes());
                    ResourceContents::of(&[json!({ "uri": self.uri, "mimeType": self.media_type, "blob": blob })])
                }
            };
            Ok(Outcome::Done(contents))
        })
    }
}

/// The instructions of a skill and the list of its files, as a model reads them.
fn instructions(skill: &ReadySkill, body: &str) -> String {
    let name = &skill.name;
    // The text cannot end itself.
    let body = body.replace("</skill_content", "<\\/skill_content");
    let mut text = format!("<skill_content name=\"{name}\">\n{}\n</skill_content>", body.trim());
    let others: Vec<String> = skill
        .files
        .iter()
        .filter(|file| file.path != SKILL_FILE)
        .map(|file| format!("{} ({} bytes)", file.path, file.size))
        .collect();
    if !others.is_empty() {
        text.push_str(&format!(
            "\n<skill_files name=\"{name}\">\n{}\n</skill_files>\nRead a file with {{\"name\": \"{name}\", \"file\": PATH}}.",
            others.join("\n")
        ));
    }
    text
}

/// Reads a file of a skill on a thread that may block.
pub async fn read(skill: &Arc<ReadySkill>, path: &str) -> Result<Vec<u8>, ToolFailure> {
    let (skill, path) = (Arc::clone(skill), path.to_owned());
    let read = tokio::task::spawn_blocking(move || skill.read(&path)).await?;
    read.map_err(|fault: SkillFault| ToolFailure::new(fault.to_string()))
}

fn text_of(bytes: Vec<u8>, path: &str) -> Result<String, ToolFailure> {
    let size = bytes.len();
    String::from_utf8(bytes).map_err(|_| ToolFailure::new(format!("{path} is not text: {size} bytes")))
}

/// `activate_skill` as a model is offered it; none where the agent has no skills.
pub(crate) fn tool_for(cx: &CallContext, skills: &SkillSet) -> Option<ToolSpec> {
    let mut list = String::new();
    let mut names = Vec::new();
    for skill in skills.usable(cx).take(SKILLS_OFFERED_MAX) {
        let line = format!("\n- {}: {}", skill.name, skill.description);
        if list.chars().count() + line.chars().count() > SKILLS_OFFERED_CHARS {
            tracing::warn!(
                "an agent has more skills than can be described; the model is offered the first ones by name"
            );
            break;
        }
        list.push_str(&line);
        names.push(skill.name.as_str());
    }
    if names.is_empty() {
        return None;
    }
    let description = format!(
        "Activates a skill: returns its instructions and the list of its files. Activate a skill before work that it describes. \
         The skills:{list}"
    );
    let schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "enum": names, "description": "The skill." },
            "file": { "type": "string", "description": "A file of the skill to read, instead of its instructions." },
        },
        "required": ["name"],
        "additionalProperties": false,
    });
    Some(ToolSpec { name: ACTIVATE_SKILL.to_owned(), description, schema })
}

/// The name that grants are checked with.
pub(crate) fn read_tool() -> Option<ToolName> {
    SKILL_READ.parse().ok()
}

#[cfg(test)]
#[path = "activation_tests.rs"]
mod tests;

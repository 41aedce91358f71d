//! The skills of an external agent as tools: those whose schemas its card has (`urn:openfang:a2a:tools:1`).

use std::collections::HashSet;

use openfang_a2a::card::TOOLS_EXTENSION;
use openfang_a2a::client::PeerCard;
use openfang_runtime::external_tools::SkillTool;
use openfang_types::config::{ExternalAgent, ShownSkills, external_tool_name};
use openfang_types::ids::{AgentName, ToolName};
use openfang_types::limits::{EXTERNAL_DESCRIPTION_CHARS, SKILL_SCHEMAS_BYTES, SKILL_TOOLS};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::words::one_line;

/// The digits of the hash at the end of a name that had to be changed.
const HASH_DIGITS: usize = 6;

/// The skills that are tools, with names of at most so many characters.
pub(super) fn tools(entry: &ExternalAgent, card: Option<&PeerCard>, longest_name: usize) -> Vec<SkillTool> {
    let Some(card) = card.filter(|_| entry.skills == ShownSkills::Tools) else { return Vec::new() };
    let schemas = card.extension(TOOLS_EXTENSION).and_then(|extension| extension.params.as_ref());
    let (mut taken, mut bytes) = (HashSet::new(), 0);
    let tool = |skill: &openfang_a2a::AgentSkill| {
        let input_schema = schemas?.get(&skill.id)?.get("inputSchema").filter(|schema| is_object_schema(schema))?;
        bytes += input_schema.to_string().len();
        let name = tool_name(&entry.name, &skill.id, longest_name)?;
        if bytes > SKILL_SCHEMAS_BYTES || !taken.insert(name.clone()) {
            return None;
        }
        let about = one_line(&skill.description, EXTERNAL_DESCRIPTION_CHARS);
        let description = format!("[A2A:{}] The agent describes its skill {:?} as: {about:?}", entry.name, skill.id);
        Some(SkillTool { name, skill: skill.id.clone(), description, input_schema: input_schema.clone() })
    };
    card.skills.iter().filter_map(tool).take(SKILL_TOOLS).collect()
}

/// Clients demand that arguments are an object.
fn is_object_schema(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "object")
}

/// The name of a skill's tool: `a2a_{agent}_{skill}`. A name that is too long, or has other characters, ends with a hash of
/// the skill.
fn tool_name(agent: &AgentName, skill: &str, longest: usize) -> Option<ToolName> {
    let can_be = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let plain = format!("{}_{}", external_tool_name(agent), skill.to_lowercase().replace('-', "_"));
    if plain.len() <= longest && plain.chars().all(can_be) {
        return plain.parse().ok();
    }
    let hash: String = Sha256::digest(skill.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let kept = plain.chars().map(|c| if can_be(c) { c } else { '_' });
    let kept: String = kept.take(longest.saturating_sub(HASH_DIGITS + 1)).collect();
    format!("{kept}_{}", &hash[..HASH_DIGITS]).parse().ok()
}

#[cfg(test)]
#[path = "skills_tests.rs"]
mod tests;

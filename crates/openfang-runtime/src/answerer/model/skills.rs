//! Instructions beyond those of the agent: the `AGENTS.md` of its workspace, and a skill that a message names.
//!
//! A message activates a skill by `/name` at its beginning, if a person wrote it, or by a data part `{skill, input}`.

use std::sync::Arc;

use openfang_types::call::Outcome;
use openfang_types::ids::SkillName;
use openfang_types::task::{Message, Part, PartBody};
use serde_json::{Value, json};

use super::halt::Halt;
use super::work::Work;
use super::{ModelAnswerer, parts};
use crate::answerer::{AgentRun, Turn};
use crate::pipeline::ToolCall;
use crate::skills::ACTIVATE_SKILL;
use crate::transcript::TranscriptBody;

/// The instructions of an agent, and behind them those of its workspace, which enter the run with what they carry.
pub(super) async fn instructions(answerer: &ModelAnswerer, run: &AgentRun<'_>) -> Arc<str> {
    let own = &answerer.agent.system_prompt;
    let Some((text, labels)) = answerer.models.instructions(run.cx).await else { return Arc::clone(own) };
    if let Some(context) = &run.cx.run {
        context.enters(&labels);
    }
    let beginning = if own.is_empty() { String::new() } else { format!("{own}\n\n") };
    Arc::from(format!("{beginning}Instructions from AGENTS.md in your workspace:\n\n{text}"))
}

/// A skill that a message asks for.
enum NamedSkill {
    /// By a word that may mean something else.
    Word(SkillName),
    /// By a member that means nothing else.
    Member(String),
}

impl Work<'_> {
    /// Activates the skill that the message of a turn names. Its instructions stand behind the message.
    pub(super) async fn activate_named_skill(&mut self, turn: &Turn<'_>) -> Result<(), Halt> {
        // What a process that died activated is in the transcript.
        if turn.is_resumed || turn.waiting.is_some() {
            return Ok(());
        }
        let Some(named) = self.named_skill(turn.message) else { return Ok(()) };
        let (name, is_certain) = match named {
            NamedSkill::Word(name) => (name.to_string(), false),
            NamedSkill::Member(name) => (name, true),
        };
        let Ok(tool) = ACTIVATE_SKILL.parse() else { return Ok(()) };
        let skills = self.run.pipeline.catalog().skills();
        if !is_certain && !skills.usable(self.run.cx).any(|skill| skill.name.as_str() == name) {
            return Ok(());
        }
        let call = ToolCall { name: tool, arguments: json!({ "name": name }).into() };
        match self.run.pipeline.execute(self.run.cx, call).await {
            Ok(Outcome::Done(output)) if !output.is_error => {
                let body = TranscriptBody::User { parts: parts::of_output(&output) };
                self.conversation.record(body, output.labels).await
            }
            Ok(Outcome::Done(output)) => Err(Halt::failed(output.joined_text())),
            Ok(Outcome::NeedsInput(_)) => Ok(()),
            Err(error) => Err(Halt::failed(error.to_string())),
        }
    }

    fn named_skill(&self, message: &Message) -> Option<NamedSkill> {
        if let Some(name) = message.parts.iter().find_map(skill_member) {
            return Some(NamedSkill::Member(name.to_owned()));
        }
        let text = message.parts.iter().find_map(Part::as_text)?;
        let run = self.run.cx.run.as_ref()?;
        // Only what a person said is a command.
        if !run.user_words().iter().any(|said| said == text) {
            return None;
        }
        let word = text.trim_start().strip_prefix('/')?.split_whitespace().next()?;
        word.parse().ok().map(NamedSkill::Word)
    }
}

/// The skill that a data part names.
fn skill_member(part: &Part) -> Option<&str> {
    match &part.body {
        PartBody::Data(Value::Object(members)) => members.get("skill")?.as_str(),
        PartBody::Data(_) | PartBody::Text(_) | PartBody::Url(_) | PartBody::Raw(_) => None,
    }
}

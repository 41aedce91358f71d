//! The TOML of a script. Unknown keys are errors, and what cannot be played is refused when it is read.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openfang_types::ids::{ArtifactId, ToolName};
use openfang_types::limits::{SCRIPT_MAX_DELAY, SCRIPT_MAX_STEPS};
use openfang_types::task::{FileName, Message, Part, PartBody, TaskState};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::answerer::Refusal;

/// A script: the first rule that holds is played.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    pub(super) rules: Vec<Rule>,
}

/// When, and then what.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    #[serde(default)]
    pub(super) when: When,
    pub(super) steps: Vec<Step>,
}

impl Rule {
    /// How many steps are behind a player that has told this many events: each step tells one, or none.
    pub(super) fn told(&self, events: usize) -> usize {
        let tells = |step: &Step| match step {
            Step::Chunk(_)
            | Step::Artifact(_)
            | Step::Status(_)
            | Step::Tool(_)
            | Step::RequestedTool(_)
            | Step::Echo(_) => true,
            Step::DelayMs(_)
            | Step::Fail(_)
            | Step::Reply(_)
            | Step::Refuse(_)
            | Step::WaitForCancel(_)
            | Step::Leave(_) => false,
        };
        let last = self.steps.iter().enumerate().filter(|(_, step)| tells(step)).take(events).last();
        last.map_or(0, |(number, _)| number + 1)
    }
}

/// What must hold; what is absent holds always.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct When {
    message_id: Option<String>,
    text: Option<String>,
    part: Option<PartKind>,
    turn: Option<usize>,
}

/// What a message may hold besides anything else.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PartKind {
    Text,
    File,
    Data,
}

impl PartKind {
    const fn is_of(self, part: &Part) -> bool {
        match part.body {
            PartBody::Text(_) => matches!(self, Self::Text),
            PartBody::Raw(_) | PartBody::Url(_) => matches!(self, Self::File),
            PartBody::Data(_) => matches!(self, Self::Data),
        }
    }
}

impl When {
    pub(super) fn holds(&self, message: &Message, turn: usize) -> bool {
        self.message_id
            .as_ref()
            .is_none_or(|prefix| message.message_id.as_str().starts_with(prefix))
            && self.text.as_ref().is_none_or(|prefix| message.joined_text().starts_with(prefix))
            && self.part.is_none_or(|kind| message.parts.iter().any(|part| kind.is_of(part)))
            && self.turn.is_none_or(|wanted| wanted == turn)
    }
}

/// One step. In TOML a table with one key.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Step {
    Chunk(String),
    Artifact(ArtifactStep),
    Status(StatusStep),
    Tool(ToolStep),
    RequestedTool(bool),
    Echo(String),
    DelayMs(u64),
    Fail(String),
    Reply(String),
    Refuse(Refusal),
    WaitForCancel(bool),
    Leave(bool),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ArtifactStep {
    pub(super) id: Option<ArtifactId>,
    pub(super) name: Option<String>,
    text: Option<String>,
    file: Option<FileStep>,
    data: Option<Value>,
    #[serde(default)]
    pub(super) append: bool,
    #[serde(default)]
    pub(super) last: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileStep {
    base64: Option<String>,
    url: Option<String>,
    filename: Option<FileName>,
    media_type: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusStep {
    pub(super) state: TaskState,
    pub(super) message: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolStep {
    pub(super) name: ToolName,
    #[serde(default = "no_arguments")]
    pub(super) arguments: Value,
}

fn no_arguments() -> Value {
    Value::Object(Map::new())
}

/// Why a script cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// It is not TOML, or not of this form.
    #[error("{0}")]
    Form(#[from] toml::de::Error),
    /// A step cannot be played.
    #[error("rule {rule}, step {step}: {why}")]
    Step {
        /// Which rule, from 1.
        rule: usize,
        /// Which step, from 1.
        step: usize,
        why: &'static str,
    },
}

/// Reads a script and refuses what cannot be played.
pub fn parse(text: &str) -> Result<Script, ScriptError> {
    let script: Script = toml::from_str(text)?;
    for (rule, steps) in script.rules.iter().map(|rule| &rule.steps).enumerate() {
        if steps.len() > SCRIPT_MAX_STEPS {
            return Err(ScriptError::Step { rule: rule + 1, step: steps.len(), why: "there are too many steps" });
        }
        for (step, played) in steps.iter().enumerate() {
            if let Some(why) = played.fault(steps.len()) {
                return Err(ScriptError::Step { rule: rule + 1, step: step + 1, why });
            }
        }
    }
    Ok(script)
}

impl Step {
    fn fault(&self, steps: usize) -> Option<&'static str> {
        match self {
            Self::Artifact(artifact) => artifact.fault(),
            Self::DelayMs(ms) if u128::from(*ms) > SCRIPT_MAX_DELAY.as_millis() => Some("a delay is at most an hour"),
            Self::Reply(_) if steps > 1 => Some("a reply without a task must be the only step of its rule"),
            Self::Refuse(_) if steps > 1 => Some("a refusal comes before a task; it must be the only step of its rule"),
            Self::WaitForCancel(false) => Some("wait_for_cancel takes true"),
            Self::RequestedTool(false) => Some("requested_tool takes true"),
            Self::Leave(false) => Some("leave takes true"),
            Self::Tool(tool) if !tool.arguments.is_object() => Some("arguments must be a table"),
            Self::Chunk(_)
            | Self::Status(_)
            | Self::Tool(_)
            | Self::RequestedTool(true)
            | Self::Echo(_)
            | Self::DelayMs(_)
            | Self::Fail(_)
            | Self::Reply(_)
            | Self::Refuse(_)
            | Self::WaitForCancel(true)
            | Self::Leave(true) => None,
        }
    }
}

impl ArtifactStep {
    fn fault(&self) -> Option<&'static str> {
        let given = [self.text.is_some(), self.file.is_some(), self.data.is_some()];
        if given.into_iter().filter(|is_given| *is_given).count() != 1 {
            return Some("an artifact needs exactly one of text, file and data");
        }
        let file = self.file.as_ref()?;
        match (&file.base64, &file.url) {
            (Some(bytes), None) if STANDARD.decode(bytes).is_err() => Some("base64 is not valid"),
            (Some(_), None) | (None, Some(_)) => None,
            (Some(_), Some(_)) | (None, None) => Some("a file needs exactly one of base64 and url"),
        }
    }

    /// The content. `parse` has seen to it that there is exactly one.
    pub(super) fn part(&self) -> Part {
        if let Some(text) = &self.text {
            return Part::text(text);
        }
        if let Some(value) = &self.data {
            return Part::data(value.clone());
        }
        let Some(file) = &self.file else { return Part::text("") };
        let (filename, media_type) = (file.filename.clone(), file.media_type.clone());
        match &file.url {
            Some(url) => {
                let body = PartBody::Url(url.clone());
                Part { filename, media_type, ..Part::new(body) }
            }
            None => {
                let bytes = file.base64.as_deref().and_then(|text| STANDARD.decode(text).ok()).unwrap_or_default();
                Part::file(bytes, filename, media_type)
            }
        }
    }
}

impl Script {
    /// What this script answers to, for whoever said something else.
    pub(super) fn known_rules(&self) -> String {
        let texts: Vec<String> = self
            .rules
            .iter()
            .filter_map(|rule| rule.when.text.as_ref())
            .map(|text| format!("{text:?}"))
            .collect();
        match texts.is_empty() {
            true => "No rule of this script holds for that message.".to_owned(),
            false => format!(
                "No rule of this script holds for that message. It answers to texts that begin with {}.",
                texts.join(", ")
            ),
        }
    }
}

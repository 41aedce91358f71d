//! Skills over MCP: as the extension of SEP-2640, as resources under `skill://`, as prompts, and with the tool `skill_read` for
//! clients that know none of these. Whoever was granted a skill is shown it, and whoever uses an agent's tools its skills.
//!
//! Our own are at `skill://openfang/NAME/`, those of a server at `skill://SERVER/`, see `server_skills.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use openfang_mcp::McpError;
use openfang_mcp::content::{Beside, PromptMessage, PromptResult, PromptRole, ResourceContents};
use openfang_mcp::host::{Call, Change, ChangeFilter, Changes, Outcome};
use openfang_mcp::listing::Entry;
use openfang_runtime::context::CallContext;
use openfang_runtime::mcp_server::raw;
use openfang_runtime::pipeline::ToolError;
use openfang_runtime::skills::{ReadySkill, SKILL_FILE, SKILL_READ, SkillContent, SkillResource};
use openfang_types::call::Arguments;
use openfang_types::content::{Block, ToolOutput};
use openfang_types::ids::{SkillName, ToolName};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::View;
use super::server_skills;
use super::skill_uris::{OURS, SCHEME, entry_of, media_type, uri_of};
use crate::Caller;
use crate::doors::Doors;

const PROMPT_PREFIX: &str = "skill-";

/// The skills that a caller is shown.
pub(super) struct ShownSkills<'a> {
    doors: &'a Doors,
    /// As whom skills are read; none where none are shown.
    cx: Option<CallContext>,
    /// Whether those of servers are shown too.
    has_servers: bool,
    skills: Vec<Arc<ReadySkill>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadArgs {
    name: String,
    #[serde(default)]
    file: Option<String>,
}

impl<'a> ShownSkills<'a> {
    /// What a view shows to a caller.
    pub(super) fn new(doors: &'a Doors, view: &View, caller: &Caller) -> Self {
        let inner = &doors.inner;
        let cx = match view {
            View::Everything | View::Lazy(_) => Some(inner.context(caller)),
            View::Agent { name, tools: true } => {
                let agent = inner.settings().agent(&caller.principal, name).ok();
                agent.map(|agent| inner.tasks.agent_context(caller, &agent))
            }
            View::Agents | View::Agent { .. } => None,
        };
        let set = inner.pipeline.catalog().skills();
        let skills = cx.as_ref().map(|cx| set.usable(cx).map(Arc::clone).collect()).unwrap_or_default();
        Self { doors, cx, has_servers: *view == View::Everything, skills }
    }

    /// The tool for clients that read no resources.
    pub(super) fn tool(&self) -> Option<Entry> {
        let names: Vec<&str> = self.skills.iter().map(|skill| skill.name.as_str()).collect();
        if names.is_empty() {
            return None;
        }
        let list: Vec<String> = self
            .skills
            .iter()
            .map(|skill| format!("- {}: {}", skill.name, skill.description))
            .collect();
        let json = json!({
            "name": SKILL_READ,
            "title": "Read a skill",
            "description": format!(
                "Returns the instructions of a skill and the list of its files, or one of the files. Read a skill before work \
                 that it describes. The skills:\n{}", list.join("\n")
            ),
            "inputSchema": {
                "type": "object",
                "properties": {
                    "name": { "type": "string", "enum": names, "description": "The skill." },
                    "file": { "type": "string", "description": "A file of the skill, instead of its instructions." },
                },
                "required": ["name"],
                "additionalProperties": false,
            },
            "annotations": {
                "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false,
            },
        });
        Some(Entry::new(SKILL_READ, raw(&json)))
    }

    pub(super) fn prompts(&self) -> Vec<Entry> {
        let prompt = |skill: &Arc<ReadySkill>| {
            let name = format!("{PROMPT_PREFIX}{}", skill.name);
            let json = json!({
                "name": name,
                "title": format!("Skill {}", skill.name),
                "description": skill.description,
                "arguments": [{ "name": "input", "description": "What to do with the skill.", "required": false }],
            });
            Entry::new(name, raw(&json))
        };
        self.skills.iter().map(prompt).collect()
    }

    /// The files of our own skills. Those of servers are resources of their servers already.
    pub(super) fn resources(&self) -> Vec<Entry> {
        let of_skill = |skill: &Arc<ReadySkill>| {
            let skill = Arc::clone(skill);
            let entries: Vec<Entry> = skill
                .files
                .iter()
                .map(|file| {
                    let uri = uri_of(&skill.name, &file.path);
                    let is_manifest = file.path == SKILL_FILE;
                    let (name, description) = match is_manifest {
                        true => (skill.name.to_string(), skill.description.clone()),
                        false => {
                            (format!("{}/{}", skill.name, file.path), format!("A file of the skill {}", skill.name))
                        }
                    };
                    let json = json!({
                        "uri": uri, "name": name, "description": description, "size": file.size,
                        "mimeType": media_type(&file.path),
                    });
                    Entry::new(uri, raw(&json))
                })
                .collect();
            entries
        };
        self.skills.iter().flat_map(of_skill).collect()
    }

    /// The entries of the extension: our own, and those of servers.
    pub(super) fn entries(&self) -> Vec<Entry> {
        let own = self.skills.iter().map(|skill| entry_of(skill));
        let servers = match (&self.cx, self.has_servers) {
            (Some(cx), true) => server_skills::entries(self.doors, cx),
            (Some(_) | None, _) => Vec::new(),
        };
        let all = own.chain(servers);
        all.map(|entry| Entry::new(entry.uri.clone(), raw(&entry))).collect()
    }

    /// Fills the prompt of a skill in.
    pub(super) async fn prompt(
        &self,
        call: &Call<'_, Caller>,
        name: &str,
        arguments: &BTreeMap<String, String>,
    ) -> Result<PromptResult, McpError> {
        let unknown = || McpError::unknown_prompt(name);
        let skill = named_by_prompt(name).and_then(|name| self.get(&name)).ok_or_else(unknown)?;
        let output = self.content(call, (skill, None)).await.map_err(|error| refusal(&error, unknown()))?;
        let mut text = output.joined_text();
        if let Some(input) = arguments.get("input").filter(|input| !input.trim().is_empty()) {
            text = format!("{text}\n\n{input}");
        }
        Ok(PromptResult {
            description: Some(skill.description.clone()),
            messages: vec![PromptMessage { role: PromptRole::User, content: Block::text(text) }],
            beside: Beside::default(),
        })
    }

    /// Reads a file of a skill by its URI.
    pub(super) async fn read(&self, call: &Call<'_, Caller>, uri: &str) -> Result<Outcome<ResourceContents>, McpError> {
        let unknown = || McpError::unknown_resource(uri);
        let Some(rest) = uri.strip_prefix(OURS) else {
            return match self.has_servers {
                true => server_skills::read(self.doors, call, uri).await,
                false => Err(unknown()),
            };
        };
        let (name, _) = rest.split_once('/').ok_or_else(unknown)?;
        let skill = name.parse().ok().and_then(|name| self.get(&name)).ok_or_else(unknown)?;
        // Every file has one spelling, and it is compared as a whole: nothing is decoded.
        let file = skill
            .files
            .iter()
            .find(|file| uri_of(&skill.name, &file.path) == uri)
            .ok_or_else(unknown)?;
        let resource = SkillResource {
            traits: skill.traits(read_tool()?),
            skill: Arc::clone(skill),
            path: &file.path,
            uri,
            media_type: media_type(&file.path),
        };
        let cx = self.cx_of(call)?;
        let read = self.doors.inner.pipeline.hand_through(&cx, &resource, Arguments::default()).await;
        read.map_err(|error| refusal(&error, unknown()))
    }

    /// A call of `skill_read`.
    pub(super) async fn call_tool(
        &self,
        call: &Call<'_, Caller>,
        arguments: Option<&RawValue>,
    ) -> Result<Outcome<ToolOutput>, McpError> {
        let failed = |why: String| Ok(Outcome::Done(ToolOutput::error(why)));
        let args: ReadArgs = match serde_json::from_str(arguments.map_or("{}", RawValue::get)) {
            Ok(args) => args,
            Err(error) => return failed(format!("give the name of a skill: {error}")),
        };
        let Some(skill) = args.name.parse().ok().and_then(|name| self.get(&name)) else {
            let known: Vec<&str> = self.skills.iter().map(|skill| skill.name.as_str()).collect();
            return failed(format!("there is no such skill; there are {}", known.join(", ")));
        };
        match self.content(call, (skill, args.file)).await {
            Ok(output) => Ok(Outcome::Done(output)),
            Err(error) => failed(error.to_string()),
        }
    }

    async fn content(
        &self,
        call: &Call<'_, Caller>,
        (skill, file): (&Arc<ReadySkill>, Option<String>),
    ) -> Result<ToolOutput, ToolError> {
        let broken = || ToolError::Panicked(fallback());
        let tool = read_tool().map_err(|_| broken())?;
        let cx = self.cx_of(call).map_err(|_| broken())?;
        let content = SkillContent::new(skill.traits(tool), Arc::clone(skill), file);
        match self.doors.inner.pipeline.hand_through(&cx, &content, Arguments::default()).await? {
            Outcome::Done(output) => Ok(output),
            Outcome::NeedsInput(_) => Err(broken()),
        }
    }

    /// The surroundings of a call, as the caller or through the agent of the view.
    fn cx_of(&self, call: &Call<'_, Caller>) -> Result<CallContext, McpError> {
        let agent = self.cx.as_ref().ok_or(McpError::Internal)?.agent.clone();
        Ok(CallContext { agent, ..self.doors.context_of(call) })
    }

    fn get(&self, name: &SkillName) -> Option<&Arc<ReadySkill>> {
        self.skills.iter().find(|skill| skill.name == *name)
    }
}

/// Whether a URI is one of skills, whoever's they are. Servers keep the URIs that they gave, at their own endpoints.
pub(super) fn are_at(uri: &str) -> bool {
    uri.starts_with(SCHEME)
}

pub(super) fn named_by_prompt(name: &str) -> Option<SkillName> {
    name.strip_prefix(PROMPT_PREFIX)?.parse().ok()
}

/// Tells when there are other skills: they are prompts and resources.
pub(super) fn changes(doors: &Doors, wanted: &ChangeFilter) -> Changes {
    let wanted: Vec<Change> = [(wanted.prompts, Change::Prompts), (wanted.resources, Change::Resources)]
        .into_iter()
        .filter_map(|(is_wanted, change)| is_wanted.then_some(change))
        .collect();
    if wanted.is_empty() {
        return Box::pin(stream::pending());
    }
    let versions = doors.inner.pipeline.catalog().skill_changes();
    let ticks = stream::unfold((versions, wanted), |(mut versions, wanted)| async move {
        versions.changed().await.ok()?;
        Some((stream::iter(wanted.clone()), (versions, wanted)))
    });
    Box::pin(ticks.flatten().chain(stream::pending()))
}

/// What a client is told of a refusal. Who may not read a skill is told that there is none.
pub(super) fn refusal(error: &ToolError, unknown: McpError) -> McpError {
    match error {
        ToolError::Unknown { .. } | ToolError::NotGranted { .. } => unknown,
        ToolError::Cancelled(_) => McpError::Canceled,
        error => McpError::InvalidParams(error.to_string()),
    }
}

fn read_tool() -> Result<ToolName, McpError> {
    SKILL_READ.parse().map_err(|_| McpError::Internal)
}

#[expect(clippy::expect_used, reason = "the name is a literal that a test calls")]
fn fallback() -> ToolName {
    SKILL_READ.parse().expect("the name of the tool is valid")
}

//! Agents as tools and as prompts. An agent that asks for something asks the client's user, where the client can.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openfang_mcp::McpError;
use openfang_mcp::capabilities::Capability;
use openfang_mcp::content::{Beside, PromptMessage, PromptResult, PromptRole};
use openfang_mcp::host::{Call, InputRequest, InputRequired, Outcome};
use openfang_mcp::listing::Entry;
use openfang_mcp::naming::format_agent_tool_name;
use openfang_runtime::agents::AgentSummary;
use openfang_runtime::answerer::questions;
use openfang_runtime::mcp_server::raw;
use openfang_runtime::pipeline::truncate::answer_to_limits;
use openfang_types::content::{Block, ContentBlock, ToolOutput};
use openfang_types::ids::{AgentName, TaskId};
use openfang_types::limits::Limits;
use openfang_types::task::{Message, Part, PartBody, Task, TaskState};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::calls::members;
use super::host::KernelHost;
use super::{DoorError, Sending};
use crate::Caller;

/// What the names of all agents' tools begin with.
pub(super) const TOOL_PREFIX: &str = "openfang_agent_";
const PROMPT_PREFIX: &str = "agent-";
/// The question and its answer go under this key.
const REPLY: &str = "reply";
/// The same for a form of a tool that the agent called.
const FORM: &str = "form";

pub(super) fn tool_name(agent: &AgentName) -> String {
    format_agent_tool_name(agent.as_str())
}

pub(super) fn tool(agent: &AgentSummary) -> Entry {
    let name = tool_name(&agent.name);
    let json = json!({
        "name": name,
        "title": format!("Agent {}", agent.name),
        "description": described(agent),
        "inputSchema": {
            "type": "object",
            "properties": { "message": { "type": "string", "description": "What to say to the agent." } },
            "required": ["message"],
            "additionalProperties": false,
        },
        "annotations": {
            "readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true,
        },
    });
    Entry::new(name, raw(&json))
}

pub(super) fn prompt(agent: &AgentSummary) -> Entry {
    let name = format!("{PROMPT_PREFIX}{}", agent.name);
    let json = json!({
        "name": name,
        "title": format!("Ask {}", agent.name),
        "description": described(agent),
        "arguments": [{ "name": "message", "description": "What to say to the agent.", "required": true }],
    });
    Entry::new(name, raw(&json))
}

fn described(agent: &AgentSummary) -> String {
    match agent.description.trim() {
        "" => format!("Sends a message to the agent {} and returns its answer.", agent.name),
        about => about.to_owned(),
    }
}

pub(super) fn named_by_prompt(name: &str) -> Option<AgentName> {
    name.strip_prefix(PROMPT_PREFIX)?.parse().ok()
}

pub(super) fn fill_in(agent: &AgentName, arguments: &BTreeMap<String, String>) -> Result<PromptResult, McpError> {
    let missing = || McpError::InvalidParams("the argument message is missing".to_owned());
    let message = arguments.get("message").ok_or_else(missing)?;
    let text = format!("Use the tool {} to give the agent {agent} this message:\n\n{message}", tool_name(agent));
    Ok(PromptResult {
        description: Some(format!("A message to the agent {agent}")),
        messages: vec![PromptMessage { role: PromptRole::User, content: Block::text(text) }],
        beside: Beside::default(),
    })
}

/// Sends the message, or the answer to what the agent asked before.
pub(super) async fn call(
    host: &KernelHost,
    call: Call<'_, Caller>,
    agent: &AgentName,
    arguments: Option<&RawValue>,
) -> Result<Outcome<ToolOutput>, McpError> {
    let arguments = members(arguments)?;
    let told = match arguments.get("message").and_then(|message| message.as_str()) {
        Some(message) if arguments.len() == 1 => message,
        _ => return Ok(Outcome::Done(ToolOutput::error("give exactly one argument: message, a text"))),
    };
    let waiting = call
        .resumed
        .and_then(|resumed| Uuid::from_slice(&resumed.state).ok())
        .map(TaskId::from_uuid);
    let (form, reply) = (call.answer(FORM), call.answer(REPLY));
    let answer = match (waiting, form.or(reply)) {
        // The form is a tool's own: the tool is given the answer as it is, a refusal too.
        (Some(task), Some(answer)) if form.is_some() => match serde_json::from_str(answer.get()) {
            Ok(answer) => Some((task, Part::data(answer))),
            Err(_) => return ask_again(host, call, task).await,
        },
        (Some(task), Some(answer)) => match reply_in(answer) {
            Reply::Said(part) => Some((task, part)),
            Reply::Declined => return Ok(Outcome::Done(declined(task))),
            Reply::Nonsense => return ask_again(host, call, task).await,
        },
        (Some(task), None) => return ask_again(host, call, task).await,
        (None, _) => None,
    };
    let (task, part) = match answer {
        Some((task, part)) => (Some(task), part),
        None => (None, Part::text(told)),
    };
    let sending = Sending { agent, parts: &[part], task, reporter: call.reporter };
    match host.send(call.caller, sending).await {
        Ok(crate::Reply::Message(message)) => {
            Ok(Outcome::Done(limited(ToolOutput::text(message.joined_text()), &host.limits(), None)))
        }
        Ok(crate::Reply::Task(task)) => Ok(outcome(call, &task, &host.limits())),
        Err(DoorError::Unknown) => Err(McpError::unknown_tool(&tool_name(agent))),
        Err(DoorError::Canceled) => Err(McpError::Canceled),
        Err(error) => Ok(Outcome::Done(ToolOutput::error(error.to_string()))),
    }
}

async fn ask_again(host: &KernelHost, call: Call<'_, Caller>, id: TaskId) -> Result<Outcome<ToolOutput>, McpError> {
    Ok(outcome(call, &host.task(call.caller, id).await?, &host.limits()))
}

enum Reply {
    Said(Part),
    Declined,
    Nonsense,
}

fn reply_in(answer: &RawValue) -> Reply {
    #[derive(Deserialize)]
    struct Elicited {
        action: String,
        #[serde(default)]
        content: BTreeMap<String, serde_json::Value>,
    }
    let Ok(elicited) = serde_json::from_str::<Elicited>(answer.get()) else { return Reply::Nonsense };
    match (elicited.action.as_str(), elicited.content.get(REPLY).and_then(|reply| reply.as_str())) {
        ("accept", Some(reply)) => Reply::Said(Part::text(reply)),
        ("decline" | "cancel", _) => Reply::Declined,
        _ => Reply::Nonsense,
    }
}

fn declined(task: TaskId) -> ToolOutput {
    ToolOutput::error(format!("the question was not answered; task {task} still waits for a reply"))
}

/// What a task means to whoever called the agent.
fn outcome<C>(call: Call<'_, C>, task: &Task, limits: &Limits) -> Outcome<ToolOutput> {
    let said = said(task);
    let answered = |content| Outcome::Done(limited(ToolOutput::of_blocks(content), limits, Some(task.id)));
    match task.status.state {
        TaskState::InputRequired | TaskState::AuthRequired => {
            let (key, question) = question_of(task, limits);
            if call.client.has(question.needs) {
                let requests = BTreeMap::from([(key.to_owned(), question)]);
                Outcome::NeedsInput(InputRequired { requests, state: task.id.as_uuid().as_bytes().to_vec() })
            } else {
                let how =
                    format!("The agent waits for a reply: openfang agent send {} REPLY --task {}", task.agent, task.id);
                let mut result = limited(ToolOutput::of_blocks(said), limits, Some(task.id));
                result.content.push(Block::text(how));
                Outcome::Done(result)
            }
        }
        TaskState::Completed => answered(said),
        state => {
            let mut content = said;
            if content.is_empty() || state == TaskState::Canceled {
                content.push(Block::text(format!("the task is {state}")));
            }
            Outcome::Done(limited(
                ToolOutput { is_error: true, ..ToolOutput::of_blocks(content) },
                limits,
                Some(task.id),
            ))
        }
    }
}

/// What the client is asked: the form of a tool that the agent called, else for a reply in words.
fn question_of(task: &Task, limits: &Limits) -> (&'static str, InputRequest) {
    let message = task.status.message.as_ref();
    if let Some(form) = message.and_then(questions::form_in) {
        let is_page = form.get("mode").is_some_and(|mode| mode == "url");
        let needs = if is_page { Capability::ElicitationUrl } else { Capability::ElicitationForm };
        return (FORM, InputRequest { needs, method: "elicitation/create", params: raw(form) });
    }
    let question = message.map(Message::joined_text).unwrap_or_default();
    let question: String = question.chars().take(limits.tool_result_chars).collect();
    (REPLY, asking(&question))
}

fn asking(question: &str) -> InputRequest {
    let schema = json!({
        "type": "object",
        "properties": { REPLY: { "type": "string", "title": "Reply" } },
        "required": [REPLY],
    });
    InputRequest::elicitation(if question.is_empty() { "The agent waits for a reply." } else { question }, &schema)
}

/// An answer within the limits of a result.
fn limited(mut output: ToolOutput, limits: &Limits, task: Option<TaskId>) -> ToolOutput {
    answer_to_limits(&mut output, limits, task);
    output
}

/// What a task has to say: its artifacts, then its last message. An artifact that came piece by piece is one text.
fn said(task: &Task) -> Vec<Block> {
    let mut blocks = Vec::new();
    for artifact in &task.artifacts {
        let begin = blocks.len();
        for part in &artifact.parts {
            match (&part.body, blocks.get_mut(begin..).and_then(<[_]>::last_mut)) {
                (PartBody::Text(more), Some(ContentBlock::Text { text })) => text.push_str(more),
                _ => blocks.push(block(part)),
            }
        }
    }
    blocks.extend(task.status.message.iter().flat_map(|message| &message.parts).map(block));
    blocks.into_iter().map(Block::from).collect()
}

fn block(part: &Part) -> ContentBlock {
    let mime_type = part.media_type.as_deref().unwrap_or("application/octet-stream").to_owned();
    match &part.body {
        PartBody::Text(text) => ContentBlock::text(text),
        PartBody::Data(value) => ContentBlock::text(value.to_string()),
        PartBody::Url(url) => {
            let name = part.filename.as_deref().unwrap_or(url).to_owned();
            ContentBlock::ResourceLink { uri: url.clone(), name }
        }
        PartBody::Raw(bytes) => {
            let data = STANDARD.encode(bytes);
            if mime_type.starts_with("image/") {
                return ContentBlock::Image { data, mime_type };
            }
            if mime_type.starts_with("audio/") {
                return ContentBlock::Audio { data, mime_type };
            }
            let uri = format!("openfang://files/{}", part.filename.as_deref().unwrap_or("unnamed"));
            ContentBlock::Resource { resource: json!({ "uri": uri, "mimeType": mime_type, "blob": data }) }
        }
    }
}

//! Agents as tools and as prompts. An agent that asks for something asks the client's user, where the client can.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openfang_mcp::McpError;
use openfang_mcp::capabilities::Capability;
use openfang_mcp::content::{Beside, Block, CallResult, PromptMessage, PromptResult, PromptRole};
use openfang_mcp::host::{Call, InputRequest, InputRequired, Outcome};
use openfang_mcp::listing::Entry;
use openfang_mcp::naming::format_agent_tool_name;
use openfang_types::content::{ContentBlock, ToolOutput};
use openfang_types::ids::{AgentName, TaskId};
use openfang_types::limits::Limits;
use openfang_types::task::{Message, Part, PartBody, Task, TaskState};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::tools::{members, raw, shown};
use super::{House, HouseError, HouseReply, Sending};
use crate::agents::AgentSummary;
use crate::pipeline::truncate::answer_to_limits;

/// What the names of all agents' tools begin with.
pub(super) const TOOL_PREFIX: &str = "openfang_agent_";
const PROMPT_PREFIX: &str = "agent-";
/// The question and its answer go under this key.
const REPLY: &str = "reply";

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
        messages: vec![PromptMessage { role: PromptRole::User, content: Block::text(&text) }],
        beside: Beside::default(),
    })
}

/// Sends the message, or the answer to what the agent asked before.
pub(super) async fn call<T: House>(
    house: &T,
    call: Call<'_, T::Caller>,
    agent: &AgentName,
    arguments: Option<&RawValue>,
) -> Result<Outcome<CallResult>, McpError> {
    let arguments = members(arguments)?;
    let told = match arguments.get("message").and_then(|message| message.as_str()) {
        Some(message) if arguments.len() == 1 => message,
        _ => return Ok(Outcome::Complete(CallResult::error("give exactly one argument: message, a text"))),
    };
    let waiting = call
        .resumed
        .and_then(|resumed| Uuid::from_slice(&resumed.state).ok())
        .map(TaskId::from_uuid);
    let answer = match (waiting, call.answer(REPLY)) {
        (Some(task), Some(answer)) => match reply_in(answer) {
            Reply::Said(text) => Some((task, text)),
            Reply::Declined => return Ok(Outcome::Complete(declined(task))),
            Reply::Nonsense => return ask_again(house, call, task).await,
        },
        (Some(task), None) => return ask_again(house, call, task).await,
        (None, _) => None,
    };
    let (task, text) = match &answer {
        Some((task, text)) => (Some(*task), text.as_str()),
        None => (None, told),
    };
    let sent = house.send(call.caller, Sending { agent, text, task, reporter: call.reporter }).await;
    match sent {
        Ok(HouseReply::Message(message)) => {
            Ok(Outcome::Complete(limited(ToolOutput::text(message.joined_text()), &house.limits())))
        }
        Ok(HouseReply::Task(task)) => Ok(outcome(call, &task, &house.limits())),
        Err(HouseError::Unknown) => Err(McpError::unknown_tool(&tool_name(agent))),
        Err(HouseError::Canceled) => Err(McpError::Canceled),
        Err(error) => Ok(Outcome::Complete(CallResult::error(&error.to_string()))),
    }
}

async fn ask_again<T: House>(
    house: &T,
    call: Call<'_, T::Caller>,
    id: TaskId,
) -> Result<Outcome<CallResult>, McpError> {
    Ok(outcome(call, &house.task(call.caller, id).await?, &house.limits()))
}

enum Reply {
    Said(String),
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
        ("accept", Some(reply)) => Reply::Said(reply.to_owned()),
        ("decline" | "cancel", _) => Reply::Declined,
        _ => Reply::Nonsense,
    }
}

fn declined(task: TaskId) -> CallResult {
    CallResult::error(&format!("the question was not answered; task {task} still waits for a reply"))
}

/// What a task means to whoever called the agent.
fn outcome<C>(call: Call<'_, C>, task: &Task, limits: &Limits) -> Outcome<CallResult> {
    let said = said(task);
    let answered = |content| Outcome::Complete(limited(ToolOutput { content, ..ToolOutput::text("") }, limits));
    match task.status.state {
        TaskState::InputRequired | TaskState::AuthRequired => {
            let question = task.status.message.as_ref().map(Message::joined_text).unwrap_or_default();
            let question: String = question.chars().take(limits.tool_result_chars).collect();
            if call.client.has(Capability::ElicitationForm) {
                Outcome::InputRequired(InputRequired {
                    requests: BTreeMap::from([(REPLY.to_owned(), asking(&question))]),
                    state: task.id.as_uuid().as_bytes().to_vec(),
                })
            } else {
                let how =
                    format!("The agent waits for a reply: openfang agent send {} REPLY --task {}", task.agent, task.id);
                let mut result = limited(ToolOutput { content: said, ..ToolOutput::text("") }, limits);
                result.content.push(Block::text(&how));
                Outcome::Complete(result)
            }
        }
        TaskState::Completed => answered(said),
        state => {
            let mut content = said;
            if content.is_empty() || state == TaskState::Canceled {
                content.push(ContentBlock::text(format!("the task is {state}")));
            }
            Outcome::Complete(limited(ToolOutput { content, ..ToolOutput::error("") }, limits))
        }
    }
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
fn limited(output: ToolOutput, limits: &Limits) -> CallResult {
    shown(&answer_to_limits(output, limits))
}

/// What a task has to say: its artifacts, then its last message. An artifact that came piece by piece is one text.
fn said(task: &Task) -> Vec<ContentBlock> {
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
    blocks
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

//! Agents as tools and as prompts. An agent that asks for something asks the client's user, where the client can.

use std::collections::BTreeMap;

use openfang_mcp::McpError;
use openfang_mcp::content::{Beside, PromptMessage, PromptResult, PromptRole};
use openfang_mcp::host::{Call, InputRequired, Outcome, ToolAnswer};
use openfang_mcp::listing::Entry;
use openfang_mcp::naming::format_agent_tool_name;
use openfang_runtime::external_tools;
use openfang_runtime::mcp_server::raw;
use openfang_runtime::pipeline::truncate::answer_to_limits;
use openfang_runtime::task_output::{self, TASK_TOOL, TaskReply};
use openfang_types::agent::AgentSummary;
use openfang_types::content::{Block, ToolOutput};
use openfang_types::ids::{AgentName, TaskId};
use openfang_types::limits::Limits;
use openfang_types::task::{Part, Task, TaskState};
use serde_json::json;
use serde_json::value::RawValue;

use super::call_tasks;
use super::calls::members;
use super::host::KernelHost;
use super::{DoorError, Sending};
use crate::Caller;

/// What the names of all agents' tools begin with.
pub(super) const TOOL_PREFIX: &str = "openfang_agent_";
const PROMPT_PREFIX: &str = "agent-";

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
        "execution": { "taskSupport": "optional" },
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
) -> Result<ToolAnswer, McpError> {
    let arguments = members(arguments)?;
    let told = match arguments.get("message").and_then(|message| message.as_str()) {
        Some(message) if arguments.len() == 1 => message,
        _ => return Ok(done(ToolOutput::error("give exactly one argument: message, a text"))),
    };
    let (task, part) = match task_output::reply(call.resumed) {
        Some(TaskReply::Said(task, part)) => (Some(task), part),
        Some(TaskReply::Declined(task)) => return Ok(done(declined(task))),
        Some(TaskReply::SigningIn(task)) => return Ok(host.after_sign_in(call, task).await?.into()),
        Some(TaskReply::Unreadable(task)) => return Ok(ask_again(host, call, task).await?.into()),
        None => (None, Part::text(told)),
    };
    let patience = host.patience(call);
    let sending = Sending { agent, parts: &[part], task, reporter: call.reporter, patience: &patience };
    let caller = host.doors.inner.caller_of(&call);
    match host.send(&caller, sending).await {
        Ok(crate::Reply::Message(message)) => {
            Ok(done(limited(ToolOutput::text(message.joined_text()), &host.limits(), None)))
        }
        Ok(crate::Reply::Task(task)) => Ok(call_tasks::answer(host, call, &task)),
        Err(DoorError::Unknown) => Err(McpError::unknown_tool(&tool_name(agent))),
        Err(DoorError::Canceled) => Err(McpError::Canceled),
        Err(error) => Ok(done(ToolOutput::error(error.to_string()))),
    }
}

const fn done(output: ToolOutput) -> ToolAnswer {
    ToolAnswer::Ended(Outcome::Done(output))
}

async fn ask_again(host: &KernelHost, call: Call<'_, Caller>, id: TaskId) -> Result<Outcome<ToolOutput>, McpError> {
    Ok(outcome(host, call, &host.task(call.caller, id).await?))
}

pub(super) fn declined(task: TaskId) -> ToolOutput {
    ToolOutput::error(format!("the question was not answered; task {task} still waits for a reply"))
}

/// What a task means to whoever called the agent.
pub(super) fn outcome(host: &KernelHost, call: Call<'_, Caller>, task: &Task) -> Outcome<ToolOutput> {
    let (said, limits) = (task_output::blocks(task), &host.limits());
    let is_external = host.is_external(&task.agent);
    let asking = is_external.then(|| format!("The A2A agent {}", task.agent));
    let answered = |content| Outcome::Done(limited(ToolOutput::of_blocks(content), limits, Some(task.id)));
    match task.status.state {
        TaskState::InputRequired | TaskState::AuthRequired => {
            let question = task_output::question(task, asking.as_deref(), limits.tool_result_chars);
            if let Some((key, question)) = question.filter(|(_, question)| call.client.has(question.needs)) {
                let requests = BTreeMap::from([(key, question)]);
                Outcome::NeedsInput(InputRequired { requests, state: task.id.as_uuid().as_bytes().to_vec() })
            } else if is_external {
                Outcome::Done(limited(external_tools::result_of(&task.agent, task), limits, Some(task.id)))
            } else {
                let id = task.id;
                let how =
                    format!("The agent waits for a reply: answer with the tool {TASK_TOOL} (task {id} and reply)");
                let mut result = limited(ToolOutput::of_blocks(said), limits, Some(task.id));
                result.content.push(Block::text(how));
                Outcome::Done(result)
            }
        }
        _ if is_external => Outcome::Done(limited(external_tools::result_of(&task.agent, task), limits, Some(task.id))),
        TaskState::Submitted | TaskState::Working => Outcome::Done(task_output::still_working(task)),
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

/// An answer within the limits of a result.
fn limited(mut output: ToolOutput, limits: &Limits, task: Option<TaskId>) -> ToolOutput {
    answer_to_limits(&mut output, limits, task);
    output
}

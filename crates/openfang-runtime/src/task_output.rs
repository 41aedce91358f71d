//! A task as the result of a tool call: what it has to say as content blocks, and what it asks as a question to whoever
//! called.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openfang_types::call::{Capability, InputRequest, Resumed};
use openfang_types::content::{Block, ContentBlock, ToolOutput};
use openfang_types::ids::TaskId;
use openfang_types::limits::TASK_INLINE_BYTES;
use openfang_types::task::{Message, Part, PartBody, Task, TaskState};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::answerer::questions;
use crate::mcp_server::raw;

use sign_in_page::SignInPage;

mod sign_in_page;

/// The tool that waits for tasks which were still being worked on when their call returned.
pub const TASK_TOOL: &str = "openfang_task";
/// The question and its answer go under this key.
const REPLY: &str = "reply";
/// The same for a form of a tool that the agent called.
const FORM: &str = "form";
/// The same for the page where somebody signs in. Nothing is sent to the agent, which goes on by itself.
const SIGN_IN: &str = "sign-in";

/// What a task has to say: its artifacts, then its last message. An artifact that came piece by piece is one text.
pub fn blocks(task: &Task) -> Vec<Block> {
    let mut blocks = Vec::new();
    let answer = task.artifacts.iter().enumerate().filter(|(_, artifact)| !artifact.is_commentary());
    for (number, artifact) in answer {
        let (begin, uri) = (blocks.len(), format!("openfang://tasks/{}/artifacts/{number}", task.id));
        for part in &artifact.parts {
            match (&part.body, blocks.get_mut(begin..).and_then(<[_]>::last_mut)) {
                (PartBody::Text(more), Some(ContentBlock::Text { text })) => text.push_str(more),
                _ => blocks.push(block(part, &uri)),
            }
        }
    }
    let uri = format!("openfang://tasks/{}", task.id);
    let said = task.status.message.iter().flat_map(|message| &message.parts);
    blocks.extend(said.map(|part| block(part, &uri)));
    blocks.into_iter().map(Block::from).collect()
}

fn block(part: &Part, uri: &str) -> ContentBlock {
    let mime_type = part.media_type.as_deref().unwrap_or("application/octet-stream").to_owned();
    match &part.body {
        PartBody::Text(text) => ContentBlock::text(text),
        PartBody::Data(value) => ContentBlock::text(value.to_string()),
        PartBody::Url(url) => {
            let name = part.filename.as_deref().unwrap_or(url).to_owned();
            ContentBlock::ResourceLink { uri: url.clone(), name }
        }
        PartBody::Raw(bytes) if mime_type.starts_with("image/") => {
            ContentBlock::Image { data: STANDARD.encode(bytes), mime_type }
        }
        PartBody::Raw(bytes) if mime_type.starts_with("audio/") => {
            ContentBlock::Audio { data: STANDARD.encode(bytes), mime_type }
        }
        // What is large is fetched by those who want it.
        PartBody::Raw(bytes) if bytes.len() > TASK_INLINE_BYTES => {
            let name = part.filename.as_deref().unwrap_or("artifact").to_owned();
            ContentBlock::ResourceLink { uri: uri.to_owned(), name }
        }
        PartBody::Raw(bytes) => ContentBlock::Resource {
            resource: json!({ "uri": uri, "mimeType": mime_type, "blob": STANDARD.encode(bytes) }),
        },
    }
}

/// A task that is still being worked on, as the result of the call that began it.
pub fn still_working(task: &Task) -> ToolOutput {
    let (id, agent) = (task.id, &task.agent);
    let text = format!(
        "The agent {agent} is still working: task {id}. Call {TASK_TOOL} with {{\"task\": \"{id}\"}} to wait for its result."
    );
    let link = ContentBlock::ResourceLink { uri: format!("openfang://tasks/{id}"), name: format!("task {id}") };
    ToolOutput::of_blocks(vec![Block::text(text), Block::from(link)]).with_structured(&summary(task))
}

/// The task that a result of an agent stands for, if the agent still works on it.
pub fn goes_on_as(output: &ToolOutput) -> Option<TaskId> {
    #[derive(Deserialize)]
    struct Summary {
        state: TaskState,
        task: TaskId,
    }
    let Summary { state, task } = serde_json::from_str(output.structured.as_ref()?.get()).ok()?;
    matches!(state, TaskState::Submitted | TaskState::Working).then_some(task)
}

/// What a caller needs to know of a task to go on with it.
pub fn summary(task: &Task) -> Value {
    json!({ "state": task.status.state, "task": task.id, "context": task.context_id })
}

/// The data part of a task that has exactly one.
pub fn only_data(task: &Task) -> Option<&Value> {
    let said = task.status.message.iter().flat_map(|message| &message.parts);
    let mut all = task
        .artifacts
        .iter()
        .flat_map(|artifact| &artifact.parts)
        .chain(said)
        .filter_map(Part::as_data);
    let only = all.next()?;
    all.next().is_none().then_some(only)
}

/// What the caller is asked: the form of a tool that the agent called, else for a reply in words. `asking` says who asks.
/// An agent that wants a credential gets no form: nobody should type one there. If it names a page, the page is shown.
pub fn question(task: &Task, asking: Option<&str>, max_chars: usize) -> Option<(String, InputRequest)> {
    let message = task.status.message.as_ref();
    let says = |text: &str| match asking {
        Some(who) => format!("{who} asks: {text}"),
        None => text.to_owned(),
    };
    if let Some(form) = message.and_then(questions::form_in) {
        let is_page = form.get("mode").is_some_and(|mode| mode == "url");
        let needs = if is_page { Capability::ElicitationUrl } else { Capability::ElicitationForm };
        // Of an agent on another server, a page that is not one is no question.
        if is_page && asking.is_some() && form.get("url").and_then(Value::as_str).and_then(SignInPage::of).is_none() {
            return None;
        }
        let mut form = form.clone();
        if let Some(Value::String(text)) = form.get_mut("message") {
            *text = says(text);
        }
        return Some((FORM.to_owned(), InputRequest { needs, method: "elicitation/create", params: raw(&form) }));
    }
    if let (TaskState::AuthRequired, Some(who)) = (task.status.state, asking) {
        let page = SignInPage::in_message(message?)?;
        return Some((SIGN_IN.to_owned(), page.request(task, who, max_chars)));
    }
    let question = message.map(Message::joined_text).unwrap_or_default();
    let question: String = question.chars().take(max_chars).collect();
    let question = if question.is_empty() { "The agent waits for a reply.".to_owned() } else { says(&question) };
    let schema = json!({
        "type": "object",
        "properties": { REPLY: { "type": "string", "title": "Reply" } },
        "required": [REPLY],
    });
    Some((REPLY.to_owned(), InputRequest::elicitation(&question, &schema)))
}

/// What a caller answered.
pub enum TaskReply {
    /// This was said to the task.
    Said(TaskId, Part),
    /// The question was not answered; the task waits on.
    Declined(TaskId),
    /// The user opened the page where the agent wants a sign-in. The agent goes on by itself.
    SigningIn(TaskId),
    /// The answer cannot be read: the question is put again.
    Unreadable(TaskId),
}

/// What a caller answered to the question of a task; none if the call is a new one.
pub fn reply(resumed: Option<&Resumed>) -> Option<TaskReply> {
    let resumed = resumed?;
    let task = TaskId::from_uuid(Uuid::from_slice(&resumed.state).ok()?);
    // The form is a tool's own: the tool is given the answer as it is, a refusal too.
    if let Some(form) = resumed.answers.get(FORM) {
        let part = serde_json::from_str(form.get()).map(Part::data);
        return Some(part.map_or(TaskReply::Unreadable(task), |part| TaskReply::Said(task, part)));
    }
    if let Some(answer) = resumed.answers.get(SIGN_IN) {
        return Some(match elicited(answer).map(|elicited| elicited.action).as_deref() {
            Some("accept") => TaskReply::SigningIn(task),
            Some("decline" | "cancel") => TaskReply::Declined(task),
            Some(_) | None => TaskReply::Unreadable(task),
        });
    }
    Some(match resumed.answers.get(REPLY) {
        Some(answer) => reply_in(task, answer),
        None => TaskReply::Unreadable(task),
    })
}

/// The answer of a client's user.
#[derive(Deserialize)]
struct Elicited {
    action: String,
    #[serde(default)]
    content: BTreeMap<String, Value>,
}

fn elicited(answer: &RawValue) -> Option<Elicited> {
    serde_json::from_str(answer.get()).ok()
}

fn reply_in(task: TaskId, answer: &RawValue) -> TaskReply {
    let Some(elicited) = elicited(answer) else { return TaskReply::Unreadable(task) };
    // Some clients name the member otherwise. If there is only one, it is the reply.
    let only = elicited.content.values().next().filter(|_| elicited.content.len() == 1);
    match (elicited.action.as_str(), elicited.content.get(REPLY).or(only).and_then(Value::as_str)) {
        ("accept", Some(reply)) => TaskReply::Said(task, Part::text(reply)),
        ("decline" | "cancel", _) => TaskReply::Declined(task),
        _ => TaskReply::Unreadable(task),
    }
}

#[cfg(test)]
#[path = "task_output_tests.rs"]
mod tests;

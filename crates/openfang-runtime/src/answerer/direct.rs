//! No model at all: a message names a tool, or is given to the agent's default tool.
//!
//! A data part `{"tool": ..., "arguments": ...}` or the text `/tool_name {json}` calls that tool. Other text goes to
//! `default_tool`. Without one the agent asks back and says what it can do.

use futures_util::future::BoxFuture;
use openfang_types::agent::AgentManifest;
use openfang_types::ids::ToolName;
use openfang_types::task::{Message, Part, TaskState};
use openfang_types::tool::ToolDefinition;
use serde_json::{Value, json};

use super::{
    AgentRun, Answerer, Called, Ending, Recovery, RunStopped, Turn, arguments_or_empty, may_repeat, questions,
};
use crate::catalog::Catalog;
use crate::context::CallContext;
use crate::pipeline::{Pipeline, ToolCall, capability};

pub struct Direct;

/// What a message asks for.
#[derive(Debug, PartialEq)]
pub(super) enum Wish {
    Call(ToolName, Value),
    /// Nothing in particular: here is a text.
    Text(String),
    /// A tool, in a way that cannot be read.
    Unreadable(String),
}

impl Answerer for Direct {
    fn plain_reply(&self, _: &Message) -> Option<Vec<Part>> {
        None
    }

    fn recovery(&self, turn: &Turn<'_>, agent: &AgentManifest, catalog: &Catalog) -> Recovery {
        let tool = match wish_of(turn.message) {
            Wish::Call(tool, _) => Some(tool),
            Wish::Text(_) => agent.default_tool.clone(),
            Wish::Unreadable(_) => None,
        };
        if tool.is_none_or(|tool| may_repeat(catalog, &tool)) { Recovery::Resume } else { Recovery::Fail }
    }

    fn run<'a>(&'a self, run: &'a AgentRun<'a>, turn: &'a Turn<'a>) -> BoxFuture<'a, Result<Ending, RunStopped>> {
        Box::pin(async move {
            let called = match questions::resumed(turn) {
                Some(Ok((call, answers))) => run.resume(call, answers, turn.number).await?,
                Some(Err(ending)) => return Ok(ending),
                None => {
                    let call = match wish_of(turn.message) {
                        Wish::Call(name, arguments) => ToolCall { name, arguments: arguments.into() },
                        Wish::Unreadable(why) => return Ok(Ending::saying(TaskState::Failed, why)),
                        Wish::Text(text) => match default_call(run, text.trim()) {
                            Some(call) => call,
                            None => {
                                return Ok(Ending::saying(TaskState::InputRequired, can_do(run.cx, run.pipeline)));
                            }
                        },
                    };
                    run.call_tool(call, turn.number).await?
                }
            };
            Ok(match called {
                Called::Answered(_) => Ending::completed(),
                Called::Failed(why) => Ending::saying(TaskState::Failed, why),
                Called::Refused(error) => Ending::saying(TaskState::Failed, error.to_string()),
                Called::Asks(call) => Ending::asking(*call),
            })
        })
    }
}

pub(super) fn wish_of(message: &Message) -> Wish {
    let mut named = message.parts.iter().filter_map(Part::as_data).filter(|data| data.get("tool").is_some());
    if let Some(data) = named.next() {
        if named.next().is_some() {
            return Wish::Unreadable("the message names several tools; send a message for each".to_owned());
        }
        return match data.get("tool").and_then(Value::as_str) {
            Some(tool) => call_of(tool, arguments_or_empty(data.get("arguments"))),
            None => Wish::Unreadable("the `tool` of a data part must be the name of a tool".to_owned()),
        };
    }
    let text = message.joined_text();
    let Some(command) = text.trim().strip_prefix('/') else { return Wish::Text(text) };
    let (tool, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    match arguments_of(rest.trim()) {
        Ok(arguments) => call_of(tool, arguments),
        Err(why) => {
            Wish::Unreadable(format!("what follows /{tool} is not JSON ({why}); write /{tool} {{\"name\": value}}"))
        }
    }
}

fn call_of(tool: &str, arguments: Value) -> Wish {
    match tool.parse() {
        Ok(name) => Wish::Call(name, arguments),
        Err(why) => Wish::Unreadable(format!("{why}")),
    }
}

fn arguments_of(text: &str) -> Result<Value, String> {
    if text.is_empty() {
        return Ok(json!({}));
    }
    openfang_types::scan::scan(text.as_bytes()).map_err(|error| error.to_string())?;
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn default_call(run: &AgentRun<'_>, text: &str) -> Option<ToolCall<'static>> {
    if text.is_empty() {
        return None;
    }
    let name = run.agent.default_tool.as_ref()?;
    let tool = run.pipeline.catalog().get(name)?;
    let definition = tool.definition();
    let parameter = text_parameter(&definition)?;
    Some(ToolCall { name: name.clone(), arguments: json!({ parameter: text }).into() })
}

/// The one parameter that can take plain text: the only string among the required ones, else among all.
pub fn text_parameter(tool: &ToolDefinition) -> Option<&str> {
    let properties = tool.input_schema.get("properties")?.as_object()?;
    let required: Vec<&str> = tool
        .input_schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if required.iter().any(|key| !properties.get(*key).is_some_and(takes_text)) {
        return None;
    }
    let candidates = properties
        .iter()
        .filter(|(key, schema)| takes_text(schema) && (required.is_empty() || required.contains(&key.as_str())));
    match candidates.collect::<Vec<_>>().as_slice() {
        [(key, _)] => Some(key.as_str()),
        _ => None,
    }
}

/// Whether a text fits, as far as types tell; an optional one may be written as a choice.
pub(super) fn takes_text(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::String(kind)) => kind == "string",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "string"),
        _ => schema
            .get("anyOf")
            .and_then(Value::as_array)
            .is_some_and(|choice| choice.iter().any(takes_text)),
    }
}

fn can_do(cx: &CallContext, pipeline: &Pipeline) -> String {
    let tools = pipeline.catalog().sorted();
    let lines: Vec<String> = tools
        .iter()
        .filter(|tool| tool.traits().is_some_and(|traits| capability::allows(cx, &traits)))
        .filter_map(|tool| Some(format!("/{} : {}", tool.name(), tool.definition()?.description)))
        .collect();
    if lines.is_empty() {
        return "This agent may use no tools; give it some under [capabilities] in its agent.toml.".to_owned();
    }
    format!("Name a tool, for instance /{{tool}} {{\"argument\": 1}}. This agent can use:\n{}", lines.join("\n"))
}

#[cfg(test)]
#[path = "direct_tests.rs"]
mod tests;

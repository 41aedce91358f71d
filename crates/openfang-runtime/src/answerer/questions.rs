//! Questions of a tool call, as the words of a task, and the answers in a message.
//!
//! A question is a text with the way to answer it, and a data part of the media type [`MEDIA_TYPE`] for programs, which holds
//! the parameters of MCP's elicitation. An answer is a data part `{action, content}`, a data part with the content, or a
//! text: the one required property of the form if there is exactly one, else JSON.

use std::collections::BTreeMap;

use openfang_types::call::{Capability, ClientCapabilities, InputRequest, InputRequired, Resumed};
use openfang_types::task::{Message, Part, PartBody, Role, TaskState};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::direct::takes_text;
use super::{Ending, Turn, WaitingCall};

/// The media type of the data part that holds a question.
pub const MEDIA_TYPE: &str = "application/vnd.mcp.elicitation+json";
/// The member of the part's metadata that holds the key of the question.
const KEY: &str = "openfang/question";

/// What somebody who talks to an agent can be asked.
pub fn askable() -> ClientCapabilities {
    ClientCapabilities::everything().filtered(|capability| match capability {
        Capability::ElicitationForm | Capability::ElicitationUrl => true,
        Capability::Sampling | Capability::Roots => false,
    })
}

/// Puts questions: the state that a task has while it waits, and what it says.
pub(super) fn put(questions: &InputRequired) -> (TaskState, Vec<Part>) {
    let mut state = TaskState::InputRequired;
    let mut parts = Vec::new();
    for (key, request) in &questions.requests {
        let params: Value = serde_json::from_str(request.params.get()).unwrap_or_default();
        let message = params.get("message").and_then(Value::as_str).unwrap_or("The tool asks for input.");
        match request.needs {
            Capability::ElicitationUrl => {
                state = TaskState::AuthRequired;
                parts.push(Part::text(format!("{message}\nOpen the link, then reply with any text.")));
                let url = params.get("url").and_then(Value::as_str);
                parts.extend(url.map(|url| Part::new(PartBody::Url(url.to_owned()))));
            }
            Capability::ElicitationForm | Capability::Sampling | Capability::Roots => {
                parts.push(Part::text(format!("{message}\n{}", how_to_answer(&params))));
            }
        }
        let mut data = Part::data(params);
        data.media_type = Some(MEDIA_TYPE.to_owned());
        data.metadata.insert(KEY.to_owned(), Value::from(key.as_str()));
        parts.push(data);
    }
    (state, parts)
}

fn how_to_answer(params: &Value) -> String {
    let properties = properties_of(params);
    match only_property(params) {
        Some(name) => format!("Reply with {name}, or with /decline."),
        None if properties.is_empty() => "Reply with any text to accept, or with /decline.".to_owned(),
        None => {
            let names: Vec<&str> = properties.keys().map(String::as_str).collect();
            format!("Reply with JSON, with the members {}, or with /decline.", names.join(", "))
        }
    }
}

/// Whether somebody was asked by a call: a part holds a question.
pub fn is_asking(message: &Message) -> bool {
    message.parts.iter().any(|part| part.media_type.as_deref() == Some(MEDIA_TYPE))
}

/// The form of a question that a message puts, for a client that can show it.
pub fn form_in(message: &Message) -> Option<&Value> {
    let mut forms = message.parts.iter().filter(|part| part.media_type.as_deref() == Some(MEDIA_TYPE));
    let form = forms.next()?;
    // Several forms at a time have no way to be one question.
    forms.next().is_none().then(|| form.as_data())?
}

/// The call that a turn goes on with, and the answers; or how the turn ends because there is none, or no answer.
pub(super) fn resumed<'t>(turn: &Turn<'t>) -> Option<Result<(&'t WaitingCall, Resumed), Ending>> {
    match turn.waiting {
        Some(call) => Some(match answers(turn.message, &call.questions) {
            Ok(answers) => Ok((call, answers)),
            // Asked again, with what is wrong.
            Err(why) => {
                let mut ending = Ending::asking(call.clone());
                ending.parts.insert(0, Part::text(why));
                Err(ending)
            }
        }),
        None => {
            let asked = turn.history.iter().rev().find(|said| said.role == Role::Agent).is_some_and(is_asking);
            let lost = "the call that asked is gone, because the server was restarted meanwhile; ask again";
            asked.then(|| Err(Ending::saying(TaskState::Failed, lost)))
        }
    }
}

/// The answers that a message brings, or why it brings none.
fn answers(message: &Message, questions: &InputRequired) -> Result<Resumed, String> {
    let mut answers = BTreeMap::new();
    for (key, request) in &questions.requests {
        let answer = answer_to(message, request, (key, questions.requests.len() == 1))?;
        answers.insert(key.clone(), answer);
    }
    Ok(Resumed { answers, state: questions.state.clone() })
}

fn answer_to(message: &Message, request: &InputRequest, (key, is_only): (&str, bool)) -> Result<Box<RawValue>, String> {
    let params: Value = serde_json::from_str(request.params.get()).unwrap_or_default();
    let is_for_us = |part: &&Part| match part.metadata.get(KEY).and_then(Value::as_str) {
        Some(named) => named == key,
        None => is_only,
    };
    let data = message.parts.iter().filter(is_for_us).find_map(|part| part.as_data()?.as_object());
    let answer = match data {
        Some(data) if data.get("action").is_some_and(Value::is_string) => Value::Object(data.clone()),
        Some(content) => json!({ "action": "accept", "content": content }),
        None => from_text(message.joined_text().trim(), request.needs, &params)?,
    };
    check(&answer, request.needs, &params)?;
    to_raw_value(&answer).map_err(|error| error.to_string())
}

fn from_text(text: &str, needs: Capability, params: &Value) -> Result<Value, String> {
    match text {
        "" => return Err(format!("the reply is empty. {}", how_to_answer(params))),
        "/decline" => return Ok(json!({ "action": "decline" })),
        "/cancel" => return Ok(json!({ "action": "cancel" })),
        _ => {}
    }
    if needs == Capability::ElicitationUrl {
        return Ok(json!({ "action": "accept" }));
    }
    if let Some(name) = only_property(params) {
        let value = typed(text, properties_of(params).get(name));
        let content = Map::from_iter([(name.to_owned(), value)]);
        return Ok(json!({ "action": "accept", "content": content }));
    }
    if properties_of(params).is_empty() {
        return Ok(json!({ "action": "accept", "content": {} }));
    }
    match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(content) => Ok(json!({ "action": "accept", "content": content })),
        Err(_) => Err(how_to_answer(params)),
    }
}

/// A text as the value that a property takes.
pub fn typed(text: &str, schema: Option<&Value>) -> Value {
    let kind = schema.and_then(|schema| schema.get("type")).and_then(Value::as_str);
    match kind {
        Some("boolean") => match text.to_ascii_lowercase().as_str() {
            "yes" | "y" | "true" => Value::Bool(true),
            "no" | "n" | "false" => Value::Bool(false),
            _ => Value::from(text),
        },
        Some("number" | "integer") => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)),
        Some("array") => serde_json::from_str(text).unwrap_or_else(|_| json!([text])),
        _ => Value::from(text),
    }
}

/// Refuses an answer whose members do not fit the form; the server has the last word on the rest.
fn check(answer: &Value, needs: Capability, params: &Value) -> Result<(), String> {
    if needs != Capability::ElicitationForm || answer.get("action") != Some(&Value::from("accept")) {
        return Ok(());
    }
    let nothing = Map::new();
    let content = answer.get("content").and_then(Value::as_object).unwrap_or(&nothing);
    let missing = required(params).find(|name| !content.contains_key(*name));
    if let Some(missing) = missing {
        return Err(format!("the reply does not say {missing}. {}", how_to_answer(params)));
    }
    for (name, schema) in &properties_of(params) {
        if content.get(name).is_some_and(|value| !fits(value, schema)) {
            return Err(format!("{name} is not what is asked for ({schema}). {}", how_to_answer(params)));
        }
    }
    Ok(())
}

/// Whether a value has the type of a property, as far as forms have types, and is one of its choices.
pub fn fits(value: &Value, schema: &Value) -> bool {
    let has_type = match schema.get("type").and_then(Value::as_str) {
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("number") => value.is_number(),
        Some("integer") => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        Some("array") => value.is_array(),
        _ => true,
    };
    let choices = schema.get("enum").and_then(Value::as_array);
    has_type && choices.is_none_or(|choices| choices.contains(value))
}

fn properties_of(params: &Value) -> Map<String, Value> {
    let properties = params.get("requestedSchema").and_then(|schema| schema.get("properties"));
    properties.and_then(Value::as_object).cloned().unwrap_or_default()
}

fn required(params: &Value) -> impl Iterator<Item = &str> {
    let required = params.get("requestedSchema").and_then(|schema| schema.get("required"));
    required.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The property that a plain text answers: the only required one, else the only one.
fn only_property(params: &Value) -> Option<&str> {
    let mut required = required(params);
    if let (Some(only), None) = (required.next(), required.next()) {
        return Some(only);
    }
    let properties = params.get("requestedSchema")?.get("properties")?.as_object()?;
    let mut names = properties.iter();
    match (names.next(), names.next()) {
        (Some((name, schema)), None) if takes_text(schema) || schema.get("type").is_some() => Some(name),
        _ => None,
    }
}

#[cfg(test)]
#[path = "questions_tests.rs"]
mod tests;

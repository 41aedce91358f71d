//! Tools that need input from the client. An answer of the wrong shape is ignored, and the question is asked again.

use openfang_mcp::capabilities::Capability;
use openfang_mcp::error::McpError;
use openfang_mcp::host::{Call, InputRequest, InputRequired, Outcome};
use openfang_types::content::ToolOutput;
use serde_json::{Value, json};

use super::CallResult;

pub(super) fn needs_sampling(call: &Call<'_, ()>, _: &Value) -> CallResult {
    call.needs(Capability::Sampling)?;
    done("The client has a model.")
}

pub(super) fn sampling(call: &Call<'_, ()>, arguments: &Value) -> CallResult {
    let prompt = text_of(arguments, "prompt")?;
    match said(call, "answer") {
        Some(text) => done(&format!("LLM response: {text}")),
        None => ask([("answer", model(&prompt))], b""),
    }
}

pub(super) fn elicitation(call: &Call<'_, ()>, arguments: &Value) -> CallResult {
    let message = text_of(arguments, "message")?;
    let schema = json!({
        "type": "object",
        "properties": {
            "username": { "type": "string", "description": "The user's name" },
            "email": { "type": "string", "description": "The user's address" },
        },
        "required": ["username", "email"],
    });
    form(call, &message, &schema)
}

pub(super) fn defaults(call: &Call<'_, ()>, _: &Value) -> CallResult {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "default": "John Doe" },
            "age": { "type": "integer", "default": 30 },
            "score": { "type": "number", "default": 95.5 },
            "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
            "verified": { "type": "boolean", "default": true },
        },
        "required": [],
    });
    form(call, "Change what is not right.", &schema)
}

pub(super) fn enums(call: &Call<'_, ()>, _: &Value) -> CallResult {
    let titled = json!([
        { "const": "value1", "title": "First" },
        { "const": "value2", "title": "Second" },
        { "const": "value3", "title": "Third" },
    ]);
    let plain = json!(["option1", "option2", "option3"]);
    let schema = json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": plain },
            "titledSingle": { "type": "string", "oneOf": titled },
            "legacyEnum": {
                "type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"],
            },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
            "titledMulti": { "type": "array", "items": { "anyOf": titled } },
        },
        "required": [],
    });
    form(call, "Choose.", &schema)
}

pub(super) fn tells_and_asks(call: &Call<'_, ()>, _: &Value) -> CallResult {
    call.reporter.progress(1.0, None, Some("about to ask"));
    name(call, &Value::Null)
}

pub(super) fn name(call: &Call<'_, ()>, _: &Value) -> CallResult {
    match filled(call, "user_name", "name") {
        Some(name) => done(&format!("Hello, {name}!")),
        None => ask([("user_name", question("What is your name?", "name", "string"))], b""),
    }
}

pub(super) fn capital(call: &Call<'_, ()>, _: &Value) -> CallResult {
    match said(call, "capital_question") {
        Some(text) => done(&text),
        None => ask([("capital_question", model("What is the capital of France?"))], b""),
    }
}

pub(super) fn roots(call: &Call<'_, ()>, _: &Value) -> CallResult {
    match directories(call, "client_roots") {
        Some(count) => done(&format!("The client has {count} directories.")),
        None => ask([("client_roots", InputRequest::roots())], b""),
    }
}

/// Trusts the returned state, because only this server can have created it.
pub(super) fn confirms(call: &Call<'_, ()>, _: &Value) -> CallResult {
    let is_ours = call.resumed.is_some_and(|resumed| resumed.state == b"asked to confirm");
    match answered(call, "confirm") {
        Some(_) if is_ours => done("state-ok"),
        _ => ask([("confirm", question("Please confirm", "ok", "boolean"))], b"asked to confirm"),
    }
}

pub(super) fn three(call: &Call<'_, ()>, _: &Value) -> CallResult {
    let name = filled(call, "user_name", "name");
    match (name, said(call, "greeting"), directories(call, "client_roots")) {
        (Some(name), Some(greeting), Some(count)) => done(&format!("{greeting} {name} has {count} directories.")),
        _ => ask(
            [
                ("user_name", question("What is your name?", "name", "string")),
                ("greeting", model("Generate a greeting")),
                ("client_roots", InputRequest::roots()),
            ],
            b"asked for three",
        ),
    }
}

/// The first answer is stored in the state of the second question.
pub(super) fn twice(call: &Call<'_, ()>, _: &Value) -> CallResult {
    let state = call.resumed.map(|resumed| resumed.state.as_slice()).unwrap_or_default();
    let color = question("Step 2: What is your favorite color?", "color", "string");
    match state.strip_prefix(b"name: ") {
        Some(name) => match filled(call, "step2", "color") {
            Some(color) => done(&format!("{} likes {color}.", String::from_utf8_lossy(name))),
            None => ask([("step2", color)], state),
        },
        None => match filled(call, "step1", "name") {
            Some(name) => ask([("step2", color)], format!("name: {name}").as_bytes()),
            None => ask([("step1", question("Step 1: What is your name?", "name", "string"))], b"first"),
        },
    }
}

/// Asks in any way the client supports.
pub(super) fn what_it_may(call: &Call<'_, ()>, _: &Value) -> CallResult {
    if call.resumed.is_some() {
        return done("The client answered.");
    }
    let mut questions = Vec::new();
    if call.client.has(Capability::Sampling) {
        questions.push(("greeting", model("Generate a greeting")));
    }
    if call.client.has(Capability::ElicitationForm) {
        questions.push(("user_name", question("What is your name?", "name", "string")));
    }
    if questions.is_empty() { done("The client cannot be asked.") } else { ask(questions, b"") }
}

/// A form and its result.
fn form(call: &Call<'_, ()>, message: &str, schema: &Value) -> CallResult {
    match answered(call, "form") {
        Some(answer) => {
            let action = answer["action"].as_str().unwrap_or_default();
            done(&format!("Elicitation completed: action={action}, content={}", answer["content"]))
        }
        None => ask([("form", InputRequest::elicitation(message, schema))], b""),
    }
}

/// A form with one field, also used by the prompts.
pub(super) fn question(message: &str, field: &str, kind: &str) -> InputRequest {
    let schema = json!({ "type": "object", "properties": { field: { "type": kind } }, "required": [field] });
    InputRequest::elicitation(message, &schema)
}

/// The text in a field of a returned form. A user who declines is not asked again.
pub(super) fn filled(call: &Call<'_, ()>, key: &str, field: &str) -> Option<String> {
    let answer = answered(call, key)?;
    match answer["action"].as_str() {
        Some("accept") => answer["content"][field].as_str().map(str::to_owned),
        _ => Some("(not said)".to_owned()),
    }
}

fn model(prompt: &str) -> InputRequest {
    let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
    InputRequest::sampling(&json!({ "messages": [message], "maxTokens": 100 }))
}

/// A returned form, whatever the user did with it.
fn answered(call: &Call<'_, ()>, key: &str) -> Option<Value> {
    answer(call, key).filter(|answer| answer["action"].is_string())
}

fn said(call: &Call<'_, ()>, key: &str) -> Option<String> {
    answer(call, key)?["content"]["text"].as_str().map(str::to_owned)
}

fn directories(call: &Call<'_, ()>, key: &str) -> Option<usize> {
    answer(call, key)?["roots"].as_array().map(Vec::len)
}

fn answer(call: &Call<'_, ()>, key: &str) -> Option<Value> {
    serde_json::from_str(call.answer(key)?.get()).ok()
}

fn text_of(arguments: &Value, name: &str) -> Result<String, McpError> {
    let missing = || McpError::InvalidParams(format!("the tool takes a text called {name}"));
    arguments[name].as_str().map(str::to_owned).ok_or_else(missing)
}

/// Requires these answers first.
pub(super) fn ask<'a, T>(
    questions: impl IntoIterator<Item = (&'a str, InputRequest)>,
    state: &[u8],
) -> Result<Outcome<T>, McpError> {
    let requests = questions.into_iter().map(|(key, request)| (key.to_owned(), request)).collect();
    Ok(Outcome::NeedsInput(InputRequired { requests, state: state.to_vec() }))
}

fn done(text: &str) -> CallResult {
    Ok(Outcome::Done(ToolOutput::text(text)))
}

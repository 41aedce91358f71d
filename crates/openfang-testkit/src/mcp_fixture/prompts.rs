//! The prompts, and the completion of their arguments.

use std::collections::BTreeMap;

use openfang_mcp::content::{Beside, Completion, PromptMessage, PromptResult, PromptRole};
use openfang_mcp::error::McpError;
use openfang_mcp::host::{Call, Completing, CompletionOf, Outcome};
use openfang_mcp::listing::Listed;
use serde_json::{Value, json};

use super::answering::{block, embedded, picture};
use super::asking;
use super::lists::{ChangingList, entry};

/// The name of the optional prompt.
const PASSING: &str = "test_passing_prompt";
const WITH_ARGUMENTS: &str = "test_prompt_with_arguments";
/// The usual values of the first argument.
const USUAL: [&str; 3] = ["paris", "park", "party"];

/// The names and their further members.
const PROMPTS: &[(&str, &str)] = &[
    ("test_simple_prompt", r#""title":"Simple","description":"Says one thing.""#),
    (
        WITH_ARGUMENTS,
        r#""description":"Says two things.","arguments":[{"name":"arg1","description":"The first.","required":true},{"name":"arg2","description":"The second.","required":true}]"#,
    ),
    (
        "test_prompt_with_embedded_resource",
        r#""description":"Shows a resource.","arguments":[{"name":"resourceUri","description":"Which.","required":true}]"#,
    ),
    ("test_prompt_with_image", r#""description":"Shows a picture.""#),
    ("test_input_required_result_prompt", r#""description":"Asks what it is about.""#),
    (PASSING, r#""description":"Comes and goes.""#),
];

pub(super) fn listed() -> ChangingList {
    let entries: Vec<_> = PROMPTS.iter().map(|(name, members)| entry(name, members)).collect();
    ChangingList::new(Listed::Prompts, &entries, PASSING)
}

/// A prompt with its arguments filled in.
pub(super) fn filled(
    call: &Call<'_, ()>,
    name: &str,
    arguments: &BTreeMap<String, String>,
) -> Result<Outcome<PromptResult>, McpError> {
    let argument = |name: &str| {
        let missing = || McpError::InvalidParams(format!("the prompt takes an argument called {name}"));
        arguments.get(name).map(String::as_str).ok_or_else(missing)
    };
    match name {
        "test_simple_prompt" | PASSING => says(&[text("This is a simple prompt for testing.")]),
        WITH_ARGUMENTS => {
            says(&[text(&format!("Prompt with arguments: '{}' and '{}'", argument("arg1")?, argument("arg2")?))])
        }
        "test_prompt_with_embedded_resource" => {
            let resource = embedded(argument("resourceUri")?, "text/plain", "Embedded resource content for testing.");
            says(&[resource, text("Please process the embedded resource above.")])
        }
        "test_prompt_with_image" => says(&[picture(), text("Please analyze the image above.")]),
        "test_input_required_result_prompt" => match asking::filled(call, "user_context", "context") {
            Some(context) => says(&[text(&format!("Use this context: {context}"))]),
            None => {
                let question = asking::question("What context should the prompt use?", "context", "string");
                asking::ask([("user_context", question)], b"")
            }
        },
        _ => Err(McpError::unknown_prompt(name)),
    }
}

/// Ways to complete an argument.
pub(super) fn completed(asked: Completing<'_>) -> Result<Completion, McpError> {
    let values: Vec<String> = match (asked.of, asked.argument) {
        (CompletionOf::Prompt(WITH_ARGUMENTS), "arg1") => USUAL
            .iter()
            .filter(|usual| usual.starts_with(asked.value))
            .map(|usual| (*usual).to_owned())
            .collect(),
        (CompletionOf::Prompt(_) | CompletionOf::Template(_), _) => Vec::new(),
    };
    Ok(Completion { total: Some(values.len()), has_more: Some(false), values })
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn says(blocks: &[Value]) -> Result<Outcome<PromptResult>, McpError> {
    let message = |content: &Value| PromptMessage { role: PromptRole::User, content: block(content) };
    Ok(Outcome::Done(PromptResult {
        description: None,
        messages: blocks.iter().map(message).collect(),
        beside: Beside::default(),
    }))
}

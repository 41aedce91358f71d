//! `openfang tool`: what there is, how it behaves, and calling it.

use std::sync::Arc;

use openfang_types::ids::{AgentName, ToolName};
use openfang_types::limits::CANCEL_GRACE;
use openfang_types::tool::{Origin, ToolAnnotations, ToolDefinition};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::argument_or_stdin;
use crate::args::ToolCommand;
use crate::backend::{Backend, CallOf};
use crate::error::{CliError, Exit};
use crate::output::{Fields, Table};
use crate::session::Session;
use crate::signals::Signals;
use crate::suggest;
use crate::talk::Talk;
use crate::view::output_text;
use crate::waiting::Waiting;

mod arguments;

pub(super) async fn run(session: &Session, command: ToolCommand) -> Result<Exit, CliError> {
    match command {
        ToolCommand::List { agent } => list(session, agent.as_ref()).await,
        ToolCommand::Show { name } => {
            let backend = Backend::open(session).await?;
            match backend.tool(&name).await {
                Ok(tool) => show(session, &tool),
                Err(error) => Err(suggest::for_tool(&backend, error, &name).await),
            }
        }
        ToolCommand::Call { name, pairs, args } => call(session, &name, &pairs, args).await,
    }
}

async fn list(session: &Session, agent: Option<&AgentName>) -> Result<Exit, CliError> {
    let backend = Backend::open(session).await?;
    let tools = match (backend.tools(agent).await, agent) {
        (Ok(tools), _) => tools,
        (Err(error), Some(agent)) => return Err(suggest::for_agent(&backend, error, agent).await),
        (Err(error), None) => return Err(error),
    };
    if session.output.is_json() {
        session.output.document(&json!({ "tools": tools }))?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["NAME", "SINK", "DESCRIPTION"]);
    for tool in &tools {
        table.row([(&tool.name).into(), tool.sink.into(), (&tool.description).into()]);
    }
    session.output.table(&table)?;
    if tools.is_empty() {
        session.output.note("no tools; an agent gets them under [capabilities] in its agent.toml");
    }
    Ok(Exit::Ok)
}

fn show(session: &Session, tool: &ToolDefinition) -> Result<Exit, CliError> {
    if session.output.is_json() {
        session.output.document(tool)?;
        return Ok(Exit::Ok);
    }
    let mut fields = Fields::default();
    fields.add("name", &tool.name);
    fields.add("description", &tool.description);
    if is_believed(session, tool) {
        fields.add("behaves", hints(tool.annotations));
    }
    fields.add("sink", format!("{}: {}", tool.sink, tool.sink.rule()));
    session.output.fields(&fields)?;
    let arguments = arguments_of(&tool.input_schema);
    if arguments.is_empty() {
        session.output.text("\nno arguments")?;
    } else {
        let mut table = Table::new(&["ARGUMENT", "TYPE", "REQUIRED", "DESCRIPTION"]);
        for argument in arguments {
            let required = if argument.is_required { "yes" } else { "no" };
            table.row([argument.name.into(), argument.kind.into(), required.into(), argument.description.into()]);
        }
        session.output.text("")?;
        session.output.table(&table)?;
    }
    session.output.note(&format!(
        "call it: {}",
        session.command(&format!("tool call {}{}", tool.name, arguments::example(&tool.input_schema)))
    ));
    Ok(Exit::Ok)
}

/// Whether the hints of a tool count. Those of an MCP server that is not trusted are claims.
fn is_believed(session: &Session, tool: &ToolDefinition) -> bool {
    let Origin::McpServer(server) = &tool.origin else { return true };
    let config = session.config(&[]);
    config.is_ok_and(|config| config.mcp_servers.iter().any(|entry| entry.name == *server && entry.trusted))
}

pub(super) async fn call(
    session: &Session,
    name: &ToolName,
    pairs: &[String],
    arguments: Option<String>,
) -> Result<Exit, CliError> {
    let mut arguments = arguments::parsed(arguments.map(argument_or_stdin).transpose()?.as_deref())?;
    let backend = Backend::open(session).await?;
    if !pairs.is_empty() {
        match backend.tool(name).await {
            Ok(tool) => arguments::add_pairs(&mut arguments, pairs, &tool.input_schema)?,
            Err(error) => return Err(suggest::for_tool(&backend, error, name).await),
        }
    }
    let talk = Arc::new(Talk::new(&session.output));
    let waiting = Waiting::new(&session.output, format!("{name} is running"));
    let call = CallOf { name, arguments, cancel: CancellationToken::new() };
    let mut signals = Signals::listen().map_err(CliError::Runtime)?;
    let called = {
        let calling = backend.call_tool(&call, &talk);
        tokio::pin!(calling);
        tokio::select! {
            called = &mut calling => called,
            never = waiting.show(|| !talk.has_progress()) => match never {},
            stop = signals.next() => {
                call.cancel.cancel();
                // The tool gets a moment to stop; a daemon stops it when we hang up.
                let _ = tokio::time::timeout(CANCEL_GRACE, calling).await;
                waiting.end();
                talk.end();
                session.output.note(&format!("{name} was canceled"));
                return Ok(stop.exit());
            }
        }
    };
    waiting.end();
    talk.end();
    let result = match called {
        Ok(result) => result,
        Err(error) => return Err(suggest::for_tool(&backend, with_hint(error, session, name), name).await),
    };
    let text = output_text(&result);
    match (session.output.is_json(), result.is_error) {
        (true, _) => session.output.document(&result)?,
        (false, true) => session.output.complaint(&format!("{name} failed: {text}")),
        (false, false) => session.output.text(&text)?,
    }
    Ok(if result.is_error { Exit::Failed } else { Exit::Ok })
}

/// Whoever got the arguments wrong wants to see what they should be.
fn with_hint(error: CliError, session: &Session, name: &ToolName) -> CliError {
    match error {
        CliError::Refused(mut refusal) if refusal.code == "invalid_arguments" => {
            let show = session.command(&format!("tool show {name}"));
            refusal.message.push_str(&format!("; `{show}` shows what it takes"));
            CliError::Refused(refusal)
        }
        error => error,
    }
}

fn hints(hints: ToolAnnotations) -> String {
    let words = [
        (hints.read_only_hint, "read-only"),
        (hints.destructive_hint, "may destroy"),
        (hints.idempotent_hint, "idempotent"),
        (hints.open_world_hint, "reaches outside"),
    ];
    let held: Vec<&str> = words.into_iter().filter(|(held, _)| *held).map(|(_, word)| word).collect();
    if held.is_empty() { "changes something each time".to_owned() } else { held.join(", ") }
}

struct Argument {
    name: String,
    kind: String,
    is_required: bool,
    description: String,
}

fn arguments_of(schema: &Value) -> Vec<Argument> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|held| held == name));
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let argument = |(name, schema): (&String, &Value)| Argument {
        name: name.clone(),
        kind: kind_of(schema),
        is_required: is_required(name),
        description: schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
    };
    properties.map(argument).collect()
}

fn kind_of(schema: &Value) -> String {
    match schema.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => {
            let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect();
            kinds.join(" or ")
        }
        _ => "any".to_owned(),
    }
}

#[cfg(test)]
#[path = "tool_tests.rs"]
mod tests;

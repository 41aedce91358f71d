//! `openfang event`: publishing events through the tool that agents use, and looking at them.

use openfang_types::api::EventView;
use openfang_types::ids::ToolName;
use serde_json::{Value, json};

use super::tool;
use crate::args::EventCommand;
use crate::backend::Backend;
use crate::error::{CliError, Exit};
use crate::session::Session;
use crate::signals::Signals;

pub(super) async fn run(session: &Session, command: EventCommand) -> Result<Exit, CliError> {
    match command {
        EventCommand::Publish { event_type, payload } => {
            let payload = payload.map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text)));
            let mut arguments = json!({ "event_type": event_type });
            if let Some(payload) = payload {
                arguments["payload"] = payload;
            }
            let name: ToolName = "event_publish".parse().map_err(|error| CliError::Usage(format!("{error}")))?;
            tool::call(session, &name, &[], Some(arguments.to_string())).await
        }
        EventCommand::List { event_type, before } => {
            let events = Backend::open(session).await?.events(event_type, before).await?;
            if session.output.is_json() {
                session.output.document(&json!({ "events": events }))?;
            } else if events.is_empty() {
                session.output.note("no events; `openfang event publish TYPE` publishes one");
            } else {
                events.iter().try_for_each(|event| session.output.text(&line_of(event)))?;
            }
            Ok(Exit::Ok)
        }
        EventCommand::Follow => follow(session).await,
    }
}

async fn follow(session: &Session) -> Result<Exit, CliError> {
    let backend = Backend::open(session).await?;
    let mut signals = Signals::listen().map_err(CliError::Runtime)?;
    let mut events = backend.follow_events().await?;
    session.output.note("following; Ctrl-C ends");
    loop {
        let next = tokio::select! {
            next = events.next() => next?,
            stop = signals.next() => return Ok(stop.exit()),
        };
        match next {
            Some(event) if session.output.is_json() => session.output.json_line(&event)?,
            Some(event) => session.output.text(&line_of(&event))?,
            None => {
                session.output.note("the server has stopped");
                return Ok(Exit::Ok);
            }
        }
    }
}

/// An event on one line: JSON has no line breaks and no other control characters.
fn line_of(event: &EventView) -> String {
    let by = event.agent.as_ref().map_or_else(String::new, |agent| format!(" by {agent}"));
    let payload = event.payload.as_ref().map_or_else(String::new, |payload| format!(" {payload}"));
    format!("{} {} {}{by}{payload}", event.number, event.at, event.event_type)
}

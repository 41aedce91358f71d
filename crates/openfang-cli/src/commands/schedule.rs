//! `openfang schedule`: schedules, through the same tools that agents use; and what only a person does with them.

use openfang_types::api::ScheduleAction;
use openfang_types::ids::{ScheduleId, ToolName};
use serde_json::{Value, json};

use super::tool;
use crate::args::ScheduleCommand;
use crate::backend::Backend;
use crate::error::{CliError, Exit};
use crate::session::Session;

pub(super) async fn run(session: &Session, command: ScheduleCommand) -> Result<Exit, CliError> {
    match command {
        ScheduleCommand::Create { description, schedule, agent, time_zone } => {
            let arguments = json!({
                "description": description, "schedule": schedule, "agent": agent, "time_zone": time_zone
            });
            let exit = call(session, "schedule_create", arguments).await?;
            if exit == Exit::Ok && !Backend::open(session).await?.has_server() {
                session.output.note("no server is running; schedules run while `openfang start` runs");
            }
            Ok(exit)
        }
        ScheduleCommand::List => call(session, "schedule_list", json!({})).await,
        ScheduleCommand::Show { id } => call(session, "schedule_list", json!({ "id": id })).await,
        ScheduleCommand::Delete { id } => call(session, "schedule_delete", json!({ "id": id })).await,
        ScheduleCommand::Pause { id } => change(session, id, ScheduleAction::Pause).await,
        ScheduleCommand::Resume { id } => change(session, id, ScheduleAction::Resume).await,
        ScheduleCommand::Run { id } => change(session, id, ScheduleAction::Run).await,
    }
}

async fn call(session: &Session, name: &str, mut arguments: Value) -> Result<Exit, CliError> {
    if let Some(members) = arguments.as_object_mut() {
        members.retain(|_, value| *value != Value::Null);
    }
    let name: ToolName = name.parse().map_err(|error| CliError::Usage(format!("{error}")))?;
    tool::call(session, &name, &[], Some(arguments.to_string())).await
}

async fn change(session: &Session, id: ScheduleId, action: ScheduleAction) -> Result<Exit, CliError> {
    let backend = Backend::open(session).await?;
    let status = backend.change_schedule(id, action).await?;
    if session.output.is_json() {
        session.output.document(&status)?;
        return Ok(Exit::Ok);
    }
    let next = status.next_at.map_or_else(String::new, |next| format!(", next {next}"));
    let reason = status.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
    session.output.text(&format!("{} {}{reason}{next}", status.id, status.status))?;
    if let (ScheduleAction::Run, Some(outcome)) = (action, &status.last_outcome) {
        let task = status.last_task.map_or_else(String::new, |task| format!(" (task {task})"));
        session.output.text(&format!("the run: {outcome}{task}"))?;
    }
    Ok(Exit::Ok)
}

//! `openfang queue`: the work queue, through the same tools that agents use.

use openfang_types::ids::ToolName;
use serde_json::{Value, json};

use super::tool;
use crate::args::QueueCommand;
use crate::error::{CliError, Exit};
use crate::session::Session;

pub(super) async fn run(session: &Session, command: QueueCommand) -> Result<Exit, CliError> {
    let (name, mut arguments) = match command {
        QueueCommand::List { status, before } => ("task_list", json!({ "status": status, "before": before })),
        QueueCommand::Post { title, description, assign, priority } => (
            "task_post",
            json!({ "title": title, "description": description, "assigned_to": assign, "priority": priority }),
        ),
        QueueCommand::Claim { lease_secs } => ("task_claim", json!({ "lease_secs": lease_secs })),
        QueueCommand::Complete { id, result, failed, attempt } => {
            ("task_complete", json!({ "task_id": id, "result": result, "failed": failed, "attempt": attempt }))
        }
    };
    if let Some(members) = arguments.as_object_mut() {
        members.retain(|_, value| *value != Value::Null);
    }
    let name: ToolName = name.parse().map_err(|error| CliError::Usage(format!("{error}")))?;
    tool::call(session, &name, &[], Some(arguments.to_string())).await
}

//! `openfang home`: accepts the loss of data, and records it in the audit log.

use serde_json::json;

use crate::args::HomeCommand;
use crate::backend::InProcess;
use crate::error::{CliError, Exit};
use crate::session::Session;

pub(super) async fn run(session: &Session, command: &HomeCommand) -> Result<Exit, CliError> {
    match command {
        HomeCommand::Accept => accept(session).await,
    }
}

async fn accept(session: &Session) -> Result<Exit, CliError> {
    let config = session.config(&[])?;
    let accepted = session.home.accept(config.api_key.is_some())?;
    if !accepted.is_empty() {
        let (kernel, caller) = InProcess::start(session, session.home.clone(), config)?.into_parts();
        let recorded = kernel.record_acceptance(&caller, &accepted).await;
        recorded.map_err(|error| CliError::refused(&error, caller.trace))?;
    }
    let output = &session.output;
    if output.is_json() {
        let told = accepted.iter().map(|one| json!({ "subject": one.part, "text": one.text }));
        output.document(&json!({ "accepted": told.collect::<Vec<_>>() }))?;
        return Ok(Exit::Ok);
    }
    for one in &accepted {
        output.text(&format!("accepted: {}", one.text))?;
    }
    if accepted.is_empty() {
        output.text("nothing to accept: this home has lost nothing")?;
    }
    Ok(Exit::Ok)
}

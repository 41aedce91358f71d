//! `openfang a2a accept`: shows what changed in the card of an agent, and accepts it.

use std::path::Path;

use openfang_kernel::external_control::{CardChange, ExternalAgentDetails};
use openfang_types::ids::AgentName;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::backend::ExternalAgents;
use crate::diff::diff;
use crate::error::{CliError, Exit};
use crate::prompt::{self, Otherwise};
use crate::session::Session;

/// Accepts the changed card of an agent. On a terminal the operator is asked first.
pub(super) async fn run(session: &Session, name: &AgentName) -> Result<Exit, CliError> {
    let agents = ExternalAgents::open(session).await?;
    let shown = agents.show(name).await?;
    if !session.output.is_json() {
        print(session, &shown)?;
        if shown.waiting.is_none() {
            session.output.note(&format!("no change of the card of {name} waits to be accepted"));
        } else if prompt::can_ask()
            && !prompt::confirm(&session.output, &format!("Accept this card of {name}?"), Otherwise::No)?
        {
            return Ok(Exit::Failed);
        }
    }
    let accepted = agents.accept(name).await?;
    super::outcome(session, &accepted)
}

/// Prints the change that waits, if there is one.
pub(super) fn print(session: &Session, details: &ExternalAgentDetails) -> Result<(), CliError> {
    let Some(CardChange { before, after, endpoint_before, endpoint_after }) = &details.waiting else {
        return Ok(());
    };
    let text = |endpoint: &str, card: Option<&RawValue>| format!("endpoint {endpoint}\n{}", pretty(card));
    let before = match endpoint_before {
        Some(endpoint) => text(endpoint, before.as_deref()),
        None => String::new(),
    };
    let name = format!("the card of {}", details.agent.name);
    session
        .output
        .diff(Path::new(&name), &diff(&before, &text(endpoint_after, after.as_deref())))
}

fn pretty(card: Option<&RawValue>) -> String {
    let card: Option<Value> = card.and_then(|card| serde_json::from_str(card.get()).ok());
    card.map_or_else(|| "no card".to_owned(), |card| format!("{card:#}"))
}

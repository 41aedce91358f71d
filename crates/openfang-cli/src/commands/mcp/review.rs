//! `openfang mcp review`: new, changed and removed tools on one screen.

use std::path::Path;

use openfang_types::ids::ServerName;
use openfang_types::mcp_status::{McpReview, McpToolReview};
use serde_json::{Value, json};

use crate::backend::Servers;
use crate::diff::diff;
use crate::error::{CliError, Exit};
use crate::output::one_line;
use crate::prompt::{self, Otherwise};
use crate::session::Session;

pub(super) async fn run(session: &Session, name: Option<&ServerName>) -> Result<Exit, CliError> {
    let servers = Servers::open(session).await?;
    let names = match name {
        Some(name) => vec![name.clone()],
        None => servers.list().await?.configured.into_iter().map(|entry| entry.name).collect(),
    };
    let mut reviews = Vec::new();
    for name in &names {
        reviews.push(servers.review(name).await?);
    }
    reviews.retain(|review| !review.is_empty());
    if session.output.is_json() {
        session.output.document(&json!({ "servers": reviews }))?;
        return Ok(Exit::Ok);
    }
    if reviews.is_empty() {
        session.output.note("nothing waits to be accepted");
    }
    for review in &reviews {
        print(session, review)?;
        accept(session, &servers, review).await?;
    }
    Ok(Exit::Ok)
}

fn print(session: &Session, review: &McpReview) -> Result<(), CliError> {
    let McpReview { server, new, changed, removed } = review;
    let output = &session.output;
    output.text(&format!("{server}: {} new, {} changed, {} removed", new.len(), changed.len(), removed.len()))?;
    for McpToolReview { tool, after, .. } in new {
        output.text(&format!("\nnew: {}", one_line(tool)))?;
        output.diff(Path::new(tool), &diff("", &pretty(after)))?;
    }
    for McpToolReview { tool, before, after } in changed {
        output.text(&format!("\nchanged: {}", one_line(tool)))?;
        if before.is_none() {
            output.note("the accepted definition is not known; this is the definition now");
        }
        let before = before.as_ref().map(pretty).unwrap_or_default();
        output.diff(Path::new(tool), &diff(&before, &pretty(after)))?;
    }
    for tool in removed {
        output.text(&format!("\nremoved: {}", one_line(tool)))?;
    }
    Ok(())
}

/// Asks on a terminal; elsewhere the next step is printed.
async fn accept(session: &Session, servers: &Servers, review: &McpReview) -> Result<(), CliError> {
    let name = &review.server;
    if let Servers::Daemon(daemon) = servers
        && prompt::can_ask()
    {
        if prompt::confirm(&session.output, &format!("Accept all of this of {name}?"), Otherwise::No)? {
            let accepted = daemon.accept_tools(name, None).await?;
            session.output.text(&format!("accepted: {}", one_line(&accepted.join(", "))))?;
        }
        return Ok(());
    }
    let command = session.command(&format!("mcp accept {name}"));
    session
        .output
        .note(&format!("accept all of this with `{command}`, or one tool with `{command} TOOL`"));
    Ok(())
}

fn pretty(definition: &Value) -> String {
    format!("{definition:#}")
}

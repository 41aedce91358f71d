//! Managing MCP servers: testing, restarting and removing one, and accepting changed definitions.

use openfang_types::ids::ServerName;
use serde_json::json;

use super::look;
use crate::backend::{DaemonBackend, Servers};
use crate::error::{CliError, Exit};
use crate::session::Session;

pub(super) async fn test(session: &Session, name: &ServerName) -> Result<Exit, CliError> {
    let servers = Servers::open(session).await?;
    session.output.note(&format!("connecting to {name} ..."));
    let tested = servers.test(name).await?;
    if session.output.is_json() {
        session.output.document(&tested)?;
    } else {
        match &tested.problem {
            Some(why) => {
                session.output.complaint(&format!("cannot connect to {name}: {why}"));
                session.output.note("the connection of the daemon goes on");
            }
            None => look::outcome(session, &tested.server)?,
        }
        session.output.note(&format!("took {} ms", tested.took_ms));
    }
    Ok(if tested.ok { Exit::Ok } else { Exit::Failed })
}

pub(super) async fn restart(session: &Session, name: &ServerName) -> Result<Exit, CliError> {
    let daemon = DaemonBackend::open(session, "mcp restart").await?;
    session.output.note(&format!("connecting to {name} ..."));
    let view = daemon.restart_server(name).await?;
    if session.output.is_json() {
        session.output.document(&view)?;
    } else {
        look::outcome(session, &view)?;
    }
    Ok(if view.connected { Exit::Ok } else { Exit::Failed })
}

/// Removes the servers one by one. A name that does not exist does not keep the others from it.
pub(super) async fn remove(session: &Session, names: &[ServerName]) -> Result<Exit, CliError> {
    let servers = Servers::open(session).await?;
    let (mut removed, mut failure) = (Vec::new(), None);
    for name in names {
        match servers.remove(name).await {
            Ok(()) => removed.push(name),
            Err(error) if names.len() == 1 => return Err(error),
            Err(error) => failure = failure.or(Some((name, error))),
        }
    }
    let path = session.home.config();
    if session.output.is_json() {
        let all: Vec<&ServerName> = removed.clone();
        let removed = if let [name] = names { json!(name) } else { json!(all) };
        session.output.document(&json!({ "path": path, "removed": removed }))?;
    } else if !removed.is_empty() {
        let removed: Vec<&str> = removed.iter().map(|name| name.as_str()).collect();
        session.output.text(&format!("removed {} from {}", removed.join(", "), path.display()))?;
    }
    match failure {
        Some((name, error)) => {
            session.output.complaint(&format!("{name}: {}", error.to_text()));
            Ok(Exit::Failed)
        }
        None => Ok(Exit::Ok),
    }
}

pub(super) async fn accept(session: &Session, name: &ServerName, tool: Option<&str>) -> Result<Exit, CliError> {
    let accepted = DaemonBackend::open(session, "mcp accept").await?.accept_tools(name, tool).await?;
    if session.output.is_json() {
        session.output.document(&json!({ "approved": accepted }))?;
    } else if accepted.is_empty() {
        session.output.note(&match tool {
            Some(tool) => format!(
                "{name} has no quarantined tool {tool}; `{}` lists its tools",
                session.command(&format!("mcp show {name}"))
            ),
            None => format!("{name} has no quarantined tools"),
        });
    } else {
        session.output.text(&format!("accepted: {}", accepted.join(", ")))?;
    }
    Ok(if accepted.is_empty() && tool.is_some() { Exit::Failed } else { Exit::Ok })
}

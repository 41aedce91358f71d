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
        look::outcome(session, &tested.server)?;
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

pub(super) async fn remove(session: &Session, name: &ServerName) -> Result<Exit, CliError> {
    Servers::open(session).await?.remove(name).await?;
    let path = session.home.config();
    if session.output.is_json() {
        session.output.document(&json!({ "path": path, "removed": name }))?;
    } else {
        session.output.text(&format!("removed {name} from {}", path.display()))?;
    }
    Ok(Exit::Ok)
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

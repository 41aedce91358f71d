//! Tending the MCP servers: trying one, starting it anew, letting it go, approving what changed.

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
        session.output.note(&format!("it took {} ms", tested.took_ms));
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

pub(super) async fn approve(session: &Session, name: &ServerName, tool: Option<&str>) -> Result<Exit, CliError> {
    let approved = DaemonBackend::open(session, "mcp approve").await?.approve_tools(name, tool).await?;
    if session.output.is_json() {
        session.output.document(&json!({ "approved": approved }))?;
    } else if approved.is_empty() {
        session.output.note(&match tool {
            Some(tool) => format!(
                "{name} has no tool {tool} that waits; `{}` shows its tools",
                session.command(&format!("mcp show {name}"))
            ),
            None => format!("nothing of {name} waits to be approved"),
        });
    } else {
        session.output.text(&format!("approved: {}", approved.join(", ")))?;
    }
    Ok(if approved.is_empty() && tool.is_some() { Exit::Failed } else { Exit::Ok })
}

//! Choosing what of MCP servers is used: `mcp enable`, `mcp disable` and `mcp tools`.

use openfang_kernel::mcp_control::McpServerDetails;
use openfang_types::config::{McpServerSettings, ToolSelection};
use openfang_types::ids::ServerName;
use openfang_types::mcp_status::McpServerState;

use super::{add, look};
use crate::args::ToolChoiceArgs;
use crate::backend::Servers;
use crate::error::{CliError, Exit};
use crate::output::{Cell, Table, Tone, one_line};
use crate::session::Session;

/// Enables or disables servers. The first one that fails ends the command.
pub(super) async fn enable(session: &Session, names: &[ServerName], enabled: bool) -> Result<Exit, CliError> {
    let servers = Servers::open(session).await?;
    let output = &session.output;
    let (mut exit, mut all) = (Exit::Ok, Vec::new());
    for name in names {
        let settings = McpServerSettings { enabled: Some(enabled), ..McpServerSettings::default() };
        let mut details = servers.set(name, &settings).await?;
        if enabled && servers.is_daemon() {
            details = add::settled(session, &servers, details).await?;
        }
        if details.connected.state == McpServerState::Failed {
            exit = Exit::Failed;
        }
        if !output.is_json() {
            match enabled {
                true => look::outcome(session, &details.connected)?,
                false => {
                    output.text(&format!("{name} is disabled; it stays in {}", session.home.config().display()))?
                }
            }
        }
        all.push(details);
    }
    if output.is_json() {
        output.document(&serde_json::json!({ "servers": all }))?;
    }
    note_without_daemon(session, &servers).await;
    Ok(exit)
}

/// Prints all tools of a server, after the selection was changed if a flag says so.
pub(super) async fn tools(session: &Session, name: &ServerName, choice: ToolChoiceArgs) -> Result<Exit, CliError> {
    let servers = Servers::open(session).await?;
    let is_change = choice.all || !choice.only.is_empty() || !choice.except.is_empty();
    let details = match is_change {
        true => {
            let tools = Some(ToolSelection { include: choice.only, exclude: choice.except });
            servers.set(name, &McpServerSettings { tools, ..McpServerSettings::default() }).await?
        }
        false => servers.show(name).await?,
    };
    if session.output.is_json() {
        session.output.document(&details)?;
        return Ok(Exit::Ok);
    }
    print(session, &details)?;
    if is_change {
        note_without_daemon(session, &servers).await;
    }
    Ok(Exit::Ok)
}

fn print(session: &Session, details: &McpServerDetails) -> Result<(), CliError> {
    let McpServerDetails { configured, connected } = details;
    let (name, output) = (&configured.name, &session.output);
    let mut rows: Vec<(&str, Cell)> = connected
        .tools
        .iter()
        .map(|tool| {
            let word = if tool.quarantined { Cell::toned("quarantined", Tone::Waiting) } else { "yes".into() };
            (tool.tool.as_str(), word)
        })
        .collect();
    rows.extend(connected.unselected.iter().map(|tool| (tool.as_str(), Cell::toned("no", Tone::Faint))));
    rows.sort_by_key(|(tool, _)| *tool);
    if rows.is_empty() {
        let test = session.command(&format!("mcp test {name}"));
        output.note(&format!("the tools of {name} are not known yet; connect to it with `{test}`"));
        return Ok(());
    }
    let names: Vec<&str> = rows.iter().map(|(tool, _)| *tool).collect();
    let mistaken = configured.tools.without_effect(&names);
    let mut table = Table::new(&["TOOL", "LISTED"]);
    for (tool, word) in rows {
        table.row([tool.into(), word]);
    }
    output.table(&table)?;
    if !configured.tools.is_everything() {
        output.note(&format!("{name} lists {}", one_line(&look::selection(&configured.tools))));
    }
    for pattern in mistaken {
        output.note(&format!("{} matches no tool of {name}", one_line(pattern.as_str())));
    }
    Ok(())
}

async fn note_without_daemon(session: &Session, servers: &Servers) {
    if !servers.is_daemon() {
        session.output.note(session.effect().await);
    }
}

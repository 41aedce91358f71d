//! Looking at the MCP servers: what there is, and how it is doing.

use openfang_kernel::mcp_control::McpServerView;
use openfang_types::config::{McpServerConfigEntry, McpTransportEntry};
use openfang_types::ids::ServerName;
use openfang_types::mcp_status::McpServerState;
use serde_json::json;

use crate::backend::{DaemonBackend, Servers};
use crate::error::{CliError, Exit};
use crate::output::{Cell, Fields, Table, Tone, one_line};
use crate::session::Session;

pub(super) async fn list(session: &Session) -> Result<Exit, CliError> {
    let servers = Servers::open(session).await?;
    let listed = servers.list().await?;
    let output = &session.output;
    if output.is_json() {
        output.document(&listed)?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["NAME", "STATE", "TOOLS", "SERVER"]);
    for (entry, view) in listed.configured.iter().zip(&listed.connected) {
        let tools = if view.connected { view.tools_count.to_string() } else { "-".to_owned() };
        table.row([(&view.name).into(), state(view), tools.into(), way(entry).into()]);
    }
    output.table(&table)?;
    for view in listed
        .connected
        .iter()
        .filter(|view| !view.connected || view.state == McpServerState::Degraded)
    {
        if let Some(reason) = &view.reason {
            output.note(&format!("{}: {}", view.name, one_line(reason)));
        }
    }
    if listed.configured.is_empty() {
        let add = session.command("mcp add NAME -- command args");
        output.note(&format!("no MCP servers; add one with `{add}`, or see `{}`", session.command("mcp import")));
    } else if !servers.is_daemon() {
        output.note(&format!(
            "no daemon was asked, so nothing is connected; start one with `{}`",
            session.command("start")
        ));
    }
    Ok(Exit::Ok)
}

pub(super) async fn show(session: &Session, name: &ServerName) -> Result<Exit, CliError> {
    let details = Servers::open(session).await?.show(name).await?;
    let output = &session.output;
    if output.is_json() {
        output.document(&details)?;
        return Ok(Exit::Ok);
    }
    output.fields(&fields(&details.configured, &details.connected))?;
    tools(session, &details.connected)?;
    Ok(Exit::Ok)
}

pub(super) async fn logs(session: &Session, name: &ServerName, last: Option<usize>) -> Result<Exit, CliError> {
    let mut lines = DaemonBackend::open(session, "mcp logs").await?.server_log(name).await?;
    if let Some(last) = last {
        lines.drain(..lines.len().saturating_sub(last));
    }
    if session.output.is_json() {
        session.output.document(&json!({ "lines": lines }))?;
    } else if lines.is_empty() {
        session.output.note(&format!("{name} has said nothing yet"));
    } else {
        let lines: Vec<String> = lines.iter().map(|line| one_line(line)).collect();
        session.output.text(&lines.join("\n"))?;
    }
    Ok(Exit::Ok)
}

fn fields(entry: &McpServerConfigEntry, view: &McpServerView) -> Fields {
    let mut fields = Fields::default();
    fields.add("name", &entry.name);
    fields.add("server", way(entry));
    if let McpTransportEntry::Http { headers, .. } | McpTransportEntry::Sse { headers, .. } = &entry.transport
        && !headers.is_empty()
    {
        fields.add("headers", headers.keys().map(String::as_str).collect::<Vec<_>>().join(", "));
    }
    if !entry.env.is_empty() {
        fields.add("variables", entry.env.iter().map(|variable| variable.name()).collect::<Vec<_>>().join(", "));
    }
    fields.add("timeout", format!("{} s, {} s to start", entry.timeout_secs, entry.startup_timeout_secs));
    let may = [(entry.trusted, "trusted"), (entry.interactive, "may ask its callers")];
    let may: Vec<&str> = may.into_iter().filter(|(held, _)| *held).map(|(_, word)| word).collect();
    if !may.is_empty() {
        fields.add("granted", may.join(", "));
    }
    fields.add("state", state(view));
    if let Some(reason) = &view.reason {
        fields.add("because", reason);
    }
    if let Some(server) = &view.server {
        fields.add("is", server);
    }
    if let Some(protocol) = &view.protocol {
        fields.add("speaks", protocol);
    }
    if view.connected {
        fields.add(
            "has",
            format!("{} tools, {} prompts, {} resource templates", view.tools_count, view.prompts, view.templates),
        );
    }
    if !view.left_out.is_empty() {
        let left_out: Vec<String> = view.left_out.iter().map(|left| format!("{} ({})", left.name, left.why)).collect();
        fields.add("left out", left_out.join("; "));
    }
    fields
}

/// The tools, and which of them wait.
pub(super) fn tools(session: &Session, view: &McpServerView) -> Result<(), CliError> {
    if view.tools.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&["TOOL", "DESCRIPTION"]);
    for tool in &view.tools {
        let tone = if tool.quarantined { Tone::Waiting } else { Tone::Plain };
        table.row([Cell::toned(&tool.name, tone), (&tool.description).into()]);
    }
    session.output.text("")?;
    session.output.table(&table)?;
    let waiting: Vec<&str> = view.tools.iter().filter(|tool| tool.quarantined).map(|tool| tool.tool.as_str()).collect();
    if !waiting.is_empty() {
        let approve = session.command(&format!("mcp approve {}", view.name));
        session.output.note(&format!(
            "changed since they were first seen, and waiting for `{approve}`: {}",
            one_line(&waiting.join(", "))
        ));
    }
    Ok(())
}

/// How a connection came out: the tools, or why there are none.
pub(super) fn outcome(session: &Session, view: &McpServerView) -> Result<(), CliError> {
    let (name, output) = (&view.name, &session.output);
    let reason = view.reason.as_deref().unwrap_or("it does not say why");
    match view.state {
        McpServerState::Ready | McpServerState::Degraded => {
            let spoken = view
                .protocol
                .as_deref()
                .map(|protocol| format!(", speaks {protocol}"))
                .unwrap_or_default();
            output.text(&format!("{name} is {}, tools: {}{spoken}", view.state.as_str(), view.tools_count))?;
            if view.state == McpServerState::Degraded {
                output.note(reason);
            }
            tools(session, view)
        }
        McpServerState::Failed => {
            output.complaint(&format!("{name} cannot be used: {}", one_line(reason)));
            view.stderr
                .iter()
                .for_each(|line| output.complaint(&format!("{name} said: {}", one_line(line))));
            let logs = session.command(&format!("mcp logs {name}"));
            output.note(&format!("it stays configured and is tried again; `{logs}` shows more"));
            Ok(())
        }
        McpServerState::Starting => output.text(&format!("{name} is still starting")),
        McpServerState::Configured => output.text(&format!("{name} is configured")),
    }
}

/// How the server is reached, on one line.
pub(super) fn way(entry: &McpServerConfigEntry) -> String {
    match &entry.transport {
        McpTransportEntry::Stdio { command, args } => {
            let words: Vec<String> = std::iter::once(command).chain(args).map(|word| quoted(word)).collect();
            one_line(&words.join(" "))
        }
        McpTransportEntry::Sse { url, .. } | McpTransportEntry::Http { url, .. } => one_line(url),
    }
}

/// A word as a shell would want it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./+,:@%=[]{}$".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn state(view: &McpServerView) -> Cell {
    let tone = match view.state {
        McpServerState::Ready => Tone::Good,
        McpServerState::Degraded | McpServerState::Starting => Tone::Waiting,
        McpServerState::Failed => Tone::Bad,
        McpServerState::Configured => Tone::Plain,
    };
    Cell::toned(view.state.as_str(), tone)
}

//! Listing and showing MCP servers, their state and their logs.

use std::path::PathBuf;

use openfang_kernel::mcp_control::McpServerView;
use openfang_types::config::{McpSandbox, McpServerConfigEntry, McpTransportEntry, ToolPattern, ToolSelection};
use openfang_types::ids::ServerName;
use openfang_types::mcp_status::McpServerState;

use crate::backend::Servers;
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
        table.row([(&view.name).into(), state(view), tools_cell(view), way(entry).into()]);
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
    for view in listed.connected.iter().filter(|view| view.tools.iter().any(|tool| tool.quarantined)) {
        let review = session.command(&format!("mcp review {}", view.name));
        output.note(&format!("{} has new or changed tools; review them with `{review}`", view.name));
    }
    if listed.configured.is_empty() {
        let add = session.command("mcp add NAME -- command args");
        output.note(&format!(
            "no MCP servers; add one with `{add}`, or import them with `{}`",
            session.command("mcp import")
        ));
    } else if !servers.is_daemon() {
        output.note(&format!(
            "no daemon is running, so no server is connected; start one with `{}`",
            session.command("start")
        ));
    }
    Ok(Exit::Ok)
}

/// How many tools a server has, and how many of them wait to be accepted.
fn tools_cell(view: &McpServerView) -> Cell {
    let quarantined = view.tools.iter().filter(|tool| tool.quarantined).count();
    let all = view.tools_count + view.unselected.len();
    let count = match view.unselected.is_empty() {
        true => view.tools_count.to_string(),
        false => format!("{} of {all}", view.tools_count),
    };
    match (view.connected, quarantined) {
        (false, _) => Cell::toned("-", Tone::Faint),
        (true, 0) => count.into(),
        (true, some) => Cell::toned(format!("{count} ({some} quarantined)"), Tone::Waiting),
    }
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

/// What a sandboxed program may use.
fn walls(sandbox: &McpSandbox) -> String {
    let paths = |word: &str, paths: &[PathBuf]| {
        let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        (!paths.is_empty()).then(|| format!("{word} {}", paths.join(", ")))
    };
    let network = if sandbox.network { "network" } else { "no network" };
    let all = [paths("read", &sandbox.read), paths("write", &sandbox.write), Some(network.to_owned())];
    all.into_iter().flatten().collect::<Vec<_>>().join("; ")
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
    if let Some(cwd) = &entry.cwd {
        fields.add("directory", cwd);
    }
    if let Some(sandbox) = &entry.sandbox {
        fields.add("sandbox", walls(sandbox));
    }
    if !entry.tools.is_everything() {
        fields.add("tools", selection(&entry.tools));
    }
    fields.add("timeout", format!("{} s, {} s to start", entry.timeout_secs, entry.startup_timeout_secs));
    let options = [(entry.trusted, "trusted"), (entry.interactive, "interactive")];
    let options: Vec<&str> = options.into_iter().filter(|(held, _)| *held).map(|(_, word)| word).collect();
    if !options.is_empty() {
        fields.add("options", options.join(", "));
    }
    fields.add("state", state(view));
    if let Some(reason) = &view.reason {
        fields.add("reason", reason);
    }
    if let Some(server) = &view.server {
        fields.add("implementation", server);
    }
    if let Some(protocol) = &view.protocol {
        fields.add("protocol", protocol);
    }
    if !view.unselected.is_empty() {
        fields.add("not listed", view.unselected.join(", "));
    }
    if view.connected {
        fields.add(
            "provides",
            format!("{} tools, {} prompts, {} resource templates", view.tools_count, view.prompts, view.templates),
        );
    }
    if !view.left_out.is_empty() {
        let left_out: Vec<String> = view.left_out.iter().map(|left| format!("{} ({})", left.name, left.why)).collect();
        fields.add("skipped", left_out.join("; "));
    }
    fields
}

/// A selection of tools in words.
pub(super) fn selection(tools: &ToolSelection) -> String {
    let words = |word: &str, patterns: &[ToolPattern]| {
        let patterns: Vec<&str> = patterns.iter().map(ToolPattern::as_str).collect();
        (!patterns.is_empty()).then(|| format!("{word} {}", patterns.join(", ")))
    };
    let parts = [words("only", &tools.include), words("except", &tools.exclude)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Prints the tools, and the quarantined ones with the next step.
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
    let quarantined: Vec<&str> =
        view.tools.iter().filter(|tool| tool.quarantined).map(|tool| tool.tool.as_str()).collect();
    if !quarantined.is_empty() {
        let review = session.command(&format!("mcp review {}", view.name));
        session.output.note(&format!(
            "quarantined, because they are new or their definitions changed: {}; review them with `{review}`",
            one_line(&quarantined.join(", "))
        ));
    }
    Ok(())
}

/// Prints the result of a connection: the tools, or the reason of the failure.
pub(super) fn outcome(session: &Session, view: &McpServerView) -> Result<(), CliError> {
    let (name, output) = (&view.name, &session.output);
    let reason = view.reason.as_deref().unwrap_or("no reason is known");
    match view.state {
        McpServerState::Ready | McpServerState::Degraded => {
            let protocol = view
                .protocol
                .as_deref()
                .map(|protocol| format!(", protocol {protocol}"))
                .unwrap_or_default();
            output.text(&format!("{name} is {}, tools: {}{protocol}", view.state.as_str(), view.tools_count))?;
            if view.state == McpServerState::Degraded {
                output.note(reason);
            }
            tools(session, view)
        }
        McpServerState::Failed => {
            output.complaint(&format!("cannot connect to {name}: {}", one_line(reason)));
            view.stderr
                .iter()
                .for_each(|line| output.complaint(&format!("{name} stderr: {}", one_line(line))));
            let logs = session.command(&format!("mcp logs {name}"));
            output.note(&format!("the server stays configured, and the daemon retries; see `{logs}`"));
            Ok(())
        }
        McpServerState::Starting => output.text(&format!("{name} is still starting")),
        McpServerState::Configured => output.text(&format!("{name} is configured")),
        McpServerState::Disabled => output.text(&format!("{name} is disabled")),
    }
}

/// The command line or URL of the server, on one line.
pub(super) fn way(entry: &McpServerConfigEntry) -> String {
    match &entry.transport {
        McpTransportEntry::Stdio { command, args } => {
            let words: Vec<String> = std::iter::once(command).chain(args).map(|word| quoted(word)).collect();
            one_line(&words.join(" "))
        }
        McpTransportEntry::Sse { url, .. } | McpTransportEntry::Http { url, .. } => one_line(url),
    }
}

/// Quotes a word for a shell.
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
        McpServerState::Disabled => Tone::Faint,
    };
    Cell::toned(view.state.as_str(), tone)
}

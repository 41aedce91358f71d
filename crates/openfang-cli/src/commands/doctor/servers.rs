//! The MCP servers: their programs and variables, and how the daemon is doing with them.

use std::ffi::OsStr;
use std::path::Path;

use openfang_egress::process::{Environment, EnvironmentKind, Program, Surroundings};
use openfang_kernel::vault::stored_secrets;
use openfang_types::config::{ChildIsolation, EnvEntry, McpServerConfigEntry, McpTransportEntry};
use openfang_types::mcp_status::McpServerState;
use openfang_types::secret::Secret;

use super::Check;
use crate::backend::{DaemonBackend, Servers};
use crate::output::one_line;
use crate::session::Session;

pub(super) async fn checks(session: &Session, daemon: Option<DaemonBackend>) -> Vec<Check> {
    let Ok(mut config) = session.config(&[]) else { return Vec::new() };
    config.mcp_servers.retain(|entry| entry.enabled);
    let unusable: Vec<_> = config
        .mcp_servers
        .iter()
        .filter_map(|entry| Some((&entry.name, startable(session, entry)?)))
        .collect();
    let named: Vec<_> = unusable.iter().map(|(name, _)| (*name).clone()).collect();
    let mut found: Vec<Check> = unusable.into_iter().map(|(_, check)| check).collect();
    found.extend(config.mcp_servers.iter().filter_map(|entry| unpinned(session, entry)));
    let is_offered = config.egress.children == ChildIsolation::Isolated;
    let open = if is_offered { unsandboxed(session, &config.mcp_servers) } else { None };
    let Some(daemon) = daemon else {
        let count = config.mcp_servers.len();
        if found.is_empty() && count > 0 {
            found.push(Check::ok("mcp servers", format!("{count} configured; they are connected on first use")));
        }
        found.extend(open);
        return found;
    };
    let Ok(listed) = Servers::Daemon(daemon).list().await else { return found };
    for view in listed.connected {
        let name = &view.name;
        let quarantined = view.tools.iter().filter(|tool| tool.quarantined).count();
        if view.state == McpServerState::Failed && named.contains(name) {
            continue;
        }
        if view.state == McpServerState::Failed {
            let reason = one_line(view.reason.as_deref().unwrap_or("no reason is known"));
            let logs = session.command(&format!("mcp logs {name}"));
            found.push(Check::fail("mcp server", format!("{name} cannot be used: {reason}"), logs));
        } else if quarantined > 0 {
            let text = format!(
                "{name}: {quarantined} tools are quarantined, because they are new or their definitions changed"
            );
            found.push(Check::warn("mcp server", text, session.command(&format!("mcp review {name}"))));
        } else if view.connected {
            found.push(Check::ok("mcp server", format!("{name}: {} tools", view.tools_count)));
        }
    }
    found.extend(open);
    found
}

/// Whether the program of a server exists and its variables are set, as seen from here.
fn startable(session: &Session, entry: &McpServerConfigEntry) -> Option<Check> {
    let name = &entry.name;
    let McpTransportEntry::Stdio { command, .. } = &entry.transport else { return None };
    let listed: Vec<String> = entry.env.iter().map(|variable: &EnvEntry| variable.expose().to_owned()).collect();
    let stored = stored_secrets(&session.home).unwrap_or_default();
    // Whether a secret is there counts, not what it is.
    let secrets = stored.iter().map(|name| (name.to_string(), Secret::new(String::new()))).collect();
    let ours = Surroundings::ours().with_secrets(secrets);
    let environment = match Environment::build(EnvironmentKind::McpServer, &listed, &ours) {
        Ok(environment) => environment,
        Err(error) => {
            let text = error.to_string();
            let (fact, fix) = text.split_once("; ").unwrap_or((&text, "correct the entry"));
            return Some(Check::fail("mcp server", format!("{name}: {fact}"), fix));
        }
    };
    let text = unresolved(session, entry, command, environment.path())?;
    let (fact, fix) = text.rsplit_once("; ").unwrap_or((&text, "correct the command of the entry"));
    Some(Check::fail("mcp server", format!("{name}: {fact}"), fix))
}

/// Why the program of a server cannot be found from here, if it has one.
pub(crate) fn missing_program(session: &Session, entry: &McpServerConfigEntry) -> Option<String> {
    let McpTransportEntry::Stdio { command, .. } = &entry.transport else { return None };
    let environment = Environment::build(EnvironmentKind::McpServer, &[], &Surroundings::ours()).ok()?;
    unresolved(session, entry, command, environment.path())
}

fn unresolved(session: &Session, entry: &McpServerConfigEntry, command: &str, path: &OsStr) -> Option<String> {
    let directory = entry.cwd.as_deref().map_or_else(|| session.home.root(), Path::new);
    Program::resolve(command, path, directory).err().map(|error| error.to_string())
}

/// Programs that may do all that the user may. That can be intended, so it is no warning.
fn unsandboxed(session: &Session, entries: &[McpServerConfigEntry]) -> Option<Check> {
    let is_open = |entry: &&McpServerConfigEntry| {
        entry.sandbox.is_none() && matches!(entry.transport, McpTransportEntry::Stdio { .. })
    };
    let names: Vec<&str> = entries.iter().filter(is_open).map(|entry| entry.name.as_str()).collect();
    let first = names.first()?;
    let add = session.command(&format!("mcp add {first} --replace --sandbox --read DIR -- COMMAND"));
    let text = format!("without one, with all that your user can do: {}", names.join(", "));
    Some(Check { fix: Some(format!("if they need less: {add}")), ..Check::ok("sandbox", text) })
}

/// A program that is fetched anew at every start can be another one tomorrow.
fn unpinned(session: &Session, entry: &McpServerConfigEntry) -> Option<Check> {
    let McpTransportEntry::Stdio { command, args } = &entry.transport else { return None };
    let program = command.rsplit('/').next().unwrap_or(command);
    let package = args.iter().find(|word| !word.starts_with('-'))?;
    let is_pinned = match program {
        "npx" | "bunx" => package.rfind('@').is_some_and(|at| at > 0),
        "uvx" => package.contains("==") || package.contains('@'),
        _ => return None,
    };
    let text = format!("{}: {program} fetches the newest {package} at every start", entry.name);
    let version = if program == "uvx" { "==VERSION" } else { "@VERSION" };
    let fix = format!("write {package}{version} in {}", session.home.config().display());
    (!is_pinned).then(|| Check::warn("mcp server", text, fix))
}

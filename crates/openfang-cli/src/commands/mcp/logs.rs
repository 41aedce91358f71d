//! `openfang mcp logs`: the standard error and the connection log of a server.

use openfang_types::ids::ServerName;
use openfang_types::limits::AUDIT_FOLLOW;
use serde_json::json;

use crate::backend::DaemonBackend;
use crate::error::{CliError, Exit};
use crate::output::one_line;
use crate::session::Session;

pub(super) async fn run(
    session: &Session,
    name: &ServerName,
    last: Option<usize>,
    follows: bool,
) -> Result<Exit, CliError> {
    let daemon = DaemonBackend::open(session, "mcp logs").await?;
    let all = daemon.server_log(name).await?;
    let shown = &all[all.len().saturating_sub(last.unwrap_or(all.len()))..];
    if session.output.is_json() {
        session.output.document(&json!({ "lines": shown }))?;
        return Ok(Exit::Ok);
    }
    if shown.is_empty() && !follows {
        session.output.note(&format!("the log of {name} is empty"));
    }
    print(session, shown)?;
    if follows { follow(session, &daemon, name, all).await } else { Ok(Exit::Ok) }
}

/// Prints new lines until Ctrl-C. The daemon keeps a bounded number of lines, so the new ones are those after the last known.
async fn follow(
    session: &Session,
    daemon: &DaemonBackend,
    name: &ServerName,
    mut known: Vec<String>,
) -> Result<Exit, CliError> {
    loop {
        tokio::time::sleep(AUDIT_FOLLOW).await;
        let now = daemon.server_log(name).await?;
        print(session, &now[already_shown(&known, &now)..])?;
        known = now;
    }
}

/// How many of the lines were there before: the longest beginning that is an ending of the known lines.
fn already_shown(known: &[String], now: &[String]) -> usize {
    let longest = known.len().min(now.len());
    (0..=longest)
        .rev()
        .find(|&count| known[known.len() - count..] == now[..count])
        .unwrap_or(0)
}

fn print(session: &Session, lines: &[String]) -> Result<(), CliError> {
    if lines.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = lines.iter().map(|line| one_line(line)).collect();
    session.output.text(&lines.join("\n"))
}

#[cfg(test)]
#[path = "logs_tests.rs"]
mod tests;

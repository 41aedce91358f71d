//! `openfang doctor`: checks the home, the daemon, the MCP servers and the connected programs. Each finding names the
//! command that fixes it. `--fix` makes the safe repairs.

use serde::Serialize;
use serde_json::json;

use crate::args::DoctorArgs;
use crate::error::{CliError, Exit};
use crate::output::{Cell, Table, Tone};
use crate::session::Session;
use repair::Repair;
pub(super) use servers::missing_program;

mod clients;
mod daemon;
mod database;
mod home;
mod repair;
mod servers;
mod system;

/// What a check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    Ok,
    Warn,
    Fail,
}

/// A check and its result. It never contains a secret, so that it can be pasted into an issue.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Check {
    name: &'static str,
    verdict: Verdict,
    text: String,
    /// The command, or the change, that repairs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
    #[serde(skip)]
    repair: Option<Repair>,
}

impl Check {
    fn ok(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Ok, text: text.into(), fix: None, repair: None }
    }

    fn warn(name: &'static str, text: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { verdict: Verdict::Warn, fix: Some(fix.into()), ..Self::ok(name, text) }
    }

    fn fail(name: &'static str, text: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { verdict: Verdict::Fail, ..Self::warn(name, text, fix) }
    }

    /// The check with a repair that `--fix` may make; its command is the fix.
    fn repaired_by(mut self, repair: Repair) -> Self {
        self.fix = Some(repair.command());
        self.repair = Some(repair);
        self
    }
}

/// How much is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// No programs are started.
    Offline,
    /// Entries of other programs are started once.
    Everything,
}

pub(super) async fn run(session: &Session, args: &DoctorArgs) -> Result<Exit, CliError> {
    let scope = if args.offline { Scope::Offline } else { Scope::Everything };
    let mut found = checks(session, scope).await;
    let mut repaired = Vec::new();
    let repairs: Vec<Repair> =
        if args.fix { found.iter().filter_map(|check| check.repair.clone()).collect() } else { Vec::new() };
    for repair in &repairs {
        match repair.make() {
            Ok(()) => repaired.push(repair.command()),
            Err(error) => session.output.complaint(&format!("cannot run {}: {error}", repair.command())),
        }
    }
    if !repaired.is_empty() {
        found = checks(session, scope).await;
    }
    if session.output.is_json() {
        session
            .output
            .document(&json!({ "ok": !has_failed(&found), "checks": found, "repaired": repaired }))?;
    } else {
        repaired
            .iter()
            .try_for_each(|command| session.output.text(&format!("fixed: {command}")))?;
        print(session, &found)?;
        if !args.fix && found.iter().any(|check| check.repair.is_some()) {
            session
                .output
                .note(&format!("some of this is repaired by `{}`", session.command("doctor --fix")));
        }
    }
    Ok(if has_failed(&found) { Exit::Failed } else { Exit::Ok })
}

/// All checks, in a fixed order.
pub(super) async fn checks(session: &Session, scope: Scope) -> Vec<Check> {
    let mut found = home::checks(session);
    let (database, daemon, clients) =
        tokio::join!(database::checks(session), daemon::checks(session), clients::checks(session, scope));
    let running = daemon.1;
    found.extend(database);
    found.extend(daemon.0);
    found.extend(servers::checks(session, running).await);
    found.extend(clients);
    found.extend(system::checks(session));
    found
}

pub(super) fn has_failed(checks: &[Check]) -> bool {
    checks.iter().any(|check| check.verdict == Verdict::Fail)
}

pub(super) fn print(session: &Session, checks: &[Check]) -> Result<(), CliError> {
    let mut table = Table::new(&["", "CHECK", "RESULT"]);
    for check in checks {
        let verdict = match check.verdict {
            Verdict::Ok => Cell::toned("ok", Tone::Good),
            Verdict::Warn => Cell::toned("warn", Tone::Waiting),
            Verdict::Fail => Cell::toned("fail", Tone::Bad),
        };
        table.row([verdict, check.name.into(), (&check.text).into()]);
        if let Some(fix) = &check.fix {
            table.row(["".into(), "".into(), Cell::toned(format!("fix: {fix}"), Tone::Faint)]);
        }
    }
    session.output.whole_table(&table)?;
    let count = |verdict| checks.iter().filter(|check| check.verdict == verdict).count();
    let (fails, warns) = (count(Verdict::Fail), count(Verdict::Warn));
    session.output.text(&match (fails, warns) {
        (0, 0) => "no problems".to_owned(),
        (0, warns) => format!("{warns} to look at, no failures"),
        (fails, warns) => format!("{fails} failed, {warns} to look at"),
    })
}

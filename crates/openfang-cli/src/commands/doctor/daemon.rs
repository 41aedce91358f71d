//! The daemon: whether it answers, its version, its file, and the port.

use openfang_egress::daemon::{DaemonError, DaemonFile};

use super::Check;
use super::repair::Repair;
use crate::backend::DaemonBackend;
use crate::error::CliError;
use crate::session::Session;

/// The checks, and the daemon if one answers.
pub(super) async fn checks(session: &Session) -> (Vec<Check>, Option<DaemonBackend>) {
    let path = session.home.daemon();
    match session.daemon().await {
        Ok(Some(daemon)) => {
            let mut found =
                vec![Check::ok("daemon", format!("running at http://{} (pid {})", daemon.address(), daemon.pid()))];
            let (theirs, ours) = (daemon.version().to_owned(), env!("CARGO_PKG_VERSION"));
            if theirs != ours {
                let restart = format!("{}, then {}", session.command("stop"), session.command("start"));
                found.push(Check::warn("version", format!("the daemon is {theirs}, this command is {ours}"), restart));
            }
            (found, Some(DaemonBackend::new(daemon)))
        }
        Ok(None) => {
            let mut found = Vec::new();
            if matches!(DaemonFile::read(&path), Ok(Some(_))) {
                let text = format!("{} is left of a daemon that is gone", path.display());
                found.push(Check::warn("daemon", text, "").repaired_by(Repair::Remove(path)));
            }
            found.push(port(session));
            (found, None)
        }
        Err(CliError::Daemon(DaemonError::Malformed { path, why })) => {
            let text = format!("{} is not a daemon file: {why}", path.display());
            (vec![Check::fail("daemon", text, "").repaired_by(Repair::Remove(path))], None)
        }
        Err(CliError::Daemon(DaemonError::NotPrivate { path, mode })) => {
            let text = format!("{} can be read by others (mode {mode:03o}), and it has a token", path.display());
            (vec![Check::fail("daemon", text, format!("`{}`, then remove it", session.command("stop")))], None)
        }
        Err(error) => {
            let text = error.to_string();
            let (fact, fix) = text.split_once("; ").unwrap_or((&text, "see the log of the daemon"));
            (vec![Check::fail("daemon", fact, fix)], None)
        }
    }
}

/// Whether a daemon could listen.
fn port(session: &Session) -> Check {
    let Ok(config) = session.config(&[]) else {
        return Check::ok("daemon", "not running; commands work without it");
    };
    let address = config.api_listen;
    match std::net::TcpListener::bind(address) {
        Ok(_) => Check::ok("daemon", format!("not running; {address} is free. Commands work without it")),
        Err(cause) => {
            let fix = format!("change api_listen in {}, or stop the other program", session.home.config().display());
            Check::fail("port", format!("cannot listen on {address}: {cause}"), fix)
        }
    }
}

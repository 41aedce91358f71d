//! `openfang stop`: tells the daemon to stop and waits until it has.

use openfang_egress::daemon::Daemon;
use openfang_types::limits::{DAEMON_STOP_POLL, DAEMON_TIMEOUT, Limits};
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::error::{CliError, Exit};
use crate::session::Session;
use crate::signals;

pub(super) async fn run(session: &Session) -> Result<Exit, CliError> {
    let output = &session.output;
    let Some(daemon) = session.daemon().await? else {
        if output.is_json() {
            output.document(&json!({ "stopped": false, "running": false }))?;
        } else {
            output.text("no daemon is running on this home")?;
        }
        return Ok(Exit::Ok);
    };
    let pid = daemon.pid();
    signals::terminate(pid).map_err(|cause| CliError::NotSignalled { pid, cause })?;
    // It has as long as its running work has, and a little to clean up. The file may say something else by now.
    let drain = session
        .config(&[])
        .map_or_else(|_| Limits::default().drain(), |config| config.limits.drain());
    let gone = timeout(drain + DAEMON_TIMEOUT, until_gone(session, &daemon));
    gone.await.map_err(|_| CliError::StillStopping { pid })?;
    if output.is_json() {
        output.document(&json!({ "stopped": true, "running": false, "pid": pid }))?;
    } else {
        output.text(&format!("stopped the daemon (pid {pid})"))?;
    }
    Ok(Exit::Ok)
}

/// Removing its file is the last thing a daemon does; one that crashes leaves the file and no process.
async fn until_gone(session: &Session, daemon: &Daemon) {
    let path = session.home.daemon();
    while daemon.is_alive() && daemon.is_announced(&path) {
        sleep(DAEMON_STOP_POLL).await;
    }
}

//! `openfang status`: whether a daemon is running, its address, and the state of its settings.

use openfang_types::settings_status::SettingsStatus;
use serde_json::json;

use crate::backend::DaemonBackend;
use crate::error::{CliError, Exit};
use crate::output::{Cell, Fields, Tone};
use crate::session::Session;

mod watch;

pub(super) async fn run(session: &Session, watches: bool) -> Result<Exit, CliError> {
    if watches {
        return watch::run(session).await;
    }
    let output = &session.output;
    let home = session.home.root();
    let Some(daemon) = session.daemon().await? else {
        if output.is_json() {
            output.document(&json!({ "running": false, "home": home }))?;
        } else {
            let mut fields = Fields::default();
            fields.add("running", Cell::toned("no", Tone::Waiting));
            fields.add("home", home.display());
            output.fields(&fields)?;
            output.note(&format!("start one with `{}`", session.command("start")));
        }
        return Ok(Exit::NotRunning);
    };
    let (pid, address, version) = (daemon.pid(), daemon.address(), daemon.version().to_owned());
    let backend = DaemonBackend::new(daemon);
    let settings = backend.settings().await?;
    let (agents, tools) = (backend.agents().await?.len(), backend.tools(None).await?.len());
    if output.is_json() {
        output.document(&json!({
            "running": true, "version": version, "address": address, "pid": pid,
            "agents": agents, "tools": tools, "home": home, "settings": settings,
        }))?;
        return Ok(Exit::Ok);
    }
    let mut fields = Fields::default();
    fields.add("running", Cell::toned("yes", Tone::Good));
    fields.add("version", &version);
    fields.add("address", format!("http://{address}"));
    fields.add("pid", pid);
    fields.add("agents", agents);
    fields.add("tools", tools);
    fields.add("home", home.display());
    add_settings(&mut fields, &settings);
    output.fields(&fields)?;
    if !settings.waiting.is_empty() {
        output.note(&format!("review config.toml, then apply it with `{}`", session.command("reload")));
    }
    let ours = env!("CARGO_PKG_VERSION");
    if version != ours {
        output.note(&format!("this command is version {ours}; restart the daemon to use the same version"));
    }
    Ok(Exit::Ok)
}

/// Adds the settings that are written but not in effect, with the reasons.
fn add_settings(fields: &mut Fields, settings: &SettingsStatus) {
    if let Some(faults) = &settings.rejected {
        for fault in faults.lines() {
            fields.add("rejected", Cell::toned(fault, Tone::Bad));
        }
    }
    for reason in &settings.waiting {
        fields.add("waiting for reload", Cell::toned(reason, Tone::Waiting));
    }
    if !settings.needs_restart.is_empty() {
        fields.add("needs restart", Cell::toned(settings.needs_restart.join(", "), Tone::Waiting));
    }
    for wall in &settings.missing_walls {
        fields.add("missing wall", Cell::toned(wall, Tone::Waiting));
    }
    for failed in &settings.failed_servers {
        fields.add("failed server", Cell::toned(format!("{}: {}", failed.name, failed.reason), Tone::Bad));
    }
    for failed in &settings.failed_agents {
        fields.add("failed agent", Cell::toned(format!("{}: {}", failed.name, failed.reason), Tone::Bad));
    }
}

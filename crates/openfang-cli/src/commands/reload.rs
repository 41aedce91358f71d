//! `openfang reload`: the daemon reads its files again.

use openfang_types::settings_status::{NameChanges, ReloadReport};

use crate::backend::DaemonBackend;
use crate::error::{CliError, Exit};
use crate::output::Fields;
use crate::session::Session;

pub(super) async fn run(session: &Session) -> Result<Exit, CliError> {
    let report = DaemonBackend::open(session, "reload").await?.reload().await?;
    let output = &session.output;
    if output.is_json() {
        output.document(&report)?;
        return Ok(Exit::Ok);
    }
    output.fields(&fields_of(&report))?;
    for failed in &report.status.failed_agents {
        output.complaint(&format!("the agent {} is invalid: {}", failed.name, failed.reason));
    }
    if !report.status.needs_restart.is_empty() {
        let (stop, start) = (session.command("stop"), session.command("start"));
        output.note(&format!("some changes need a restart: run `{stop}`, then `{start}`"));
    }
    Ok(Exit::Ok)
}

fn fields_of(report: &ReloadReport) -> Fields {
    let mut fields = Fields::default();
    let listed = |names: &[String]| names.join(", ");
    fields.add("changed", if report.changed.is_empty() { "nothing".to_owned() } else { listed(&report.changed) });
    for (label, changes) in [("agents", &report.agents), ("mcp servers", &report.mcp_servers)] {
        if !changes.is_empty() {
            fields.add(label, summary(changes));
        }
    }
    if !report.status.needs_restart.is_empty() {
        fields.add("needs restart", listed(&report.status.needs_restart));
    }
    fields
}

fn summary(changes: &NameChanges) -> String {
    let parts = [("added", &changes.added), ("changed", &changes.changed), ("removed", &changes.removed)];
    let named = parts.iter().filter(|(_, names)| !names.is_empty());
    named
        .map(|(word, names)| format!("{word} {}", names.join(", ")))
        .collect::<Vec<_>>()
        .join("; ")
}

//! `openfang db`: checks the integrity of the database.

use openfang_kernel::maintenance::{self, Finding};
use serde_json::{Value, json};

use crate::args::DbCommand;
use crate::error::{CliError, Exit};
use crate::output::{Cell, Fields, Tone};
use crate::session::Session;

pub(super) fn run(session: &Session, command: &DbCommand) -> Result<Exit, CliError> {
    match command {
        DbCommand::Check => check(session),
    }
}

fn check(session: &Session) -> Result<Exit, CliError> {
    let report = maintenance::check(&session.home)?;
    let (output, path) = (&session.output, session.home.database());
    let is_ok = report.findings.is_empty();
    if output.is_json() {
        let told = |finding: &Finding| json!({ "finding": finding, "text": finding.to_string() });
        let findings: Vec<Value> = report.findings.iter().map(told).collect();
        output.document(&json!({
            "ok": is_ok, "path": path, "tasks": report.tasks, "events": report.events,
            "audit": report.audit, "findings": findings,
        }))?;
    } else {
        let mut fields = Fields::default();
        fields.add("database", path.display());
        fields.add("tasks", report.tasks);
        fields.add("events", report.events);
        fields.add("audit rows", report.audit.rows);
        fields.add("ok", if is_ok { Cell::toned("yes", Tone::Good) } else { Cell::toned("no", Tone::Bad) });
        output.fields(&fields)?;
        report.findings.iter().for_each(|finding| output.complaint(&finding.to_string()));
    }
    Ok(if is_ok { Exit::Ok } else { Exit::Failed })
}

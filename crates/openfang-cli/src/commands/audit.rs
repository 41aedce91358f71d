//! `openfang audit`: shows, verifies and exports the audit log. It reads the database directly, so it needs no daemon.

use std::path::Path;

use openfang_kernel::maintenance::{AuditEntry, AuditFilter, AuditLog, AuditRow, AuditSubject, AuditVerification};
use openfang_types::limits::{AUDIT_FOLLOW, AUDIT_PAGE_ROWS};
use serde_json::json;

use crate::args::{AuditCommand, AuditTailArgs};
use crate::error::{CliError, Exit};
use crate::output::{Cell, Fields, Tone, one_line};
use crate::session::Session;
use render::{gap, line, next_step, outcome, removed, table, took};

mod render;

pub(super) async fn run(session: &Session, command: &AuditCommand) -> Result<Exit, CliError> {
    let log = AuditLog::open(&session.home)?;
    match command {
        AuditCommand::Tail(args) => tail(session, &log, args).await,
        AuditCommand::Show { n } => show(session, &log.row(*n)?),
        AuditCommand::Verify => verify(session, &log),
        AuditCommand::Export { file } => export(session, &log, file),
    }
}

async fn tail(session: &Session, log: &AuditLog, args: &AuditTailArgs) -> Result<Exit, CliError> {
    let filter = args.filter();
    // Before the rows are read: what is written meanwhile comes next.
    let newest = log.tail(None, 1)?.last().map_or(0, |entry| entry.n);
    let latest = log.latest(usize::try_from(args.rows).unwrap_or(usize::MAX), &filter)?;
    if session.output.is_json() {
        session.output.json_lines(&latest)?;
    } else if args.follow {
        latest.iter().try_for_each(|entry| session.output.text(&line(entry)))?;
    } else {
        session.output.table(&table(&latest))?;
        if latest.is_empty() {
            let why = if filter.is_empty() { "the audit log is empty" } else { "no matching rows" };
            session.output.note(why);
        }
    }
    if !args.follow {
        return Ok(Exit::Ok);
    }
    follow(session, log, &filter, latest.last().map_or(newest, |entry| entry.n.max(newest))).await
}

/// Prints new rows until Ctrl-C, or until the reader closes the pipe.
async fn follow(session: &Session, log: &AuditLog, filter: &AuditFilter, mut last: u64) -> Result<Exit, CliError> {
    loop {
        let mut next = log.tail(Some(last), AUDIT_PAGE_ROWS)?;
        let Some(newest) = next.last() else {
            tokio::time::sleep(AUDIT_FOLLOW).await;
            continue;
        };
        last = newest.n;
        next.retain(|entry| filter.fits(entry));
        if session.output.is_json() {
            session.output.json_lines(&next)?;
        } else {
            next.iter().try_for_each(|entry| session.output.text(&line(entry)))?;
        }
    }
}

fn show(session: &Session, entry: &AuditEntry) -> Result<Exit, CliError> {
    if session.output.is_json() {
        session.output.document(entry)?;
        return Ok(Exit::Ok);
    }
    let mut fields = Fields::default();
    fields.add("row", entry.n);
    match entry.row() {
        Ok(row) => add_row(&mut fields, &row),
        Err(_) => fields.add("text", Cell::toned(&entry.text, Tone::Bad)),
    }
    if let Some(link) = &entry.link {
        fields.add("segment", link.segment);
        fields.add("position", link.place);
        fields.add("hash", link.hash);
    }
    session.output.fields(&fields)?;
    Ok(Exit::Ok)
}

fn add_row(fields: &mut Fields, row: &AuditRow) {
    fields.add("at", row.at);
    fields.add("owner", &row.owner);
    fields.add("via", row.door.as_str());
    if let Some(agent) = &row.agent {
        fields.add("agent", agent);
    }
    if let Some(run) = row.run {
        fields.add("run", run);
    }
    fields.add("kind", row.subject.kind().as_str());
    fields.add("subject", row.subject.to_string());
    if let AuditSubject::Call { arguments: Some(arguments), .. } = &row.subject {
        let shown = arguments.text.as_deref().map(one_line);
        fields.add("arguments", shown.unwrap_or_else(|| format!("sha256 {}", arguments.sha256)));
    }
    fields.add("outcome", outcome(&row.outcome));
    if let Some(next) = next_step(row) {
        fields.add("next", next);
    }
    fields.add("took", took(row.micros));
    fields.add("trace", row.trace);
}

fn verify(session: &Session, log: &AuditLog) -> Result<Exit, CliError> {
    let verified = log.verify()?;
    let output = &session.output;
    let problem = verified.first_problem;
    if output.is_json() {
        let mut document = json!(verified);
        document["ok"] = json!(problem.is_none());
        document["text"] = json!(problem.map(|problem| problem.to_string()));
        output.document(&document)?;
    } else if let Some(problem) = problem {
        output.complaint(&problem.to_string());
        output.note(&format!("the {} rows before it are intact", verified.rows));
    } else {
        let (rows, segments) = (verified.rows, verified.segments);
        output.text(&format!("ok: {rows} rows in {segments} segments are intact"))?;
        complete(&verified).iter().try_for_each(|line| output.text(line))?;
        if verified.open > 0 {
            output.note(&format!(
                "{} segments are not sealed yet: rows missing at their end cannot be detected",
                verified.open
            ));
        }
    }
    Ok(if problem.is_none() { Exit::Ok } else { Exit::Failed })
}

/// The time since which the log is complete, and the rows missing before it.
fn complete(verified: &AuditVerification) -> Vec<String> {
    let missing = verified.removed.iter().map(removed).chain(verified.gaps.iter().map(gap));
    let first = match verified.complete_from {
        None if verified.removed.is_empty() => "complete: no row is missing".to_owned(),
        None => "complete since the oldest kept row".to_owned(),
        Some(at) => format!("complete after {at:.0}; before that:"),
    };
    std::iter::once(first).chain(missing.map(|line| format!("  {line}"))).collect()
}

fn export(session: &Session, log: &AuditLog, file: &Path) -> Result<Exit, CliError> {
    if file.as_os_str() == "-" {
        for page in log.pages()? {
            session.output.json_lines(&page?)?;
        }
        return Ok(Exit::Ok);
    }
    let rows = log.export(file)?;
    if session.output.is_json() {
        session.output.document(&json!({ "path": file, "rows": rows }))?;
    } else {
        session.output.text(&format!("wrote {rows} rows to {}", file.display()))?;
    }
    Ok(Exit::Ok)
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;

//! `openfang audit`: who did what, and whether the log of it is as it was written. A daemon is not needed: the log is
//! read from the database, beside whoever writes it.

use std::path::Path;
use std::time::Duration;

use openfang_kernel::maintenance::{
    AuditEntry, AuditGap, AuditKind, AuditLog, AuditOutcome, AuditRemoval, AuditRow, RefusalSummary, Verified,
};
use openfang_types::limits::{AUDIT_FOLLOW, AUDIT_PAGE_ROWS};
use serde_json::json;

use crate::args::{AuditCommand, AuditTailArgs};
use crate::error::{CliError, Exit};
use crate::output::{Cell, Fields, Table, Tone};
use crate::session::Session;

const UNREADABLE: &str = "not a row of ours; see `openfang audit verify`";

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
    let latest = log.tail(None, usize::try_from(args.rows).unwrap_or(usize::MAX))?;
    if session.output.is_json() {
        session.output.json_lines(&latest)?;
    } else if args.follow {
        latest.iter().try_for_each(|entry| session.output.text(&line(entry)))?;
    } else {
        session.output.table(&table(&latest))?;
        if latest.is_empty() {
            session.output.note("nothing has been called yet");
        }
    }
    if !args.follow {
        return Ok(Exit::Ok);
    }
    let newest = log.tail(None, 1)?.last().map_or(0, |entry| entry.n);
    follow(session, log, latest.last().map_or(newest, |entry| entry.n)).await
}

/// Until somebody presses Ctrl-C, or nobody reads any more.
async fn follow(session: &Session, log: &AuditLog, mut last: u64) -> Result<Exit, CliError> {
    loop {
        let next = log.tail(Some(last), AUDIT_PAGE_ROWS)?;
        let Some(newest) = next.last() else {
            tokio::time::sleep(AUDIT_FOLLOW).await;
            continue;
        };
        last = newest.n;
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
        fields.add("place", link.place);
        fields.add("hash", link.hash);
    }
    session.output.fields(&fields)?;
    Ok(Exit::Ok)
}

fn add_row(fields: &mut Fields, row: &AuditRow) {
    fields.add("at", row.at);
    fields.add("owner", &row.owner);
    fields.add("door", row.door.as_str());
    if let Some(agent) = &row.agent {
        fields.add("agent", agent);
    }
    if let Some(run) = row.run {
        fields.add("run", run);
    }
    fields.add("tool", &row.tool);
    fields.add("outcome", outcome(&row.outcome));
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
        output.note(&format!("the {} rows before that are as they were written", verified.rows));
    } else {
        let (rows, segments) = (verified.rows, verified.segments);
        output.text(&format!("ok: {rows} rows in {segments} segments are as they were written"))?;
        complete(&verified).iter().try_for_each(|line| output.text(line))?;
        if verified.open > 0 {
            output.note(&format!(
                "{} segments are not sealed yet: what is missing at their end cannot be known",
                verified.open
            ));
        }
    }
    Ok(if problem.is_none() { Exit::Ok } else { Exit::Failed })
}

/// From when on no row is missing, and what is missing before.
fn complete(verified: &Verified) -> Vec<String> {
    let missing = verified.removed.iter().map(removed).chain(verified.gaps.iter().map(gap));
    let first = match verified.complete_from {
        None if verified.removed.is_empty() => "complete: no row is missing".to_owned(),
        None => "complete since the oldest row that is kept".to_owned(),
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

fn table(entries: &[AuditEntry]) -> Table {
    let mut table = Table::new(&["ROW", "AT", "OWNER", "DOOR", "AGENT", "TOOL", "TOOK", "OUTCOME"]);
    for entry in entries {
        match entry.row() {
            Ok(row) => table.row([
                entry.n.into(),
                format!("{:.0}", row.at).into(),
                (&row.owner).into(),
                row.door.as_str().into(),
                row.agent.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string).into(),
                (&row.tool).into(),
                took(row.micros).into(),
                outcome(&row.outcome),
            ]),
            Err(_) => {
                let blank = || Cell::toned("-", Tone::Faint);
                let unreadable = Cell::toned(UNREADABLE, Tone::Bad);
                table.row([entry.n.into(), blank(), blank(), blank(), blank(), blank(), blank(), unreadable]);
            }
        }
    }
    table
}

/// A row of a log that goes on: its columns cannot wait for the widest.
fn line(entry: &AuditEntry) -> String {
    let n = entry.n;
    match entry.row() {
        Ok(row) => {
            let agent = row.agent.as_ref().map_or("-", |agent| agent.as_str());
            let (owner, door, tool) = (row.owner.as_str(), row.door.as_str(), row.tool.as_str());
            let (at, took, outcome) = (row.at, took(row.micros), words(&row.outcome));
            format!("{n:>6}  {at:.0}  {owner:<8}  {door:<5}  {agent:<10}  {tool:<16}  {took:>8}  {outcome}")
        }
        Err(_) => format!("{n:>6}  {UNREADABLE}"),
    }
}

fn outcome(outcome: &AuditOutcome) -> Cell {
    let tone = match outcome {
        AuditOutcome::Started | AuditOutcome::Removed(_) => Tone::Plain,
        AuditOutcome::Succeeded => Tone::Good,
        AuditOutcome::ToolFailed | AuditOutcome::Refused(_) | AuditOutcome::Refusals(_) | AuditOutcome::Gap(_) => {
            Tone::Bad
        }
        AuditOutcome::Cancelled => Tone::Faint,
    };
    Cell::toned(words(outcome), tone)
}

fn words(outcome: &AuditOutcome) -> String {
    match outcome {
        AuditOutcome::Started => "started".to_owned(),
        AuditOutcome::Succeeded => "succeeded".to_owned(),
        AuditOutcome::ToolFailed => "tool failed".to_owned(),
        AuditOutcome::Refused(why) => format!("refused: {why}"),
        AuditOutcome::Cancelled => "canceled".to_owned(),
        AuditOutcome::Refusals(summary) => refusals(summary),
        AuditOutcome::Gap(missing) => gap(missing),
        AuditOutcome::Removed(removal) => removed(removal),
    }
}

fn refusals(summary: &RefusalSummary) -> String {
    let RefusalSummary { count, from, to, reasons } = summary;
    let reasons: Vec<String> = reasons.iter().map(|(why, count)| format!("{why} {count}")).collect();
    format!("{count} more refusals from {from:.0} to {to:.0}: {}", reasons.join(", "))
}

fn gap(missing: &AuditGap) -> String {
    let AuditGap { of, kind, count, from, to } = missing;
    format!("{count} rows about {} of {of} could not be written, from {from:.0} to {to:.0}", kind.plural())
}

fn removed(removal: &AuditRemoval) -> String {
    let whose = match (&removal.of, removal.kind.map(AuditKind::plural)) {
        (Some(of), Some(kind)) => format!("about {kind} of {of}"),
        _ => "of everybody".to_owned(),
    };
    let until = removal.to.map_or_else(String::new, |to| format!(", up to {to:.0}"));
    format!("{} rows {whose} were removed by retention{until}", removal.rows)
}

/// Three digits say enough.
fn took(micros: u64) -> String {
    let time = Duration::from_micros(micros);
    match micros {
        0..1_000 => format!("{micros} us"),
        1_000..1_000_000 => format!("{:.1} ms", time.as_secs_f64() * 1_000.0),
        1_000_000.. => format!("{:.1} s", time.as_secs_f64()),
    }
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;

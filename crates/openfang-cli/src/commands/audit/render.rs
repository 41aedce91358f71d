//! Audit rows as text: as a table, as lines, and as phrases.

use std::time::Duration;

use openfang_kernel::maintenance::{
    AuditEntry, AuditGap, AuditKind, AuditOutcome, AuditRemoval, AuditRow, AuditSubject, RefusalSummary,
};

use crate::output::{Cell, Table, Tone, one_line};

pub(super) const UNREADABLE: &str = "unreadable row; see `openfang audit verify`";

pub(super) fn table(entries: &[AuditEntry]) -> Table {
    let mut table = Table::new(&["ROW", "AT", "OWNER", "VIA", "AGENT", "KIND", "SUBJECT", "TOOK", "OUTCOME"]);
    for entry in entries {
        match entry.row() {
            Ok(row) => table.row([
                entry.n.into(),
                format!("{:.0}", row.at).into(),
                (&row.owner).into(),
                row.door.as_str().into(),
                row.agent.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string).into(),
                row.subject.kind().as_str().into(),
                row.subject.to_string().into(),
                took(row.micros).into(),
                outcome(&row.outcome),
            ]),
            Err(_) => {
                let blank = || Cell::toned("-", Tone::Faint);
                let unreadable = Cell::toned(UNREADABLE, Tone::Bad);
                table.row([entry.n.into(), blank(), blank(), blank(), blank(), blank(), blank(), blank(), unreadable]);
            }
        }
    }
    table
}

/// A row of `audit tail --follow`. Its columns have a fixed width, because later rows are not known.
pub(super) fn line(entry: &AuditEntry) -> String {
    let n = entry.n;
    match entry.row() {
        Ok(row) => {
            let agent = row.agent.as_ref().map_or("-", |agent| agent.as_str());
            let (owner, door, kind) = (row.owner.as_str(), row.door.as_str(), row.subject.kind().as_str());
            let subject = one_line(&row.subject.to_string());
            let (at, took, outcome) = (row.at, took(row.micros), words(&row.outcome));
            format!(
                "{n:>6}  {at:.0}  {owner:<8}  {door:<5}  {agent:<10}  {kind:<10}  {subject:<16}  {took:>8}  {outcome}"
            )
        }
        Err(_) => format!("{n:>6}  {UNREADABLE}"),
    }
}

pub(super) fn outcome(outcome: &AuditOutcome) -> Cell {
    let tone = match outcome {
        AuditOutcome::Started | AuditOutcome::StillOffered | AuditOutcome::Removed(_) => Tone::Plain,
        AuditOutcome::Quarantined => Tone::Waiting,
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
        AuditOutcome::Quarantined => "quarantined".to_owned(),
        AuditOutcome::StillOffered => "still offered".to_owned(),
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

pub(super) fn gap(missing: &AuditGap) -> String {
    let AuditGap { of, kind, count, from, to } = missing;
    format!("{count} rows about {} of {of} could not be written, from {from:.0} to {to:.0}", kind.plural())
}

pub(super) fn removed(removal: &AuditRemoval) -> String {
    let whose = match (&removal.of, removal.kind.map(AuditKind::plural)) {
        (Some(of), Some(kind)) => format!("about {kind} of {of}"),
        _ => "of everybody".to_owned(),
    };
    let until = removal.to.map_or_else(String::new, |to| format!(", up to {to:.0}"));
    format!("{} rows {whose} were removed by retention{until}", removal.rows)
}

/// A duration with about three digits.
pub(super) fn took(micros: u64) -> String {
    let time = Duration::from_micros(micros);
    match micros {
        0..1_000 => format!("{micros} us"),
        1_000..1_000_000 => format!("{:.1} ms", time.as_secs_f64() * 1_000.0),
        1_000_000.. => format!("{:.1} s", time.as_secs_f64()),
    }
}

/// The command to run next for a row, if there is one.
pub(super) fn next_step(row: &AuditRow) -> Option<String> {
    match (&row.subject, &row.outcome, &row.agent) {
        (AuditSubject::Call { tool, .. }, AuditOutcome::Refused(why), Some(agent)) if is_about_rights(why) => {
            Some(format!("openfang policy explain {agent} {tool}"))
        }
        (AuditSubject::Call { .. }, AuditOutcome::Refused(why), None) if why == "not_granted" => {
            Some("openfang user list".to_owned())
        }
        (AuditSubject::Definition { server, .. }, AuditOutcome::Quarantined, _) => {
            Some(format!("openfang mcp review {server}"))
        }
        _ => None,
    }
}

fn is_about_rights(reason: &str) -> bool {
    matches!(reason, "not_granted" | "quarantined" | "unknown_tool")
}

//! Audit rows as people see them.

use openfang_kernel::maintenance::{AuditGap, AuditKind, AuditOutcome, AuditRemoval, AuditSubject, RefusalSummary};
use openfang_types::ids::Owner;
use openfang_types::principal::Door;

use super::render::UNREADABLE;
use super::*;

fn entry(outcome: AuditOutcome, micros: u64) -> AuditEntry {
    let row = AuditRow {
        trace: "00000000-0000-0000-0000-000000000001".parse().unwrap(),
        at: "2026-01-02T03:04:05.678Z".parse().unwrap(),
        owner: "ada".parse().unwrap(),
        door: Door::Rest,
        agent: None,
        run: None,
        subject: AuditSubject::call("add_numbers".parse().unwrap()),
        outcome,
        micros,
    };
    AuditEntry { n: 7, text: serde_json::to_string(&row).unwrap().into(), link: None }
}

#[test]
fn a_line_says_who_did_what_and_how_it_went() {
    let rows = [
        (AuditOutcome::Started, 0, "   0 us  started"),
        (AuditOutcome::Succeeded, 999, " 999 us  succeeded"),
        (AuditOutcome::ToolFailed, 1_260, " 1.3 ms  tool failed"),
        (AuditOutcome::Refused("unknown_tool".to_owned()), 61_000_000, " 61.0 s  refused: unknown_tool"),
        (AuditOutcome::Cancelled, 999_949, "999.9 ms  canceled"),
    ];
    for (outcome, micros, end) in rows {
        let shown = line(&entry(outcome, micros));

        assert!(
            shown.starts_with(
                "     7  2026-01-02T03:04:05Z  ada       rest   -           call        add_numbers       "
            ),
            "{shown}"
        );
        assert!(shown.ends_with(end), "{shown}");
    }
}

#[test]
fn what_the_log_says_about_itself_reads_as_a_sentence() {
    let (from, to) = ("2026-01-02T03:00:00Z".parse().unwrap(), "2026-01-02T04:00:00Z".parse().unwrap());
    let reasons = [("denied".to_owned(), 2), ("unknown_tool".to_owned(), 5)].into();
    let of = Owner::house();
    let rows = [
        (
            AuditOutcome::Refusals(RefusalSummary { count: 7, from, to, reasons }),
            "7 more refusals from 2026-01-02T03:00:00Z to 2026-01-02T04:00:00Z: denied 2, unknown_tool 5",
        ),
        (
            AuditOutcome::Gap(AuditGap { of: of.clone(), kind: AuditKind::Read, count: 3, from, to }),
            "3 rows about reads of *house could not be written, from 2026-01-02T03:00:00Z to 2026-01-02T04:00:00Z",
        ),
        (
            AuditOutcome::Removed(AuditRemoval { of: Some(of), kind: Some(AuditKind::Refusal), rows: 9, to: Some(to) }),
            "9 rows about refusals of *house were removed by retention, up to 2026-01-02T04:00:00Z",
        ),
        (
            AuditOutcome::Removed(AuditRemoval { of: None, kind: None, rows: 9, to: None }),
            "9 rows of everybody were removed by retention",
        ),
    ];
    for (outcome, end) in rows {
        let shown = line(&entry(outcome, 0));

        assert!(shown.ends_with(end), "{shown}");
    }
}

#[test]
fn a_row_that_somebody_else_wrote_is_shown_as_such() {
    let forged = AuditEntry { n: 8, text: "{}".into(), link: None };

    assert_eq!(line(&forged), format!("     8  {UNREADABLE}"));
}

//! Rows of every kind, as text and back.

use openfang_types::principal::Door;

use super::*;
use crate::contract::audit_row;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

fn owners() -> Vec<Owner> {
    let longest = "x".repeat(64);
    let names = ["ada", "ada@example.org", "A-b_c.9", "-", &longest];
    let users = names.map(|name| name.parse().unwrap());
    [Owner::house(), Owner::admin(), Owner::nobody()].into_iter().chain(users).collect()
}

/// One of each; a new one does not compile before it stands here.
fn outcomes(of: &Owner) -> Vec<AuditOutcome> {
    let all = |outcome: &AuditOutcome| match outcome {
        AuditOutcome::Started
        | AuditOutcome::Succeeded
        | AuditOutcome::ToolFailed
        | AuditOutcome::Refused(_)
        | AuditOutcome::Cancelled
        | AuditOutcome::Refusals(_)
        | AuditOutcome::Gap(_)
        | AuditOutcome::Removed(_) => true,
    };
    let (from, to, of) = (at(1), at(2), of.clone());
    let reasons = [("denied \"here\"".to_owned(), 2)].into();
    let outcomes = vec![
        AuditOutcome::Started,
        AuditOutcome::Succeeded,
        AuditOutcome::ToolFailed,
        AuditOutcome::Refused("a \u{1f980}\n\"reason\"".to_owned()),
        AuditOutcome::Cancelled,
        AuditOutcome::Refusals(RefusalSummary { count: 2, from, to, reasons }),
        AuditOutcome::Gap(AuditGap { of: of.clone(), kind: AuditKind::Read, count: 3, from, to }),
        AuditOutcome::Removed(AuditRemoval { of: Some(of), kind: Some(AuditKind::Refusal), rows: 4, to: Some(to) }),
        AuditOutcome::Removed(AuditRemoval { of: None, kind: None, rows: 4, to: None }),
    ];
    assert!(outcomes.iter().all(all));
    outcomes
}

#[test]
fn every_row_that_is_written_reads_back() {
    let doors = [Door::Cli, Door::Rest, Door::Mcp, Door::A2a, Door::Agent];
    for owner in owners() {
        for door in doors {
            for outcome in outcomes(&owner) {
                let agent = Some("starter".parse().unwrap());
                let run = Some("00000000-0000-0000-0000-000000000002".parse().unwrap());
                let tool = "mcp.add.a-server".parse().unwrap();
                let row = AuditRow { owner: owner.clone(), door, agent, run, tool, outcome, ..audit_row(u64::MAX) };
                let text = serde_json::to_string(&row).unwrap().into();

                let entry = AuditEntry { n: 1, text, link: None };

                assert_eq!(entry.row().unwrap(), row);
            }
        }
    }
}

#[test]
fn the_rows_about_the_log_itself_read_back() {
    let stream = AuditStream { owner: Owner::house(), kind: AuditKind::Read };
    let removal = AuditRemoval { of: None, kind: None, rows: 1, to: None };
    let summary = RefusalSummary { count: 1, from: at(1), to: at(1), reasons: [].into() };
    let rows = [
        AuditGap::new(stream, at(1)).into_row(),
        removal.into_row(at(1)),
        summary.into_row(Owner::nobody(), Door::Rest),
    ];
    for row in rows {
        let text = serde_json::to_string(&row).unwrap();

        assert_eq!(serde_json::from_str::<AuditRow>(&text).unwrap(), row);
    }
}

#[test]
fn the_house_is_nobody_who_comes_from_outside() {
    assert!("*house".parse::<Owner>().is_err());
    assert!(serde_json::from_str::<Owner>("\"*house\"").is_err());
    assert_eq!(Owner::from_record("*house").unwrap(), Owner::house());
    assert!(Owner::from_record("*other").is_err());
}

#[test]
fn kinds_have_words_that_lead_back() {
    for kind in AuditKind::ALL {
        assert_eq!(AuditKind::from_word(kind.as_str()), Some(kind));
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
    }
}

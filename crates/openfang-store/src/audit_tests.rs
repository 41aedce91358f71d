//! Rows of every kind, as text and back.

use openfang_types::principal::Door;

use super::*;
use crate::contract::{audit_row, subjects};

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
        | AuditOutcome::Quarantined
        | AuditOutcome::StillOffered
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
        AuditOutcome::Quarantined,
        AuditOutcome::StillOffered,
        AuditOutcome::Refusals(RefusalSummary { count: 2, from, to, reasons }),
        AuditOutcome::Gap(AuditGap { of: of.clone(), kind: AuditKind::Read, count: 3, from, to }),
        AuditOutcome::Removed(AuditRemoval { of: Some(of), kind: Some(AuditKind::Refusal), rows: 4, to: Some(to) }),
        AuditOutcome::Removed(AuditRemoval { of: None, kind: None, rows: 4, to: None }),
    ];
    assert!(outcomes.iter().all(all));
    outcomes
}

/// Every outcome with every subject.
fn pairs(of: &Owner) -> impl Iterator<Item = (AuditOutcome, AuditSubject)> {
    let outcomes = outcomes(of);
    subjects()
        .into_iter()
        .flat_map(move |subject| outcomes.clone().into_iter().map(move |outcome| (outcome, subject.clone())))
}

#[test]
fn every_row_that_is_written_reads_back() {
    let doors = [Door::Cli, Door::Rest, Door::Mcp, Door::A2a, Door::Agent];
    for owner in owners() {
        for door in doors {
            for (outcome, subject) in pairs(&owner) {
                let agent = Some("starter".parse().unwrap());
                let run = Some("00000000-0000-0000-0000-000000000002".parse().unwrap());
                let row = AuditRow { owner: owner.clone(), door, agent, run, subject, outcome, ..audit_row(u64::MAX) };
                let text: Box<str> = serde_json::to_string(&row).unwrap().into();
                assert!(text.len() < 12_000, "a row is bounded: {}", text.len());

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

/// A row as versions before subjects wrote it.
fn former(tool: &str, more: &str) -> String {
    format!(
        r#"{{"trace":"00000000-0000-0000-0000-000000000001","at":"1970-01-01T00:00:00Z","owner":"ada","door":"rest","run":null,"tool":"{tool}",{more},"micros":7}}"#
    )
}

#[test]
fn a_row_of_an_earlier_version_is_shown_as_what_it_was() {
    let done = r#""agent":null,"outcome":"succeeded""#;
    let through = r#""agent":"starter","outcome":"succeeded""#;
    let refused = |why: &str| format!(r#""agent":null,"outcome":{{"refused":"{why}"}}"#);
    let gap = r#""agent":null,"outcome":{"gap":{"of":"*house","kind":"read","count":1,"from":"1970-01-01T00:00:01Z","to":"1970-01-01T00:00:01Z"}}"#;
    let call = |tool: &str| (SubjectKind::Call, tool.to_owned());
    let change = |name: &str| (SubjectKind::Change, name.to_owned());
    let rows = [
        (former("add_numbers", done), call("add_numbers")),
        (former("mcp_github_search", through), call("mcp_github_search")),
        (former("user_add.bob_at_x", done), change("user_add.bob_at_x")),
        (former("key_create.ada.4f1c0a9d27be", done), change("key_create.ada.4f1c0a9d27be")),
        (former("mcp_server_remove.github", &refused("not_permitted")), change("mcp_server_remove.github")),
        (former("home_accept.database", done), change("home_accept.database")),
        (former("user_add.bob", &refused("unknown_tool")), call("user_add.bob")),
        (former("mcp_server_add.x", through), call("mcp_server_add.x")),
        (former("login", &refused("wrong_login")), (SubjectKind::Login, "login".to_owned())),
        (former("login", &refused("unknown_tool")), call("login")),
        (former("logout", done), (SubjectKind::Logout, "logout".to_owned())),
        (
            former("mcp_github_search", &refused("definition_changed")),
            (SubjectKind::Definition, "mcp_github_search".to_owned()),
        ),
        (former("audit.gap", gap), (SubjectKind::Log, "audit log".to_owned())),
    ];
    for (text, expected) in rows {
        let row: AuditRow = serde_json::from_str(&text).unwrap();

        assert_eq!((row.subject.kind(), row.subject.to_string()), expected, "{text}");
        assert_eq!((row.owner.as_str(), row.micros), ("ada", 7));
    }
}

#[test]
fn a_row_with_two_subjects_or_none_is_not_ours() {
    let row = former("add_numbers", r#""agent":null,"outcome":"succeeded""#);
    let none = row.replace(r#""tool":"add_numbers","#, "");
    let two = row.replace(r#""tool":"#, r#""subject":{"kind":"login"},"tool":"#);

    for text in [none, two] {
        assert!(serde_json::from_str::<AuditRow>(&text).is_err(), "{text}");
    }
}

#[test]
fn subjects_have_kinds_whose_words_lead_back() {
    for kind in SubjectKind::ALL {
        assert_eq!(SubjectKind::from_word(kind.as_str()), Some(kind));
    }
    for subject in subjects() {
        assert_eq!(serde_json::to_value(&subject).unwrap()["kind"], subject.kind().as_str());
    }
}

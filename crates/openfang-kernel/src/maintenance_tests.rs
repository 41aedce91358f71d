//! The audit log of a home, read from outside.

use jiff::Timestamp;
use openfang_store::{Sqlite, Stores};
use openfang_types::ids::NodeId;
use openfang_types::principal::Door;
use uuid::Uuid;

use super::*;

fn home(directory: &Path) -> (Home, Stores) {
    let home = Home::at(directory.to_owned());
    home.prepare().unwrap();
    let stores = Sqlite::open(&home.database(), NodeId::from_uuid(Uuid::now_v7())).unwrap().stores();
    (home, stores)
}

fn row(micros: u64) -> AuditRow {
    AuditRow {
        trace: "00000000-0000-0000-0000-000000000001".parse().unwrap(),
        at: Timestamp::UNIX_EPOCH,
        owner: "ada".parse().unwrap(),
        door: Door::Cli,
        agent: None,
        run: None,
        subject: AuditSubject::call("add_numbers".parse().unwrap()),
        outcome: AuditOutcome::Succeeded,
        micros,
    }
}

#[tokio::test]
async fn an_export_has_every_row_on_a_line_with_its_hash_and_its_own_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let (home, stores) = home(directory.path());
    let rows = AUDIT_PAGE_ROWS as u64 + 2;
    for n in 1..=rows {
        stores.audit.record(AuditKind::Read, row(n));
    }
    stores.audit.seal(Timestamp::UNIX_EPOCH).await.unwrap();
    let to = directory.path().join("audit.jsonl");

    let written = AuditLog::open(&home).unwrap().export(&to).unwrap();

    let text = std::fs::read_to_string(&to).unwrap();
    assert_eq!((written, text.lines().count() as u64), (rows, rows));
    let entry = stores.audit.row(rows).await.unwrap();
    let AuditLink { segment, place, hash } = entry.link.unwrap();
    let expected = format!(
        r#"{{"n":{rows},"segment":"{segment}","place":{place},"hash":"{hash}","row":{}}}"#,
        serde_json::to_string(&row(rows)).unwrap()
    );
    assert_eq!(text.lines().last(), Some(expected.as_str()));
}

#[tokio::test]
async fn an_export_does_not_overwrite() {
    let directory = tempfile::tempdir().unwrap();
    let (home, stores) = home(directory.path());
    stores.audit.commit(row(1)).await.unwrap();
    let to = directory.path().join("audit.jsonl");
    std::fs::write(&to, "mine").unwrap();

    let refused = AuditLog::open(&home).unwrap().export(&to);

    assert!(matches!(refused, Err(MaintenanceError::Exists { .. })), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&to).unwrap(), "mine");
}

#[test]
fn a_home_without_a_database_is_told_how_to_get_one() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path().to_owned());

    let refusals = [
        AuditLog::open(&home).map(drop).unwrap_err(),
        check(&home).map(drop).unwrap_err(),
        backup(&home, &directory.path().join("copy.db")).map(drop).unwrap_err(),
    ];

    for refusal in refusals {
        assert!(refusal.to_string().contains("`openfang start` creates one"), "{refusal}");
    }
}

#[tokio::test]
async fn the_latest_rows_that_fit_are_found_however_far_back_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let (home, stores) = home(directory.path());
    stores.audit.record(AuditKind::Read, AuditRow { subject: AuditSubject::Login, ..row(1) });
    for n in 0..2 * AUDIT_PAGE_ROWS as u64 {
        stores.audit.record(AuditKind::Read, row(n));
    }
    stores.audit.seal(Timestamp::UNIX_EPOCH).await.unwrap();
    let log = AuditLog::open(&home).unwrap();
    let found = |limit, filter: AuditFilter| {
        let entries = log.latest(limit, &filter).unwrap();
        entries.iter().map(|entry| entry.n).collect::<Vec<_>>()
    };
    let kind = |kind| AuditFilter { kind: Some(kind), ..AuditFilter::default() };
    let last = 2 * AUDIT_PAGE_ROWS as u64 + 1;

    assert_eq!(found(5, kind(SubjectKind::Login)), [1]);
    assert_eq!(found(2, kind(SubjectKind::Call)), [last - 1, last], "newest last");
    assert_eq!(found(9_999, kind(SubjectKind::Call)).len(), 2 * AUDIT_PAGE_ROWS);
    assert_eq!(found(1, AuditFilter::default()), [last]);
    assert_eq!(found(9, kind(SubjectKind::Reload)), [0; 0]);
}

#[test]
fn a_moment_is_a_timestamp_or_how_long_ago_it_was() {
    let now = Timestamp::now();
    for (text, seconds) in [("90s", 90), ("15m", 900), ("2h", 7_200), ("7d", 604_800)] {
        let since: Since = text.parse().unwrap();
        let off = now.duration_since(since.0).as_secs() - seconds;
        assert!(off.abs() < 60, "{text} is {since:?}");
    }
    assert_eq!("2026-01-02T03:04:05Z".parse::<Since>().unwrap().0.as_second(), 1_767_323_045);
    assert!("yesterday".parse::<Since>().is_err());
}

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
        assert!(refusal.to_string().contains("`openfang start` makes one"), "{refusal}");
    }
}

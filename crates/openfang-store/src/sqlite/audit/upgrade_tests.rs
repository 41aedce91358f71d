//! A log that an earlier version wrote: one chain for everybody.

use rusqlite::params;

use super::super::tests::{days, node};
use super::super::*;
use crate::contract::audit_row;
use crate::sqlite::maintenance::DatabaseFile;
use crate::{AuditHash, AuditRemoval};

/// Made by the first version; it has no audit rows yet.
const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/v1.db");

/// Rows as versions before subjects wrote them.
const FORMER: [[&str; 2]; 2] = [
    [
        r#"{"trace":"00000000-0000-0000-0000-000000000001","at":"1970-01-01T00:00:00Z","owner":"admin","door":"cli","agent":null,"run":null,"tool":"user_add.bob_at_x","outcome":"succeeded","micros":1}"#,
        r#"{"trace":"00000000-0000-0000-0000-000000000001","at":"1970-01-01T00:00:00Z","owner":"bob@x","door":"rest","agent":null,"run":null,"tool":"login","outcome":"succeeded","micros":1}"#,
    ],
    [
        r#"{"trace":"00000000-0000-0000-0000-000000000001","at":"1970-01-01T00:00:00Z","owner":"*house","door":"mcp","agent":null,"run":null,"tool":"mcp_github_search","outcome":{"refused":"definition_changed"},"micros":0}"#,
        r#"{"trace":"00000000-0000-0000-0000-000000000001","at":"1970-01-01T00:00:00Z","owner":"ada","door":"rest","agent":null,"run":null,"tool":"add_numbers","outcome":"succeeded","micros":2}"#,
    ],
];

/// Writes a chain of two sealed segments with two rows each, as the first version did.
fn write_chain(database: &rusqlite::Connection) {
    let (node, mut last) = (node(), AuditHash::NONE);
    for id in [[1_u8; 16], [2; 16]] {
        let sql = "INSERT INTO audit_segments (id, node, previous, opened_at) VALUES (?1, ?2, ?3, 0)";
        database.execute(sql, params![id, node.as_uuid().as_bytes(), last.0]).unwrap();
        for place in 1..=2_i64 {
            let text = FORMER[usize::from(id[0] > 1)][usize::try_from(place - 1).unwrap()];
            last = chain::link(&last.0, text.as_bytes());
            let sql = "INSERT INTO audit (segment, place, row, hash) VALUES (?1, ?2, ?3, ?4)";
            database.execute(sql, params![id, place, text, last.0]).unwrap();
        }
        last = chain::closing(&last.0, 2, &id);
        let sql = "UPDATE audit_segments SET closed_at = 0, rows = 2, closing_hash = ?2 WHERE id = ?1";
        database.execute(sql, params![id, last.0]).unwrap();
    }
    database.execute("INSERT INTO meta VALUES ('audit_segments', 2)", []).unwrap();
}

#[tokio::test]
async fn a_log_of_an_earlier_version_verifies_before_and_after_it_is_upgraded_and_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    std::fs::copy(FIXTURE, &path).unwrap();
    write_chain(&rusqlite::Connection::open(&path).unwrap());
    let whole = AuditVerification { rows: 4, segments: 2, ..AuditVerification::default() };
    assert_eq!(DatabaseFile::open(&path).unwrap().audit_verify().unwrap(), whole);

    let audit = Sqlite::open(&path, node()).unwrap().stores().audit;
    assert_eq!(audit.verify().await.unwrap(), whole);
    audit.commit(audit_row(3)).await.unwrap();
    let rows = audit.recent(9).await.unwrap();
    let shown: Vec<(&str, String)> =
        rows.iter().map(|row| (row.subject.kind().as_str(), row.subject.to_string())).collect();
    let expected = [
        ("change", "user_add.bob_at_x"),
        ("login", "login"),
        ("definition", "mcp_github_search"),
        ("call", "add_numbers"),
        ("call", "add_numbers"),
    ];
    assert_eq!(shown, expected.map(|(kind, subject)| (kind, subject.to_owned())));

    let rule = AuditRetention { rows: 3, ..AuditRetention::default() };
    assert_eq!(audit.rotate(rule, days(0)).await.unwrap(), Rotated { segments: 1, rows: 2 });

    let verified = audit.verify().await.unwrap();
    let removal = AuditRemoval { of: None, kind: None, rows: 2, to: Some(days(0)) };
    assert_eq!((verified.first_problem, verified.removed), (None, vec![removal]));
    assert_eq!(verified.rows, 4, "two from before, one from after, and the one that says what was removed");
}

#[tokio::test]
async fn rows_that_an_earlier_version_removed_are_still_known_to_be_missing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    std::fs::copy(FIXTURE, &path).unwrap();
    let database = rusqlite::Connection::open(&path).unwrap();
    write_chain(&database);
    let cut = r#"{"segments":3,"rows":30,"last":null,"closing_hash":""}"#;
    database.execute("INSERT INTO meta VALUES ('audit_cut', ?1)", [cut]).unwrap();

    let verified = Sqlite::open(&path, node()).unwrap().stores().audit.verify().await.unwrap();

    assert_eq!(verified.removed, [AuditRemoval { of: None, kind: None, rows: 30, to: Some(days(0)) }]);
    assert_eq!(verified.complete_from, Some(days(0)));
}

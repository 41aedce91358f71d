//! Backups of settings: kept for a month, because they contain tokens.

use std::time::Duration;

use super::*;

fn record(backup: PathBuf) -> Record {
    Record {
        client: "cursor".to_owned(),
        path: "/srv/ada/.cursor/mcp.json".into(),
        name: "openfang".to_owned(),
        keys: Vec::new(),
        created: 0,
        entry: String::new(),
        after: String::new(),
        backup: Some(backup),
        is_restorable: true,
        made: Vec::new(),
        key: None,
        at: String::new(),
    }
}

#[test]
fn a_backup_is_deleted_after_a_month_and_undo_does_not_expect_it() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path().to_owned());
    let mut ledger = Ledger::open(&home).unwrap();
    let backup = ledger.back_up("cursor", "2026-11-18", "{\"token\": \"x\"}").unwrap();
    ledger.add(record(backup.clone())).unwrap();
    let written = backup.metadata().unwrap().modified().unwrap();

    ledger.prune(written + CONNECT_BACKUP_AGE).unwrap();
    assert!(backup.exists());
    ledger.prune(written + CONNECT_BACKUP_AGE + Duration::from_secs(1)).unwrap();

    assert!(!backup.exists());
    let kept = Ledger::open(&home).unwrap();
    assert_eq!((kept.records[0].backup.clone(), kept.records[0].is_restorable), (None, false));
}

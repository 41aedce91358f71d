//! Opening a database: what is accepted, what is refused, and what is left behind.

use std::fs;
use std::path::PathBuf;

use super::*;
use crate::contract::{create, new_task, node, owner};

#[path = "sqlite/commit_tests.rs"]
mod commits;
#[path = "sqlite/damage_tests.rs"]
mod damage;
#[path = "sqlite/identity_tests.rs"]
mod identities;
#[path = "sqlite/kill_tests.rs"]
mod kills;
#[path = "sqlite/upgrade_tests.rs"]
mod upgrade;

/// A directory with room for a database; gone with this value.
pub(super) struct Home {
    directory: tempfile::TempDir,
}

impl Home {
    pub(super) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.directory.path().join("openfang.db")
    }

    pub(super) fn wal(&self) -> PathBuf {
        self.directory.path().join("openfang.db-wal")
    }

    pub(super) fn try_open(&self) -> Result<Sqlite, OpenError> {
        Sqlite::open(&self.path(), node(1))
    }

    pub(super) fn open(&self) -> Sqlite {
        self.try_open().unwrap()
    }
}

/// How SQLite means to answer a statement, step by step.
pub(super) fn plan(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let values = vec![rusqlite::types::Null; statement.parameter_count()];
    let steps = statement.query_map(rusqlite::params_from_iter(values), |row| row.get("detail")).unwrap();
    steps.map(Result::unwrap).collect()
}

fn refusal(home: &Home) -> OpenError {
    home.try_open().err().unwrap()
}

#[tokio::test]
async fn what_was_acknowledged_is_there_after_opening_again() {
    let home = Home::new();
    let ada = owner("ada");
    let record = create(&*home.open().stores().tasks, new_task(&ada, "m")).await;

    let read = home.open().stores().tasks.get(&ada, record.task.id).await;

    assert_eq!(read, Ok(record));
}

#[tokio::test]
async fn a_database_that_is_closed_leaves_no_log_behind() {
    let home = Home::new();
    let sqlite = home.open();
    create(&*sqlite.stores().tasks, new_task(&owner("ada"), "m")).await;

    drop(sqlite);

    let mut left: Vec<_> = fs::read_dir(home.directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["openfang.db", "openfang.reserve"], "and the space that is set aside");
}

#[test]
fn many_may_make_the_same_file_at_the_same_time() {
    let home = Home::new();
    let opened = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| home.try_open().map(|_| ()))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });

    for outcome in opened {
        outcome.unwrap();
    }
}

#[cfg(unix)]
#[tokio::test]
async fn its_files_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let sqlite = home.open();
    create(&*sqlite.stores().tasks, new_task(&owner("ada"), "m")).await;

    let files: Vec<_> = fs::read_dir(home.directory.path()).unwrap().map(Result::unwrap).collect();

    assert_eq!(files.len(), 4, "the database, its log, the log's index, and the space that is set aside");
    for file in files {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{:?}", file.file_name());
    }
}

#[test]
fn a_newer_schema_is_refused_with_both_versions() {
    let home = Home::new();
    drop(home.open());
    Connection::open(home.path()).unwrap().pragma_update(None, "user_version", 99).unwrap();

    let refused = refusal(&home).to_string();

    let known = Connection::open(home.path()).unwrap();
    let version: u32 = known.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 99, "it is left as it is");
    let ours = super::schema::KNOWN;
    assert!(refused.contains(&format!("has schema version 99, and this openfang knows {ours};")), "{refused}");
}

#[test]
fn somebody_elses_database_is_refused_and_left_as_it_is() {
    let home = Home::new();
    Connection::open(home.path())
        .unwrap()
        .execute_batch("CREATE TABLE songs (title TEXT)")
        .unwrap();
    let before = fs::read(home.path()).unwrap();

    let refused = refusal(&home);

    assert!(matches!(refused, OpenError::Foreign { .. }), "{refused}");
    assert_eq!(fs::read(home.path()).unwrap(), before);
}

#[test]
fn garbage_is_refused_and_the_way_to_a_backup_named() {
    for garbage in ["not a database, whatever its name says".repeat(200), "short".to_owned()] {
        let home = Home::new();
        fs::write(home.path(), &garbage).unwrap();

        let refused = refusal(&home);

        assert!(matches!(refused, OpenError::Damaged { .. }), "{refused}");
        assert!(refused.to_string().contains("`openfang restore`"), "{refused}");
        assert_eq!(fs::read_to_string(home.path()).unwrap(), garbage);
    }
}

#[test]
fn an_empty_file_becomes_a_database() {
    let home = Home::new();
    fs::write(home.path(), "").unwrap();

    home.open();
}

#[test]
fn a_directory_that_is_not_there_is_an_error_that_names_the_path() {
    let home = Home::new();
    let path = home.directory.path().join("no/such/place.db");

    let refused = Sqlite::open(&path, node(1)).err().unwrap().to_string();

    assert!(refused.contains("place.db"), "{refused}");
}

//! Looking at a database, checking and copying it, while others write.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use openfang_types::ids::NodeId;
use rusqlite::params;
use tempfile::TempDir;
use uuid::Uuid;

use super::*;
use crate::contract::{self, audit_row};
use crate::{AuditFault, Sqlite, Stores};

struct Database {
    directory: TempDir,
    stores: Stores,
}

impl Database {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let stores = open(&directory.path().join("a.db")).stores();
        Self { directory, stores }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn file(&self) -> DatabaseFile {
        DatabaseFile::open(&self.path("a.db")).unwrap()
    }

    fn sql(&self, sql: &str) {
        Connection::open(self.path("a.db")).unwrap().execute_batch(sql).unwrap();
    }

    /// A task as the store writes it, with one row of events for each length.
    fn task(&self, id: u128, seq: i64, writes: &[(i64, i64)]) {
        let connection = Connection::open(self.path("a.db")).unwrap();
        let id = Uuid::from_u128(id);
        let sql = "INSERT INTO a2a_tasks (id, owner, agent, context_id, state, status_at, created_at, version, seq,
                       origin, resend_key, node, attempt, labels, trace)
                   VALUES (?1, 'ada', 'starter', 'c', 'completed', 0, 0, 1, ?2, 'openfang', ?3, x'00', 1, '[]', x'00')";
        connection.execute(sql, params![id.as_bytes(), seq, id.to_string()]).unwrap();
        for (first, count) in writes {
            let bodies = serde_json::to_string(&vec!["x"; usize::try_from(*count).unwrap()]).unwrap();
            let sql = "INSERT INTO a2a_task_events (task, seq, at, bodies) VALUES (?1, ?2, 0, ?3)";
            connection.execute(sql, params![id.as_bytes(), first, bodies]).unwrap();
        }
        let sql = "INSERT INTO task_counts (owner, state, n) VALUES ('ada', 'completed', 1)
                   ON CONFLICT (owner, state) DO UPDATE SET n = n + 1";
        connection.execute(sql, []).unwrap();
        self.count_bytes();
    }

    /// Makes the counted bytes those that are there.
    fn count_bytes(&self) {
        self.sql(
            "UPDATE task_counts SET bytes = coalesce((SELECT sum(coalesce(octet_length(first), 0)
                 + coalesce(octet_length(folded), 0)
                 + coalesce((SELECT sum(octet_length(bodies)) FROM a2a_task_events WHERE task = id), 0))
             FROM a2a_tasks t WHERE t.owner = task_counts.owner AND t.state = task_counts.state), 0)",
        );
    }
}

fn open(path: &Path) -> Sqlite {
    Sqlite::open(path, NodeId::from_uuid(Uuid::now_v7())).unwrap()
}

fn task_id(id: u128) -> openfang_types::ids::TaskId {
    openfang_types::ids::TaskId::from_uuid(Uuid::from_u128(id))
}

#[tokio::test]
async fn a_sound_database_has_no_findings() {
    let database = Database::new();
    database.task(1, 3, &[(1, 2), (3, 1)]);
    database.task(2, 1, &[(1, 1)]);
    database.sql("UPDATE a2a_tasks SET folded = '{}' WHERE seq = 1; DELETE FROM a2a_task_events WHERE task <> (SELECT min(id) FROM a2a_tasks)");
    database.count_bytes();
    database.stores.audit.commit(audit_row(1)).await.unwrap();

    let report = database.file().check().unwrap();

    let audit = AuditVerification { rows: 1, segments: 1, open: 1, ..AuditVerification::default() };
    assert_eq!(report, Report { tasks: 2, events: 3, audit, findings: Vec::new() });
}

#[tokio::test]
async fn a_task_without_all_its_events_is_found() {
    type Row = (i64, &'static [(i64, i64)], u64);
    let rows: [Row; 6] = [
        (3, &[(1, 1), (3, 1)], 2),
        (3, &[(2, 2)], 1),
        (3, &[(1, 2)], 3),
        (3, &[(1, 2), (3, 2)], 4),
        (3, &[], 1),
        (3, &[(1, 2), (2, 1)], 3),
    ];
    for (seq, writes, wrong) in rows {
        let database = Database::new();
        database.task(1, 1, &[(1, 1)]);
        database.task(2, seq, writes);
        database.task(3, 1, &[(1, 1)]);

        let report = database.file().check().unwrap();

        assert_eq!(report.findings, [Finding::Events { task: task_id(2), seq: wrong }], "{writes:?}");
    }
}

#[tokio::test]
async fn a_task_without_the_events_in_its_own_row_is_found() {
    for damage in ["NULL", "'[]'", "'[{}]'", "'not JSON'"] {
        let database = Database::new();
        let tasks = &database.stores.tasks;
        let record = contract::create(&**tasks, contract::new_task(&contract::owner("ada"), "m")).await;
        assert_eq!(database.file().check().unwrap().findings, []);
        database.sql(&format!("UPDATE a2a_tasks SET first = {damage}"));
        database.count_bytes();

        let findings = database.file().check().unwrap().findings;

        let seq = if damage == "'[{}]'" { 2 } else { 1 };
        assert_eq!(findings, [Finding::Events { task: record.task.id, seq }], "{damage}");
    }
}

#[tokio::test]
async fn everything_that_does_not_fit_is_found() {
    let database = Database::new();
    database.task(1, 1, &[(1, 1)]);
    database.stores.audit.commit(audit_row(1)).await.unwrap();
    database.sql(
        "UPDATE task_counts SET n = 7;
         INSERT INTO task_counts VALUES ('bob', 'failed', 2, 0), ('bob', 'working', 0, 0), ('bob', 'files', 1, 9);
         INSERT INTO a2a_task_events (task, seq, at, bodies) VALUES (x'00000000000000000000000000000009', 1, 0, '[]');
         UPDATE audit SET row = '{}'",
    );

    let findings = database.file().check().unwrap().findings;

    let count = |owner: &str, state: &str, kept, counted| {
        let (owner, state) = (owner.to_owned(), state.to_owned());
        Finding::Count { owner, state, kept, counted }
    };
    let bytes = Finding::Bytes { owner: "bob".to_owned(), what: "files".to_owned(), kept: 9, counted: 0 };
    let lost = Finding::NoTask { task: task_id(9) };
    assert_eq!(findings[..4], [count("ada", "completed", 7, 1), count("bob", "failed", 2, 0), bytes, lost]);
    assert!(matches!(&findings[4..], [Finding::Audit(problem)] if problem.what == AuditFault::Changed));
}

#[tokio::test]
async fn a_damaged_page_is_found() {
    let database = Database::new();
    for id in 0..500 {
        database.task(id, 1, &[(1, 1)]);
    }
    database.sql("PRAGMA wal_checkpoint(TRUNCATE)");
    let path = database.path("a.db");
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'a2a_task_events'";
    let page: u32 = Connection::open(&path).unwrap().query_row(sql, [], |row| row.get(0)).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let begin = (page as usize - 1) * 4096;
    bytes[begin..begin + 64].fill(0xff);
    std::fs::write(&path, bytes).unwrap();

    let findings = database.file().check().unwrap().findings;

    assert!(matches!(findings[0], Finding::Damaged(_)), "{findings:?}");
}

#[tokio::test]
async fn a_check_and_a_backup_see_one_moment_while_others_write() {
    let database = Database::new();
    let is_done = Arc::new(AtomicBool::new(false));
    let writer = {
        let (audit, is_done) = (Arc::clone(&database.stores.audit), Arc::clone(&is_done));
        let mut n = 0;
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            while !is_done.load(Ordering::Relaxed) {
                n += 1;
                runtime.block_on(audit.commit(audit_row(n))).unwrap();
            }
        })
    };
    for n in 0..10 {
        let (file, copy) = (database.file(), database.path(&format!("copy{n}.db")));
        let before = file.audit_tail(None, 1).unwrap();
        assert_eq!(file.check().unwrap().findings, []);

        file.backup(&copy).unwrap();

        let copy = DatabaseFile::open(&copy).unwrap();
        assert_eq!(copy.check().unwrap().findings, []);
        assert!(before.iter().all(|entry| copy.audit_row(entry.n).unwrap() == *entry), "it was there before");
    }
    is_done.store(true, Ordering::Relaxed);
    writer.join().unwrap();
}

#[tokio::test]
async fn a_backup_is_a_database_to_work_on_and_for_its_owner_only() {
    let database = Database::new();
    database.stores.audit.commit(audit_row(1)).await.unwrap();
    let copy = database.path("copy.db");

    let bytes = database.file().backup(&copy).unwrap();

    let metadata = std::fs::metadata(&copy).unwrap();
    assert_eq!(metadata.len(), bytes);
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777, 0o600);
    let stores = open(&copy).stores();
    assert_eq!(stores.audit.recent(9).await.unwrap(), [audit_row(1)]);
    stores.audit.commit(audit_row(2)).await.unwrap();
    assert_eq!(stores.audit.verify().await.unwrap().first_problem, None);
}

#[tokio::test]
async fn a_backup_never_takes_the_place_of_something_else_and_leaves_nothing_half_done() {
    let database = Database::new();
    let taken = database.path("taken");
    std::fs::write(&taken, "mine").unwrap();
    let before = std::fs::read_dir(database.directory.path()).unwrap().count();

    let refused = database.file().backup(&taken);
    let nowhere = database.file().backup(&database.path("none/copy.db"));
    let nameless = database.file().backup(Path::new("/"));

    assert!(matches!(refused, Err(MaintenanceError::Exists { .. })), "{refused:?}");
    assert!(matches!(nowhere, Err(MaintenanceError::NotWritten { .. })), "{nowhere:?}");
    assert!(matches!(nameless, Err(MaintenanceError::Exists { .. })), "{nameless:?}");
    assert_eq!(std::fs::read_to_string(&taken).unwrap(), "mine");
    assert_eq!(std::fs::read_dir(database.directory.path()).unwrap().count(), before);
}

#[tokio::test]
async fn a_database_that_nobody_has_open_can_be_looked_at() {
    let database = Database::new();
    database.stores.audit.commit(audit_row(1)).await.unwrap();
    let Database { directory, stores } = database;
    drop(stores);

    let file = DatabaseFile::open(&directory.path().join("a.db")).unwrap();

    assert_eq!(file.audit_tail(None, 9).unwrap().len(), 1);
    assert_eq!(file.audit_verify().unwrap().rows, 1);
    assert!(matches!(file.audit_row(2), Err(MaintenanceError::NoRow { n: 2 })));
}

#[test]
fn what_is_not_there_or_not_ours_is_not_made() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    Connection::open(path("foreign.db")).unwrap().execute_batch("CREATE TABLE x (y)").unwrap();
    std::fs::write(path("empty.db"), "").unwrap();
    std::fs::write(path("text.db"), "not a database, whatever its name says, and longer than a header is").unwrap();

    let refusal = |name: &str| DatabaseFile::open(&path(name)).map(drop).unwrap_err().to_string();

    assert!(refusal("none.db").contains("there is no database"));
    assert!(!path("none.db").exists());
    assert!(refusal("empty.db").contains("there is no database"));
    assert!(refusal("foreign.db").contains("is not a database of openfang"));
    assert!(refusal("text.db").contains("is damaged"));
}

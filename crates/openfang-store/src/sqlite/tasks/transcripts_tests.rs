//! Transcripts in SQLite keep the contract, name what is damaged, and are found by an index.

use std::cell::RefCell;

use openfang_types::task::TaskState;
use rusqlite::Connection;

use super::super::super::tests::{Home, plan};
use super::*;
use crate::contract::transcripts::{all, new_with, said, words};
use crate::contract::{self, create, end, now, write};
use crate::{Append, DatabaseFile, Finding, Retention, StoreHealth as _, Stores, TaskRecord, TranscriptRange};

/// Stores whose transcripts are read by another process than the one that writes them.
fn fresh(homes: &RefCell<Vec<Home>>) -> Stores {
    let home = Home::new();
    let (writes, reads) = (home.open().stores(), home.open().stores());
    homes.borrow_mut().push(home);
    Stores { transcripts: reads.transcripts, ..writes }
}

#[tokio::test]
async fn transcripts_keep_the_contract() {
    let homes = RefCell::default();
    contract::transcripts(|| fresh(&homes)).await;
    homes.into_inner().iter().for_each(|home| assert_eq!(findings(home), []));
}

#[tokio::test]
async fn transcripts_are_retained_by_the_contract() {
    let homes = RefCell::default();
    contract::transcript_retention(|| fresh(&homes)).await;
    homes.into_inner().iter().for_each(|home| assert_eq!(findings(home), []));
}

/// A conversation of three items.
async fn three(home: &Home) -> (Stores, TaskRecord) {
    let stores = home.open().stores();
    let record = create(&*stores.tasks, new_with("ada", "m", &["a", "b", "c"])).await;
    (stores, record)
}

/// Damages a database behind the back of whoever has it open.
fn damage(home: &Home, sql: &str) {
    Connection::open(home.path()).unwrap().execute_batch(sql).unwrap();
}

fn findings(home: &Home) -> Vec<Finding> {
    DatabaseFile::open(&home.path()).unwrap().check().unwrap().findings
}

fn of_ada(seq: u64) -> Finding {
    let [owner, agent, context] = ["ada", "starter", "c"].map(str::to_owned);
    Finding::Transcript { owner, agent, context, seq }
}

#[tokio::test]
async fn what_is_damaged_is_named_and_costs_nobody_else_anything() {
    let damages = [
        ("SET body = x'7b22ff227d' WHERE transcript = 1 AND seq = 2", "entry 2 of a transcript", 2),
        ("SET body = CAST(x'22ff22' AS TEXT) WHERE transcript = 1 AND seq = 2", "entry 2 of a transcript", 2),
        ("SET kind = 'nonsense' WHERE transcript = 1 AND seq = 3", "entry 3 of a transcript", 3),
        ("SET labels = '{' WHERE transcript = 1 AND seq = 2", "entry 2 of a transcript", 2),
        ("SET tokens = -1 WHERE transcript = 1 AND seq = 1", "entry 1 of a transcript", 1),
        ("SET turn = 'x' WHERE transcript = 1 AND seq = 1", "entry 1 of a transcript", 1),
        ("SET task = x'00' WHERE transcript = 1 AND seq = 1", "entry 1 of a transcript", 1),
        ("SET seq = 7 WHERE transcript = 1 AND seq = 2", "without its entry 2", 2),
        ("SET seq = 0 WHERE transcript = 1 AND seq = 1", "without its entry 1", 1),
        ("SET transcript = 9 WHERE transcript = 1 AND seq = 3", "without its entry 3", 3),
        ("SET transcript = 9 WHERE transcript = 1", "without its entry 1", 1),
    ];
    for (sql, expected, seq) in damages {
        let home = Home::new();
        let (stores, record) = three(&home).await;
        let other = create(&*stores.tasks, new_with("bob", "n", &["fine"])).await;
        damage(&home, &format!("UPDATE transcript_items {sql}"));

        let read = stores.transcripts.read(&all(record.conversation())).await.unwrap_err().to_string();
        let newest = TranscriptQuery { range: TranscriptRange::NEWEST, ..all(record.conversation()) };
        stores.transcripts.read(&newest).await.unwrap_err();

        assert!(read.contains(expected) && read.contains("owner ada, agent starter, context c"), "{sql}: {read}");
        assert!(read.contains("run `openfang db check`"), "{read}");
        assert_eq!(words(&stores, &other).await, ["fine"]);
        let findings = findings(&home);
        assert!(findings.contains(&of_ada(seq)), "{sql}: {findings:?}");
    }
}

#[tokio::test]
async fn a_summary_that_covers_everything_is_damage_and_not_an_empty_conversation() {
    let home = Home::new();
    let (stores, record) = three(&home).await;
    damage(&home, "UPDATE transcripts SET covered = 3");

    let query = TranscriptQuery { range: TranscriptRange::Uncovered, ..all(record.conversation()) };
    let read = stores.transcripts.read(&query).await.unwrap_err().to_string();

    assert!(read.contains("covered to its end (owner ada, agent starter, context c)"), "{read}");
}

#[tokio::test]
async fn events_and_items_are_one_commit_however_many_they_are() {
    let home = Home::new();
    let sqlite = home.open();
    let tasks = sqlite.stores().tasks;
    let record = create(&*tasks, new_with("ada", "m", &["hi"])).await;
    let before = sqlite.stats().commits;

    let results = TranscriptWrite { after: Some(1), ..said(&["done"; 16]) };
    let events = vec![contract::artifact("a"), contract::status(TaskState::Working)];
    tasks.append(Append { transcript: results, ..write(&record, events) }).await.unwrap();

    assert_eq!(sqlite.stats().commits - before, 1);
}

#[tokio::test]
async fn a_check_finds_what_does_not_fit() {
    let counted = |kept, counted| {
        let (owner, what) = ("ada".to_owned(), "transcripts".to_owned());
        Finding::Bytes { owner, what, kept, counted }
    };
    let [owner, agent, context] = ["ada", "other", "c"].map(str::to_owned);
    let damages = [
        ("UPDATE transcript_items SET body = 'no JSON'", vec![counted(42, 27), of_ada(1)]),
        ("UPDATE transcripts SET seq = 5", vec![of_ada(4)]),
        ("UPDATE transcripts SET seq = 2", vec![of_ada(3)]),
        ("UPDATE transcripts SET covered = 3", vec![of_ada(4)]),
        ("UPDATE transcripts SET agent = 'other'", vec![Finding::NoConversation { owner, agent, context }]),
        ("DELETE FROM transcripts", vec![counted(42, 0), Finding::NoTranscript { entries: 3 }]),
        ("UPDATE task_counts SET bytes = 7 WHERE state = 'transcripts'", vec![counted(7, 42)]),
    ];
    for (sql, expected) in damages {
        let home = Home::new();
        drop(three(&home).await);
        assert_eq!(findings(&home), []);

        damage(&home, sql);

        assert_eq!(findings(&home), expected, "{sql}");
    }
}

#[tokio::test]
async fn a_write_to_a_damaged_transcript_is_refused_and_its_neighbours_are_written() {
    let home = Home::new();
    let (stores, record) = three(&home).await;
    damage(&home, "UPDATE transcripts SET seq = 1");
    let append = stores.tasks.append(Append { transcript: said(&["d"]), ..write(&record, Vec::new()) });
    let neighbour = stores.tasks.create(new_with("bob", "n", &["fine"]));

    let (refused, written) = tokio::join!(append, neighbour);

    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("entries after its last one, 1 (owner ada, agent starter, context c)"), "{refused}");
    written.unwrap();
}

#[tokio::test]
async fn transcripts_are_there_after_a_restart_and_in_a_backup() {
    let home = Home::new();
    let (stores, record) = three(&home).await;
    let copy = Home::new();
    DatabaseFile::open(&home.path()).unwrap().backup(&copy.path()).unwrap();
    drop(stores);

    for home in [&home, &copy] {
        assert_eq!(words(&home.open().stores(), &record).await, ["a", "b", "c"]);
        assert_eq!(findings(home), []);
    }
}

#[tokio::test]
async fn a_deleted_transcript_leaves_no_row_behind() {
    let home = Home::new();
    let (stores, record) = three(&home).await;
    end(&*stores.tasks, &record.owner, record.task.id, TaskState::Completed).await;
    let rule = Retention { finished_per_owner: 0, ..Retention::FOREVER };

    stores.tasks.retain(rule, now()).await.unwrap();

    let sql = "SELECT (SELECT count(*) FROM transcripts) + (SELECT count(*) FROM transcript_items)";
    let left: i64 = Connection::open(home.path()).unwrap().query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
    assert_eq!(findings(&home), []);
}

/// A damaged name must not keep the task, nor others.
#[tokio::test]
async fn a_task_with_a_damaged_name_is_evicted_too() {
    let home = Home::new();
    let (stores, record) = three(&home).await;
    end(&*stores.tasks, &record.owner, record.task.id, TaskState::Completed).await;
    damage(&home, "UPDATE a2a_tasks SET context_id = x'ff'");
    let rule = Retention { finished_per_owner: 0, ..Retention::FOREVER };

    assert_eq!(stores.tasks.retain(rule, now()).await.unwrap().evicted, 1);
}

#[tokio::test]
async fn a_long_transcript_is_read_and_written_by_an_index() {
    let home = Home::new();
    let statements = [
        HEAD,
        "SELECT 1 FROM transcript_items WHERE transcript = ?1 AND seq > ?2 LIMIT 1",
        &read::sql(true),
        &read::sql(false),
        &delete::unused_sql(),
    ]
    .map(str::to_owned);
    let plans = home.open().read(move |connection| Ok(statements.map(|sql| plan(connection, &sql))));
    for plan in plans.await.unwrap() {
        assert!(plan.iter().all(|step| step.starts_with("SEARCH") || step.starts_with("CORRELATED")), "{plan:?}");
    }
}

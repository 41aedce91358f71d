//! The writer: many writes in one commit, each with an answer of its own; all or nothing when the commit fails.

use std::sync::mpsc::{SyncSender, sync_channel};

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use openfang_types::limits::{STORE_QUEUE, STORE_QUEUE_CROWDED, STORE_QUEUE_ROWS_PER_OWNER};
use openfang_types::taint::Labels;
use openfang_types::task::TaskState;
use rusqlite::params;

use super::*;
use crate::contract::{audit_row, finished_task, query, status, write};
use crate::{AuditKind, AuditRow, AuditStore, Created, StoredValue, TaskStore};

/// Keeps the writer busy until it is let go, so that what comes meanwhile shares the next commit.
fn hold(sqlite: &Sqlite) -> (StoreFuture<'static, ()>, SyncSender<()>) {
    let (go, gate) = sync_channel(1);
    let held = sqlite.write(move |_| {
        gate.recv().unwrap();
        Ok(())
    });
    (held, go)
}

/// Waits until the writer has taken what holds it.
async fn until_held(sqlite: &Sqlite) {
    while sqlite.inner.writer.waiting() > 0 {
        tokio::task::yield_now().await;
    }
}

/// A write that fails when it has done half of its work.
fn break_off(sqlite: &Sqlite) -> StoreFuture<'static, ()> {
    sqlite.write(|batch| {
        batch.connection.execute("INSERT INTO meta VALUES ('half', 1)", []).map_err(unavailable)?;
        Err(StoreError::Unavailable { why: "the second half is missing".to_owned() })
    })
}

async fn total(tasks: &dyn TaskStore) -> usize {
    tasks.list(&query(&owner("ada"))).await.unwrap().total
}

#[tokio::test]
async fn writes_that_come_together_share_commits() {
    let home = Home::new();
    let sqlite = home.open();
    let tasks = sqlite.stores().tasks;
    let ada = owner("ada");
    let news = (0..200).map(|n| tasks.create(finished_task(&ada, &format!("m{n}"))));

    for created in join_all(news).await {
        created.unwrap();
    }

    let stats = sqlite.stats();
    assert_eq!((stats.writes, stats.lost), (200, 0));
    assert!(stats.commits <= 100, "{stats:?}");
    assert_eq!(total(&*tasks).await, 200);
}

#[tokio::test]
async fn a_refused_write_does_not_harm_its_neighbours() {
    let home = Home::new();
    let sqlite = home.open();
    let tasks = sqlite.stores().tasks;
    let ada = owner("ada");
    let read = create(&*tasks, new_task(&ada, "m")).await;
    let (held, go) = hold(&sqlite);
    until_held(&sqlite).await;
    let before = sqlite.stats();
    let first = tasks.create(new_task(&ada, "1"));
    let wins = tasks.append(write(&read, vec![status(TaskState::Working)]));
    let stale = tasks.append(write(&read, vec![status(TaskState::Failed)]));
    let last = tasks.create(new_task(&ada, "2"));

    go.send(()).unwrap();
    held.await.unwrap();

    assert!(matches!(first.await, Ok(Created::New(_))));
    assert!(wins.await.is_ok());
    assert_eq!(stale.await, Err(StoreError::Conflict));
    assert!(matches!(last.await, Ok(Created::New(_))));
    assert_eq!(sqlite.stats().commits - before.commits, 2, "the one that was held, and theirs");
    assert_eq!(total(&*tasks).await, 3);
}

#[tokio::test]
async fn a_write_that_breaks_off_takes_its_commit_with_it_and_nothing_is_acknowledged() {
    let home = Home::new();
    let sqlite = home.open();
    let tasks = sqlite.stores().tasks;
    let ada = owner("ada");
    let (held, go) = hold(&sqlite);
    until_held(&sqlite).await;
    let neighbours = [tasks.create(new_task(&ada, "1")), tasks.create(new_task(&ada, "2"))];
    let broken = break_off(&sqlite);

    go.send(()).unwrap();
    held.await.unwrap();

    let why = Err(StoreError::Unavailable { why: "the second half is missing".to_owned() });
    assert_eq!(broken.await, why);
    for neighbour in join_all(neighbours).await {
        assert_eq!(neighbour.map(|_| ()), why);
    }
    assert!(sqlite.failing().unwrap().contains("the second half is missing"));
    assert_eq!(total(&*tasks).await, 0);
    let halves = sqlite.read(|connection| {
        connection
            .query_row("SELECT count(*) FROM meta WHERE key <> 'home'", [], |row| row.get::<_, i64>(0))
            .map_err(unavailable)
    });
    assert_eq!(halves.await, Ok(0));
    create(&*tasks, new_task(&ada, "1")).await;
    assert_eq!(sqlite.failing(), None);
}

#[tokio::test]
async fn a_full_disk_acknowledges_nothing_and_recovers() {
    let home = Home::new();
    let sqlite = home.open();
    let tasks = sqlite.stores().tasks;
    let ada = owner("ada");
    // What the tables themselves take grows with every version.
    let leave_room_for = |pages: i64| {
        sqlite.write(move |batch| {
            let used: i64 = batch
                .connection
                .pragma_query_value(None, "page_count", |row| row.get(0))
                .map_err(unavailable)?;
            batch.connection.pragma_update(None, "max_page_count", used + pages).map_err(unavailable)
        })
    };
    leave_room_for(20).await.unwrap();
    let news = (0..400).map(|n| tasks.create(finished_task(&ada, &format!("m{n}"))));
    let outcomes: Vec<_> = futures_util::stream::iter(news).buffered(8).collect().await;
    let large = StoredValue { value: "x".repeat(500_000), labels: Labels::none() };
    sqlite.stores().memory.put(&ada, "large", large).await.unwrap_err();

    let acknowledged = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    assert!((1..400).contains(&acknowledged), "{acknowledged}");
    assert!(
        outcomes
            .iter()
            .flat_map(|outcome| outcome.as_ref().err())
            .all(|error| { matches!(error, StoreError::Unavailable { why } if why.contains("full")) })
    );
    assert!(sqlite.failing().is_some());
    assert_eq!(total(&*tasks).await, acknowledged, "what was not acknowledged did not happen");

    leave_room_for(1_000_000).await.unwrap();
    sqlite.probe().await.unwrap();

    assert_eq!(sqlite.failing(), None);
    create(&*tasks, new_task(&ada, "again")).await;
    assert_eq!(total(&*tasks).await, acknowledged + 1);
}

/// A row of this owner.
fn row_of(name: &str) -> AuditRow {
    AuditRow { owner: owner(name), ..audit_row(1) }
}

async fn count(sqlite: &Sqlite, sql: &'static str) -> usize {
    let counted =
        sqlite.read(move |connection| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(unavailable));
    usize::try_from(counted.await.unwrap()).unwrap()
}

/// The gaps that are written down: whose, about what, how many.
async fn gaps(audit: &dyn AuditStore) -> Vec<(String, AuditKind, u64)> {
    let gaps = audit.verify().await.unwrap().gaps;
    gaps.into_iter().map(|gap| (gap.of.to_string(), gap.kind, gap.count)).collect()
}

#[tokio::test]
async fn rows_that_find_no_room_are_counted_and_written_down_and_a_crowd_of_one_owner_is_no_gap_of_another() {
    let home = Home::new();
    let sqlite = home.open();
    let audit = sqlite.stores().audit;
    let (held, go) = hold(&sqlite);
    until_held(&sqlite).await;
    for _ in 0..STORE_QUEUE {
        audit.record(AuditKind::Read, row_of("ada"));
    }
    for _ in 0..100 {
        audit.record(AuditKind::Read, row_of("bob"));
        audit.record(AuditKind::Deed, row_of("ada"));
    }
    assert!(!audit.keeps_up());
    let deed = audit.commit(row_of("eve"));

    go.send(()).unwrap();
    held.await.unwrap();
    deed.await.unwrap();

    assert!(audit.keeps_up());
    let taken = STORE_QUEUE_CROWDED + STORE_QUEUE_ROWS_PER_OWNER;
    let lost = STORE_QUEUE - taken;
    assert_eq!(sqlite.stats().lost, lost as u64);
    assert_eq!(gaps(&*audit).await, [("ada".to_owned(), AuditKind::Read, lost as u64)]);
    let deeds = "SELECT count(*) FROM audit JOIN audit_segments ON segment = id WHERE owner = 'ada' AND kind = 'deed'";
    assert_eq!(count(&sqlite, deeds).await, 100);
    let others = "SELECT count(*) FROM audit JOIN audit_segments ON segment = id WHERE owner = 'bob'";
    assert_eq!(count(&sqlite, others).await, 100);
    assert_eq!(count(&sqlite, "SELECT count(*) FROM audit").await, taken + 100 + 100 + 1 + 1);
}

#[tokio::test]
async fn what_a_failed_commit_held_is_a_gap_and_its_deeds_are_written_later() {
    let home = Home::new();
    let sqlite = home.open();
    let audit = sqlite.stores().audit;
    let (held, go) = hold(&sqlite);
    until_held(&sqlite).await;
    audit.record(AuditKind::Read, row_of("ada"));
    audit.record(AuditKind::Refusal, row_of("ada"));
    audit.record(AuditKind::Deed, row_of("ada"));
    let broken = break_off(&sqlite);
    go.send(()).unwrap();
    held.await.unwrap();
    broken.await.unwrap_err();

    sqlite.probe().await.unwrap();

    let mut gaps = gaps(&*audit).await;
    gaps.sort_by_key(|(_, kind, _)| *kind);
    assert_eq!(gaps, [("ada".to_owned(), AuditKind::Read, 1), ("ada".to_owned(), AuditKind::Refusal, 1)]);
    let rows = audit.recent(9).await.unwrap();
    assert_eq!(rows.iter().filter(|row| **row == row_of("ada")).count(), 1, "{rows:?}");
    let at = audit_row(1).at;
    assert_eq!(audit.verify().await.unwrap().complete_from, Some(at));
}

/// Somebody who reads an old state for ever keeps the log from being carried over.
#[tokio::test]
async fn a_reader_that_does_not_end_stops_new_work_before_the_log_fills_the_disk() {
    let home = Home::new();
    let chain = Chain::new(node(1), SegmentLimits::default());
    let sqlite = Sqlite::open_with(&home.path(), chain, Expected::Anything, 300).unwrap();
    let stores = sqlite.stores();
    let reader = Connection::open(home.path()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM meta").unwrap();
    let length = || fs::metadata(home.path().with_extension("db-wal")).unwrap().len();

    let mut refused = None;
    for n in 0..2_000 {
        let value = StoredValue { value: "x".repeat(10_000), labels: Labels::none() };
        if let Err(error) = stores.memory.put(&owner("ada"), &format!("k{n}"), value).await {
            refused = Some(error);
            break;
        }
    }

    let refused = refused.expect("the log grows and grows").to_string();
    assert!(refused.contains("another process"), "{refused}");
    assert!(sqlite.failing().is_some());
    let full = length();
    assert!(full < 2_000_000, "{full}");
    stores.audit.begin(row_of("ada")).await.unwrap_err();
    stores.audit.record(AuditKind::Deed, row_of("ada"));
    assert_eq!(stores.audit.recent(9).await.unwrap(), [row_of("ada")], "what is under way is written to its end");

    let full = length();
    for _ in 0..100 {
        stores.audit.record(AuditKind::Read, row_of("bob"));
        sqlite.probe().await.unwrap();
    }
    assert_eq!(length(), full, "nothing else is written");
    assert!(sqlite.failing().is_some(), "and that is still so");

    drop(reader);
    // A write is answered before the log is carried over, and the next one after that.
    sqlite.probe().await.unwrap();
    sqlite.probe().await.unwrap();

    assert_eq!(sqlite.failing(), None);
    stores.audit.begin(row_of("ada")).await.unwrap();
    let gaps = gaps(&*stores.audit).await;
    assert_eq!(gaps, [("bob".to_owned(), AuditKind::Read, 100)], "what was left out is written down");
}

#[tokio::test]
async fn when_the_writer_dies_nobody_waits_for_it() {
    let home = Home::new();
    let sqlite = home.open();
    let tasks = sqlite.stores().tasks;
    let ended = StoreError::Unavailable { why: "the writer has ended".to_owned() };

    let died = sqlite.write(|_| -> Result<(), StoreError> { panic!("as this test wants it") }).await;

    assert_eq!(died, Err(ended.clone()));
    assert_eq!(tasks.create(new_task(&owner("ada"), "m")).await, Err(ended));
    assert_eq!(total(&*tasks).await, 0, "what is there can still be read");
}

#[tokio::test]
async fn closing_waits_for_what_is_queued() {
    let home = Home::new();
    let sqlite = home.open();
    let tasks = sqlite.stores().tasks;
    let ada = owner("ada");
    for n in 0..50 {
        drop(tasks.create(new_task(&ada, &format!("m{n}"))));
    }

    drop((sqlite, tasks));

    assert_eq!(total(&*home.open().stores().tasks).await, 50);
}

#[tokio::test]
async fn a_read_sees_one_moment_whatever_is_written_meanwhile() {
    let home = Home::new();
    let sqlite = home.open();
    let writing = sqlite.clone();
    let put = "INSERT INTO meta VALUES (?1, 1)";
    let runtime = tokio::runtime::Handle::current();
    let read = sqlite.read(move |connection| {
        let count =
            || connection.query_row("SELECT count(*) FROM meta WHERE key <> 'home'", [], |row| row.get::<_, i64>(0));
        let before = count().map_err(unavailable)?;
        let written = writing.write(move |batch| batch.connection.execute(put, params!["new"]).map_err(unavailable));
        runtime.block_on(written)?;
        Ok((before, count().map_err(unavailable)?))
    });

    assert_eq!(read.await, Ok((0, 0)));
}

#[tokio::test]
async fn more_reads_than_there_are_readers_take_turns() {
    let home = Home::new();
    let sqlite = home.open();
    let tasks = sqlite.stores().tasks;
    let ada = owner("ada");
    let record = create(&*tasks, new_task(&ada, "m")).await;

    let reads = join_all((0..200).map(|_| tasks.get(&ada, record.task.id))).await;

    assert!(reads.iter().all(|read| *read == Ok(record.clone())));
    let open = fs::read_dir("/proc/self/fd").map_or(0, |files| {
        let targets = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
        targets.filter(|target| *target == home.path()).count()
    });
    assert!(open <= 12, "{open} connections");
}

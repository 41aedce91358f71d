//! The SQLite home keeps the contract: by itself, and as two processes that share a file.

use std::time::Duration;

use super::super::tests::Home;
use super::*;
use crate::contract::{self, append, artifact, create, new_task, node, owner, status};

/// Writes through one connection and reads through another, as two processes would.
struct Shared {
    writes: SqliteTasks,
    reads: SqliteTasks,
    _home: Home,
}

fn alone() -> Box<dyn TaskStore> {
    let home = Home::new();
    let sqlite = home.open();
    let (writes, reads) = (SqliteTasks::new(sqlite.clone()), SqliteTasks::new(sqlite));
    Box::new(Shared { writes, reads, _home: home })
}

fn two_processes() -> Box<dyn TaskStore> {
    let home = Home::new();
    let (writes, reads) = (SqliteTasks::new(home.open()), SqliteTasks::new(home.open()));
    Box::new(Shared { writes, reads, _home: home })
}

impl TaskStore for Shared {
    fn create(&self, new: NewTask) -> StoreFuture<'_, Created> {
        self.writes.create(new)
    }

    fn get<'a>(&'a self, owner: &'a Owner, id: TaskId) -> StoreFuture<'a, TaskRecord> {
        self.reads.get(owner, id)
    }

    fn get_within<'a>(&'a self, owner: &'a Owner, id: TaskId, max_bytes: usize) -> StoreFuture<'a, Fit<TaskRecord>> {
        self.reads.get_within(owner, id, max_bytes)
    }

    fn list_within<'a>(&'a self, query: &'a TaskQuery, max_bytes: usize) -> StoreFuture<'a, Fit<TaskPage>> {
        self.reads.list_within(query, max_bytes)
    }

    fn head<'a>(&'a self, owner: &'a Owner, id: TaskId) -> StoreFuture<'a, TaskRecord> {
        self.reads.head(owner, id)
    }

    fn scope(&self, id: TaskId) -> StoreFuture<'_, Option<String>> {
        self.reads.scope(id)
    }

    fn door(&self, id: TaskId) -> StoreFuture<'_, Option<Door>> {
        self.reads.door(id)
    }

    fn find<'a>(&'a self, owner: &'a Owner, name: &'a TaskName) -> StoreFuture<'a, TaskId> {
        self.reads.find(owner, name)
    }

    fn list<'a>(&'a self, query: &'a TaskQuery) -> StoreFuture<'a, TaskPage> {
        self.reads.list(query)
    }

    fn counts<'a>(&'a self, owner: &'a Owner) -> StoreFuture<'a, BTreeMap<TaskState, u64>> {
        self.reads.counts(owner)
    }

    fn append(&self, write: Append) -> StoreFuture<'_, Stamp> {
        self.writes.append(write)
    }

    fn events<'a>(&'a self, owner: &'a Owner, id: TaskId, after: Seq, limit: usize) -> StoreFuture<'a, Vec<TaskEvent>> {
        self.reads.events(owner, id, after, limit)
    }

    fn events_within<'a>(
        &'a self,
        owner: &'a Owner,
        id: TaskId,
        place: EventsAfter,
    ) -> StoreFuture<'a, Fit<Vec<TaskEvent>>> {
        self.reads.events_within(owner, id, place)
    }

    fn watch<'a>(&'a self, owner: &'a Owner, id: TaskId) -> StoreFuture<'a, watch::Receiver<Seq>> {
        self.reads.watch(owner, id)
    }

    fn request_cancel<'a>(&'a self, owner: &'a Owner, id: TaskId) -> StoreFuture<'a, ()> {
        self.reads.request_cancel(owner, id)
    }

    fn cancel_requests(&self, node: NodeId) -> StoreFuture<'_, Vec<TaskId>> {
        self.writes.cancel_requests(node)
    }

    fn orphans<'a>(&'a self, living: &'a [NodeId]) -> StoreFuture<'a, Vec<TaskRecord>> {
        self.reads.orphans(living)
    }

    fn claim(&self, id: TaskId, version: u64, node: NodeId) -> StoreFuture<'_, Stamp> {
        self.reads.claim(id, version, node)
    }

    fn retain(&self, rule: Retention, now: Timestamp) -> StoreFuture<'_, RetentionReport> {
        self.writes.retain(rule, now)
    }

    fn elsewhere(&self) -> watch::Receiver<u64> {
        self.reads.elsewhere()
    }
}

#[tokio::test]
async fn tasks_keep_the_contract() {
    contract::tasks(alone).await;
}

#[tokio::test]
async fn tasks_change_hands_by_the_contract() {
    contract::takeover(alone).await;
}

#[tokio::test]
async fn tasks_are_retained_by_the_contract() {
    contract::retention(alone).await;
}

#[test]
fn tasks_agree_with_the_model() {
    contract::agrees_with_the_model(32, alone);
}

#[tokio::test]
async fn two_processes_keep_the_contract() {
    contract::tasks(two_processes).await;
    contract::takeover(two_processes).await;
    contract::retention(two_processes).await;
}

#[test]
fn two_processes_agree_with_the_model() {
    contract::agrees_with_the_model(16, two_processes);
}

#[tokio::test]
async fn a_process_notices_that_another_one_wrote() {
    let home = Home::new();
    let (here, there) = (SqliteTasks::new(home.open()), SqliteTasks::new(home.open()));
    let mut elsewhere = here.elsewhere();

    create(&there, new_task(&owner("ada"), "m")).await;

    tokio::time::timeout(Duration::from_secs(2), elsewhere.changed()).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_process_that_writes_all_the_time_notices_another_one_too() {
    let home = Home::new();
    let (here, there) = (SqliteTasks::new(home.open()), SqliteTasks::new(home.open()));
    let mut elsewhere = here.elsewhere();
    let mut record = create(&here, new_task(&owner("ada"), "own")).await;
    let busy = async {
        loop {
            record = append(&here, &record, vec![artifact("a")]).await;
        }
    };

    let noticed = async {
        create(&there, new_task(&owner("ada"), "m")).await;
        elsewhere.changed().await
    };

    tokio::select! {
        () = busy => {}
        noticed = tokio::time::timeout(Duration::from_secs(20), noticed) => noticed.unwrap().unwrap(),
    }
}

#[tokio::test]
async fn a_watcher_in_the_same_process_is_woken_by_the_commit_itself() {
    let home = Home::new();
    let store = SqliteTasks::new(home.open());
    let mut record = create(&store, new_task(&owner("ada"), "m")).await;
    let latest = store.watch(&record.owner, record.task.id).await.unwrap();

    for _ in 0..5 {
        record = append(&store, &record, vec![artifact("a")]).await;

        assert_eq!(*latest.borrow(), record.seq, "it does not wait for the next look at the file");
    }
}

#[tokio::test]
async fn writers_of_two_processes_share_the_limit_of_live_tasks() {
    let home = Home::new();
    let stores = [SqliteTasks::new(home.open()), SqliteTasks::new(home.open())];
    let ada = owner("ada");
    let news = (0..40).map(|n| {
        let new = NewTask { live_limit: 10, ..new_task(&ada, &format!("m{n}")) };
        stores[n % 2].create(new)
    });

    let outcomes = futures_util::future::join_all(news).await;

    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 10);
    assert_eq!(stores[0].counts(&ada).await.unwrap(), BTreeMap::from([(TaskState::Submitted, 10)]));
}

#[tokio::test]
async fn a_watcher_that_comes_during_a_storm_of_writes_misses_nothing() {
    let home = Home::new();
    let store = SqliteTasks::new(home.open());
    let ada = owner("ada");
    let mut record = create(&store, new_task(&ada, "m")).await;
    let id = record.task.id;
    let watching = async {
        for _ in 0..20 {
            let mut latest = store.watch(&ada, id).await.unwrap();
            let seen = *latest.borrow_and_update();
            let stored = store.get(&ada, id).await.unwrap().seq;
            assert!(stored >= seen);
            if stored > seen {
                let woken = latest.wait_for(|seq| *seq >= stored);
                tokio::time::timeout(Duration::from_secs(2), woken).await.unwrap().unwrap();
            }
        }
    };
    let writing = async {
        for _ in 0..60 {
            record = append(&store, &record, vec![artifact("a")]).await;
        }
    };

    tokio::join!(watching, writing);
}

#[tokio::test]
async fn what_cannot_be_read_is_an_error_and_stops_nobody_else() {
    let home = Home::new();
    let sqlite = home.open();
    let store = SqliteTasks::new(sqlite.clone());
    let ada = owner("ada");
    let mut records = Vec::new();
    for message in ["1", "2", "3"] {
        let record = create(&store, new_task(&ada, message)).await;
        records.push(append(&store, &record, vec![status(TaskState::Completed)]).await);
    }
    let whole = records.pop().unwrap();
    let damages =
        ["UPDATE a2a_task_events SET bodies = '[]' WHERE task = ?1", "UPDATE a2a_tasks SET first = NULL WHERE id = ?1"];
    for (record, sql) in records.iter().zip(damages) {
        let id = record.task.id;
        let damage = move |batch: &mut crate::sqlite::batch::Batch<'_>| {
            let done = batch.connection.execute(sql, [id.as_uuid().as_bytes()]);
            done.map_err(crate::sqlite::unavailable)
        };
        sqlite.write(damage).await.unwrap();

        let read = store.get(&ada, id).await.unwrap_err().to_string();

        assert!(read.contains("a task without some of its events; run `openfang db check`"), "{read}");
    }
    assert_eq!(store.get(&ada, whole.task.id).await.unwrap(), whole);
    let rule = Retention { fold_after: Duration::ZERO, ..Retention::FOREVER };
    let retained = store.retain(rule, contract::now()).await.unwrap();
    assert_eq!(
        retained,
        RetentionReport { evicted: 0, folded: 1, transcripts: 0 },
        "it keeps no other from being folded"
    );
}

#[tokio::test]
async fn the_work_of_the_writer_is_found_by_an_index() {
    let home = Home::new();
    let sqlite = home.open();
    let store = SqliteTasks::new(sqlite.clone());
    let record = create(&store, new_task(&owner("ada"), "m")).await;
    append(&store, &record, vec![status(TaskState::Working)]).await;
    for sql in [read::cancel_requests_sql(), read::running_sql()] {
        let plan = sqlite
            .read(move |connection| Ok(super::super::tests::plan(connection, &sql)))
            .await
            .unwrap();

        assert!(plan.iter().all(|step| step.starts_with("SEARCH")), "{plan:?}");
    }
    assert_eq!(store.orphans(&[node(2)]).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_write_makes_no_table_for_itself() {
    let home = Home::new();
    let steps = home.open().read(|connection| {
        let mut explain = connection
            .prepare("EXPLAIN INSERT INTO a2a_tasks (id, state) VALUES (x'00', ?1)")
            .map_err(crate::sqlite::unavailable)?;
        let steps = explain.query_map(["working"], |row| row.get::<_, String>("opcode"));
        steps.and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(crate::sqlite::unavailable)
    });

    let steps = steps.await.unwrap();

    assert!(steps.iter().any(|step| step == "IdxInsert"), "{steps:?}");
    assert!(!steps.iter().any(|step| step == "OpenEphemeral"), "{steps:?}");
}

#[tokio::test]
async fn an_evicted_task_leaves_no_row_behind() {
    let home = Home::new();
    let sqlite = home.open();
    let store = SqliteTasks::new(sqlite.clone());
    let record = create(&store, contract::new_task(&owner("ada"), "m")).await;
    append(&store, &record, vec![artifact("a"), status(TaskState::Completed)]).await;
    let retained = store
        .retain(Retention { finished_per_owner: 0, ..Retention::FOREVER }, contract::now())
        .await;

    assert_eq!(retained, Ok(RetentionReport { evicted: 1, folded: 0, transcripts: 0 }));
    let left = sqlite.read(|connection| {
        let sql = "SELECT (SELECT count(*) FROM a2a_tasks) + (SELECT count(*) FROM a2a_task_events)";
        connection
            .query_row(sql, [], |row| row.get::<_, i64>(0))
            .map_err(crate::sqlite::unavailable)
    });
    assert_eq!(left.await, Ok(0));
}

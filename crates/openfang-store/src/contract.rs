//! The facts every home must keep, written against the traits alone. A home's tests call the three suites.

use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use openfang_types::event::{ArtifactUpdate, EventBody};
use openfang_types::ids::{Owner, TaskId};
use openfang_types::principal::Door;
use openfang_types::taint::{Label, Labels};
use openfang_types::task::{Artifact, Message, Part, Role, TaskState, TaskStatus};

use crate::{
    Append, AuditOutcome, AuditRow, AuditStore, Created, Kept, KeyValueStore, NewTask, StoreError, TaskQuery,
    TaskRecord, TaskStore,
};

pub(crate) async fn tasks(fresh: impl Fn() -> Box<dyn TaskStore>) {
    terminal_states_never_change(&*fresh()).await;
    a_stale_version_writes_nothing(&*fresh()).await;
    somebody_elses_task_looks_like_none(&*fresh()).await;
    the_same_message_makes_one_task(&*fresh()).await;
    events_come_in_order_without_gaps(&*fresh()).await;
    a_watcher_sees_the_latest_event(&*fresh()).await;
    pages_show_every_task_once(&*fresh()).await;
    live_tasks_are_limited_per_owner(&*fresh()).await;
}

async fn terminal_states_never_change(store: &dyn TaskStore) {
    let ada = owner("ada");
    for terminal in TaskState::ALL.into_iter().filter(|state| state.is_terminal()) {
        let id = create(store, new_task(&ada, terminal.as_str())).await.task.id;
        let record = end(store, &ada, id, terminal).await;
        for next in TaskState::ALL {
            let outcome = store.append(write(&record, vec![status(next)])).await;
            assert_eq!(outcome, Err(StoreError::NotAllowed { from: terminal, to: next }));
        }
        assert!(store.append(write(&record, vec![artifact("late")])).await.is_err());
        assert_eq!(store.get(&ada, id).await.unwrap(), record);
    }
}

async fn a_stale_version_writes_nothing(store: &dyn TaskStore) {
    let ada = owner("ada");
    let read = create(store, new_task(&ada, "m")).await;
    let written = store.append(write(&read, vec![status(TaskState::Working)])).await.unwrap();

    assert_eq!(store.append(write(&read, vec![status(TaskState::Failed)])).await, Err(StoreError::Conflict));
    assert_eq!(store.get(&ada, read.task.id).await.unwrap(), written);
}

async fn somebody_elses_task_looks_like_none(store: &dyn TaskStore) {
    let (ada, bob) = (owner("ada"), owner("bob"));
    let record = create(store, new_task(&ada, "m")).await;
    let id = record.task.id;

    assert_eq!(store.get(&bob, id).await, Err(StoreError::NotFound));
    assert_eq!(store.events(&bob, id, 0, 9).await, Err(StoreError::NotFound));
    assert_eq!(store.watch(&bob, id).await.err(), Some(StoreError::NotFound));
    let foreign = Append { owner: bob.clone(), ..write(&record, vec![status(TaskState::Canceled)]) };
    assert_eq!(store.append(foreign).await, Err(StoreError::NotFound));
    assert_eq!(store.list(&query(&bob)).await.unwrap().total, 0);
}

async fn the_same_message_makes_one_task(store: &dyn TaskStore) {
    let (ada, bob) = (owner("ada"), owner("bob"));
    let first = create(store, new_task(&ada, "m")).await;

    match store.create(new_task(&ada, "m")).await.unwrap() {
        Created::Known(again) => assert_eq!(again.task.id, first.task.id),
        Created::New(_) => panic!("the message was sent before"),
    }
    let others = create(store, new_task(&bob, "m")).await;
    assert_ne!(others.task.id, first.task.id);
}

async fn events_come_in_order_without_gaps(store: &dyn TaskStore) {
    let ada = owner("ada");
    let record = create(store, new_task(&ada, "m")).await;
    let id = record.task.id;
    let record = store
        .append(write(&record, vec![status(TaskState::Working), artifact("a")]))
        .await
        .unwrap();
    store.append(write(&record, vec![status(TaskState::Completed)])).await.unwrap();

    let all = store.events(&ada, id, 0, 9).await.unwrap();
    let names: Vec<&str> = all.iter().map(|event| event.body.name()).collect();
    assert_eq!(names, ["status", "message", "status", "artifact", "status"]);
    assert_eq!(all.iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(store.events(&ada, id, 3, 9).await.unwrap(), all[3..]);
    assert_eq!(store.events(&ada, id, 1, 2).await.unwrap(), all[1..3]);
    assert_eq!(store.events(&ada, id, 99, 9).await.unwrap(), []);
}

async fn a_watcher_sees_the_latest_event(store: &dyn TaskStore) {
    let ada = owner("ada");
    let record = create(store, new_task(&ada, "m")).await;
    let mut latest = store.watch(&ada, record.task.id).await.unwrap();
    assert_eq!(*latest.borrow_and_update(), record.seq);

    let record = store.append(write(&record, vec![status(TaskState::Working)])).await.unwrap();

    latest.changed().await.unwrap();
    assert_eq!(*latest.borrow(), record.seq);
}

async fn pages_show_every_task_once(store: &dyn TaskStore) {
    let ada = owner("ada");
    let mut expected = Vec::new();
    for n in 0..25 {
        expected.push(create(store, new_task(&ada, &format!("m{n}"))).await.task.id);
    }
    expected.reverse();

    let mut seen = Vec::new();
    let mut query = TaskQuery { limit: 10, ..query(&ada) };
    loop {
        let page = store.list(&query).await.unwrap();
        assert_eq!(page.total, 25);
        seen.extend(page.tasks.iter().map(|record| record.task.id));
        match page.next {
            Some(next) => query.after = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, expected, "latest change first");
    let none = TaskQuery { state: Some(TaskState::Failed), ..query };
    assert_eq!(store.list(&none).await.unwrap().total, 0);
}

async fn live_tasks_are_limited_per_owner(store: &dyn TaskStore) {
    let ada = owner("ada");
    let limited = |message: &str| NewTask { live_limit: 2, ..new_task(&ada, message) };
    let first = create(store, limited("1")).await;
    create(store, limited("2")).await;

    assert_eq!(store.create(limited("3")).await.err(), Some(StoreError::TooManyLive { limit: 2 }));
    assert!(store.create(new_task(&owner("bob"), "1")).await.is_ok(), "another owner is not affected");
    end(store, &ada, first.task.id, TaskState::Completed).await;
    assert!(store.create(limited("3")).await.is_ok());
}

pub(crate) async fn key_values(fresh: impl Fn() -> Box<dyn KeyValueStore>) {
    let store = fresh();
    let (ada, bob) = (owner("ada"), owner("bob"));
    let kept = Kept { value: "v".into(), labels: Labels::one(Label::ExternalNetwork, "web_fetch") };
    for key in ["b", "a1", "a2"] {
        store.put(&ada, key, kept.clone()).await.unwrap();
    }

    assert_eq!(store.get(&ada, "b").await.unwrap(), Some(kept), "labels are kept with the value");
    assert_eq!(store.get(&bob, "b").await.unwrap(), None, "another owner sees nothing");
    assert_eq!(store.keys(&ada, "a", 10).await.unwrap(), ["a1", "a2"]);
    assert_eq!(store.keys(&ada, "", 2).await.unwrap(), ["a1", "a2"]);
}

pub(crate) async fn audit(fresh: impl Fn() -> Box<dyn AuditStore>) {
    let store = fresh();
    store.commit(audit_row(1)).await.unwrap();
    store.record(audit_row(2));

    let rows = store.recent(1).await.unwrap();
    assert_eq!(rows, [audit_row(2)], "newest last");
    assert_eq!(store.recent(10).await.unwrap().len(), 2);
}

pub(crate) fn owner(name: &str) -> Owner {
    name.parse().unwrap()
}

fn tick() -> u64 {
    static TICKS: AtomicU64 = AtomicU64::new(1);
    TICKS.fetch_add(1, Ordering::Relaxed)
}

fn now() -> Timestamp {
    Timestamp::from_millisecond(i64::try_from(tick()).unwrap()).unwrap()
}

pub(crate) fn new_task(owner: &Owner, message: &str) -> NewTask {
    let id = format!("00000000-0000-0000-0000-{:012}", tick());
    NewTask {
        id: id.parse().unwrap(),
        owner: owner.clone(),
        agent: "starter".parse().unwrap(),
        context_id: "c".parse().unwrap(),
        message: Message::text(message.parse().unwrap(), Role::User, "hi"),
        labels: Labels::none(),
        trace: id.parse().unwrap(),
        at: now(),
        live_limit: usize::MAX,
    }
}

pub(crate) async fn create(store: &dyn TaskStore, new: NewTask) -> TaskRecord {
    match store.create(new).await.unwrap() {
        Created::New(record) => record,
        Created::Known(_) => panic!("a fresh message was taken for a known one"),
    }
}

pub(crate) async fn end(store: &dyn TaskStore, owner: &Owner, id: TaskId, state: TaskState) -> TaskRecord {
    let record = store.get(owner, id).await.unwrap();
    store.append(write(&record, vec![status(state)])).await.unwrap()
}

fn write(record: &TaskRecord, events: Vec<EventBody>) -> Append {
    Append {
        owner: record.owner.clone(),
        id: record.task.id,
        version: record.version,
        events,
        labels: Labels::none(),
        at: now(),
    }
}

fn status(state: TaskState) -> EventBody {
    EventBody::Status(TaskStatus { state, message: None, timestamp: now() })
}

fn artifact(id: &str) -> EventBody {
    EventBody::Artifact(ArtifactUpdate {
        artifact: Artifact {
            artifact_id: id.parse().unwrap(),
            name: None,
            description: None,
            parts: vec![Part::text("x")],
        },
        append: false,
        last_chunk: true,
    })
}

fn query(owner: &Owner) -> TaskQuery {
    TaskQuery { owner: owner.clone(), agent: None, state: None, context_id: None, limit: 100, after: None }
}

pub(crate) fn audit_row(micros: u64) -> AuditRow {
    AuditRow {
        trace: "00000000-0000-0000-0000-000000000001".parse().unwrap(),
        at: Timestamp::UNIX_EPOCH,
        owner: owner("ada"),
        door: Door::Rest,
        agent: None,
        run: None,
        tool: "add_numbers".parse().unwrap(),
        outcome: AuditOutcome::Succeeded,
        micros,
    }
}

//! The rules of every durable task store for retention.

use std::collections::BTreeMap;
use std::time::Duration;

use openfang_types::ids::Owner;
use openfang_types::task::TaskState;

use super::{append, artifact, create, end, finished_task, new_task, now, owner, query, status};
use crate::{Created, Retention, RetentionReport, StoreError, TaskRecord, TaskStore};

const LONG: Duration = Duration::from_secs(1_000_000);

pub(crate) async fn retention(fresh: impl Fn() -> Box<dyn TaskStore>) {
    too_many_finished_tasks_let_the_oldest_go(&*fresh()).await;
    old_finished_tasks_go(&*fresh()).await;
    folded_tasks_read_as_before(&*fresh()).await;
    tasks_of_one_write_read_as_before(&*fresh()).await;
    live_tasks_are_never_touched(&*fresh()).await;
    many_tasks_are_retained_in_one_go(&*fresh()).await;
}

async fn finished(store: &dyn TaskStore, owner: &Owner, count: usize) -> Vec<TaskRecord> {
    let mut records = Vec::new();
    for n in 0..count {
        records.push(create(store, finished_task(owner, &format!("m{n}"))).await);
    }
    records
}

/// Tasks that took two writes.
async fn ended(store: &dyn TaskStore, owner: &Owner, count: usize) -> Vec<TaskRecord> {
    let mut records = Vec::new();
    for n in 0..count {
        let record = create(store, new_task(owner, &format!("m{n}"))).await;
        records.push(end(store, owner, record.task.id, TaskState::Completed).await);
    }
    records
}

async fn too_many_finished_tasks_let_the_oldest_go(store: &dyn TaskStore) {
    let (ada, bob) = (owner("ada"), owner("bob"));
    let live = create(store, new_task(&ada, "live")).await;
    let records = finished(store, &ada, 5).await;
    let late = create(store, new_task(&ada, "late")).await;
    let late = end(store, &ada, late.task.id, TaskState::Failed).await;
    finished(store, &bob, 3).await;

    let retained = store
        .retain(Retention { finished_per_owner: 3, ..Retention::FOREVER }, now())
        .await
        .unwrap();

    assert_eq!(retained, RetentionReport { evicted: 3, folded: 0, transcripts: 0 });
    let kept = store.list(&query(&ada)).await.unwrap();
    assert_eq!(kept.tasks, [late, records[4].clone(), records[3].clone(), live]);
    assert_eq!(kept.total, 4);
    for gone in &records[..3] {
        let id = gone.task.id;
        assert_eq!(store.get(&ada, id).await, Err(StoreError::NotFound));
        assert_eq!(store.events(&ada, id, 0, 9).await, Err(StoreError::NotFound));
    }
    let counts = [(TaskState::Submitted, 1), (TaskState::Completed, 2), (TaskState::Failed, 1)];
    assert_eq!(store.counts(&ada).await.unwrap(), BTreeMap::from(counts));
    assert_eq!(store.counts(&bob).await.unwrap(), BTreeMap::from([(TaskState::Completed, 3)]));
    assert!(matches!(store.create(new_task(&ada, "m0")).await, Ok(Created::New(_))), "its message is forgotten too");
    assert!(matches!(store.create(new_task(&ada, "m4")).await, Ok(Created::Known(_))));
}

async fn old_finished_tasks_go(store: &dyn TaskStore) {
    let (ada, bob) = (owner("ada"), owner("bob"));
    let live = create(store, new_task(&ada, "live")).await;
    finished(store, &ada, 2).await;
    finished(store, &bob, 1).await;
    let cutoff = now();
    let young = create(store, finished_task(&ada, "young")).await;

    let hour = Duration::from_secs(3_600);
    let retained = store
        .retain(Retention { finished_for: hour, ..Retention::FOREVER }, cutoff + hour)
        .await
        .unwrap();

    assert_eq!(retained, RetentionReport { evicted: 3, folded: 0, transcripts: 0 });
    assert_eq!(store.list(&query(&ada)).await.unwrap().tasks, [young, live]);
    assert_eq!(store.counts(&bob).await.unwrap(), BTreeMap::new());
}

async fn folded_tasks_read_as_before(store: &dyn TaskStore) {
    let ada = owner("ada");
    let records = ended(store, &ada, 3).await;
    let long = create(store, new_task(&ada, "long")).await;
    let long = append(store, &long, vec![status(TaskState::Working), artifact("a"), artifact("b")]).await;
    let cutoff = now();
    let young = create(store, new_task(&ada, "young")).await;
    let young = end(store, &ada, young.task.id, TaskState::Completed).await;
    let ended_later = end(store, &ada, long.task.id, TaskState::Canceled).await;
    let before = store.list(&query(&ada)).await.unwrap();

    let hour = Duration::from_secs(3_600);
    let rule = Retention { fold_after: hour, ..Retention::FOREVER };
    let retained = store.retain(rule, cutoff + hour).await.unwrap();

    assert_eq!(retained, RetentionReport { evicted: 0, folded: 3, transcripts: 0 });
    let after = store.list(&query(&ada)).await.unwrap();
    assert_eq!((after.tasks, after.total), (before.tasks, before.total));
    for record in &records {
        let id = record.task.id;
        assert_eq!(store.get(&ada, id).await.unwrap(), *record);
        assert_eq!(store.events(&ada, id, 0, 9).await.unwrap(), []);
        assert_eq!(*store.watch(&ada, id).await.unwrap().borrow(), record.seq);
    }
    for record in [young, ended_later] {
        let events = store.events(&ada, record.task.id, 0, 99).await.unwrap();
        assert_eq!(events.len() as u64, record.seq, "not rested yet");
    }
    assert_eq!(store.retain(rule, cutoff + hour).await.unwrap(), RetentionReport::default());
    assert_eq!(
        store.retain(rule, now() + hour).await.unwrap(),
        RetentionReport { evicted: 0, folded: 2, transcripts: 0 }
    );
    assert!(matches!(store.create(new_task(&ada, "m0")).await, Ok(Created::Known(_))), "folded is not forgotten");
}

/// The store decides whether they are folded, because they may already be short.
async fn tasks_of_one_write_read_as_before(store: &dyn TaskStore) {
    let ada = owner("ada");
    let records = finished(store, &ada, 3).await;
    let before = store.list(&query(&ada)).await.unwrap();

    store
        .retain(Retention { fold_after: Duration::ZERO, ..Retention::FOREVER }, now())
        .await
        .unwrap();

    let after = store.list(&query(&ada)).await.unwrap();
    assert_eq!((after.tasks, after.total), (before.tasks, before.total));
    for record in &records {
        assert_eq!(store.get(&ada, record.task.id).await.unwrap(), *record);
        let events = store.events(&ada, record.task.id, 0, 9).await.unwrap().len() as u64;
        assert!(events == 0 || events == record.seq, "all or none");
        assert_eq!(*store.watch(&ada, record.task.id).await.unwrap().borrow(), record.seq);
    }
}

async fn live_tasks_are_never_touched(store: &dyn TaskStore) {
    let ada = owner("ada");
    let mut records = Vec::new();
    for state in TaskState::ALL.into_iter().filter(|state| !state.is_terminal()) {
        let record = create(store, new_task(&ada, state.as_str())).await;
        let events = Some(status(state)).filter(|_| state != TaskState::Submitted);
        records.push(append(store, &record, events.into_iter().collect()).await);
    }

    let nothing = Retention {
        finished_per_owner: 0,
        finished_for: Duration::ZERO,
        fold_after: Duration::ZERO,
        transcripts_for: Duration::ZERO,
    };
    let retained = store.retain(nothing, now() + LONG).await.unwrap();

    assert_eq!(retained, RetentionReport::default());
    for record in &records {
        assert_eq!(store.get(&ada, record.task.id).await.unwrap(), *record);
        assert_eq!(store.events(&ada, record.task.id, 0, 9).await.unwrap().len() as u64, record.seq);
    }
}

async fn many_tasks_are_retained_in_one_go(store: &dyn TaskStore) {
    let ada = owner("ada");
    let news = (0..200).map(|n| store.create(finished_task(&ada, &format!("m{n}"))));
    for created in futures_util::future::join_all(news).await {
        created.unwrap();
    }
    let others = (0..100).map(async |n| {
        let record = create(store, new_task(&ada, &format!("o{n}"))).await;
        end(store, &ada, record.task.id, TaskState::Completed).await
    });
    futures_util::future::join_all(others).await;

    let rule = Retention { finished_per_owner: 170, fold_after: Duration::ZERO, ..Retention::FOREVER };
    let retained = store.retain(rule, now()).await.unwrap();

    assert_eq!(retained, RetentionReport { evicted: 130, folded: 100, transcripts: 0 });
    assert_eq!(store.counts(&ada).await.unwrap(), BTreeMap::from([(TaskState::Completed, 170)]));
    assert_eq!(store.list(&query(&ada)).await.unwrap().total, 170);
}

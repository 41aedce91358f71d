//! The rules of every task store for events and watchers.

use std::time::Duration;

use openfang_types::event::TaskEvent;
use openfang_types::task::{Message, Part, TaskParts, TaskState};
use tokio::time::timeout;

use super::{append, artifact, create, finished_task, new_task, owner, status};
use crate::{EventsAfter, Fit, NewTask, StoreError, TaskStore};

/// Writes of another process are noticed within this time.
const NOTICED: Duration = Duration::from_secs(2);

pub(super) async fn events(fresh: impl Fn() -> Box<dyn TaskStore>) {
    events_come_in_order_without_gaps(&*fresh()).await;
    a_watcher_sees_the_latest_event(&*fresh()).await;
    a_watcher_of_a_known_task_starts_where_it_stands(&*fresh()).await;
    what_is_too_large_is_measured_and_not_read(&*fresh()).await;
}

async fn what_is_too_large_is_measured_and_not_read(store: &dyn TaskStore) {
    const LARGE: usize = 10_000;
    let ada = owner("ada");
    let new = new_task(&ada, "m");
    let message = Message { parts: vec![Part::text("go on ".repeat(LARGE))], ..new.message };
    let record = create(store, NewTask { message, ..new }).await;
    let record = append(store, &record, vec![status(TaskState::Working)]).await;
    let record = append(store, &record, vec![artifact("a")]).await;
    let id = record.task.id;
    let from = |after, max_bytes| EventsAfter { after, limit: 9, max_bytes };
    let seqs = |fit: Fit<Vec<TaskEvent>>| match fit {
        Fit::Whole(events) => Ok(events.iter().map(|event| event.seq).collect::<Vec<_>>()),
        Fit::TooLarge(bytes) => Err(bytes),
    };

    let second = store.events_within(&ada, id, from(1, LARGE)).await.unwrap();
    let bytes = seqs(second).unwrap_err();
    assert!(bytes > LARGE);
    let alone = seqs(store.events_within(&ada, id, from(1, bytes)).await.unwrap()).unwrap();
    assert!(alone.first() == Some(&2) && alone.last() < Some(&4), "so much is enough for the next write, not for all");
    assert_eq!(seqs(store.events_within(&ada, id, from(2, LARGE)).await.unwrap()), Ok(vec![3, 4]));
    assert_eq!(seqs(store.events_within(&ada, id, from(1, usize::MAX)).await.unwrap()), Ok(vec![2, 3, 4]));
    assert_eq!(seqs(store.events_within(&ada, id, from(4, 0)).await.unwrap()), Ok(vec![]));

    assert!(matches!(store.get_within(&ada, id, LARGE).await.unwrap(), Fit::TooLarge(bytes) if bytes > LARGE));
    assert_eq!(store.get_within(&ada, id, usize::MAX).await.unwrap(), Fit::Whole(record.clone()));
    let mut head = record;
    head.task.keep(TaskParts::ROW);
    assert_eq!(store.head(&ada, id).await.unwrap(), head);
    let bob = owner("bob");
    assert_eq!(store.head(&bob, id).await.unwrap_err(), StoreError::NotFound);
    assert_eq!(store.get_within(&bob, id, usize::MAX).await.unwrap_err(), StoreError::NotFound);
    assert_eq!(store.events_within(&bob, id, from(0, usize::MAX)).await.unwrap_err(), StoreError::NotFound);
}

async fn events_come_in_order_without_gaps(store: &dyn TaskStore) {
    for (name, text) in [("short", "go".to_owned()), ("long", "go on ".repeat(2_000))] {
        let new = new_task(&owner("ada"), name);
        let message = Message { parts: vec![Part::text(text)], ..new.message };
        events_of_a_task_come_in_order(store, NewTask { message, ..new }).await;
    }
}

async fn events_of_a_task_come_in_order(store: &dyn TaskStore, new: NewTask) {
    let ada = owner("ada");
    let record = create(store, new).await;
    let id = record.task.id;
    let record = append(store, &record, vec![status(TaskState::Working), artifact("a"), artifact("b")]).await;
    append(store, &record, vec![status(TaskState::Completed)]).await;

    let all = store.events(&ada, id, 0, 9).await.unwrap();

    let names: Vec<&str> = all.iter().map(|event| event.body.name()).collect();
    assert_eq!(names, ["status", "message", "status", "artifact", "artifact", "status"]);
    assert_eq!(all.iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    assert!(all.iter().all(|event| event.task_id == id));
    for after in 0..8 {
        for limit in 0..8 {
            let read = store.events(&ada, id, after as u64, limit).await.unwrap();
            let expected: Vec<_> = all.iter().skip(after).take(limit).cloned().collect();
            assert_eq!(read, expected, "at most {limit} after {after}");
        }
    }
    assert_eq!(store.events(&ada, id, u64::MAX, usize::MAX).await.unwrap(), []);
    assert_eq!(store.events(&ada, id, 0, usize::MAX).await.unwrap(), all);
}

async fn a_watcher_sees_the_latest_event(store: &dyn TaskStore) {
    let ada = owner("ada");
    let mut record = create(store, new_task(&ada, "m")).await;
    let mut latest = store.watch(&ada, record.task.id).await.unwrap();
    assert_eq!(*latest.borrow_and_update(), record.seq);

    for n in 0..3 {
        record = append(store, &record, vec![artifact("a"), artifact(&n.to_string())]).await;

        timeout(NOTICED, latest.wait_for(|seq| *seq == record.seq)).await.unwrap().unwrap();
    }
    append(store, &create(store, new_task(&ada, "other")).await, vec![artifact("a")]).await;
    assert_eq!(*latest.borrow_and_update(), record.seq, "another task wakes nobody");
}

async fn a_watcher_of_a_known_task_starts_where_it_stands(store: &dyn TaskStore) {
    let ada = owner("ada");
    let record = create(store, finished_task(&ada, "m")).await;
    let first = store.watch(&ada, record.task.id).await.unwrap();

    let second = store.watch(&ada, record.task.id).await.unwrap();

    for latest in [first, second] {
        assert!(!latest.has_changed().unwrap());
        assert_eq!(*latest.borrow(), 5);
    }
}

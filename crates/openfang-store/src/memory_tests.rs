//! The in-memory home keeps the contract, and its own bounds.

use openfang_types::limits::{MEMORY_AUDIT_ROWS, MEMORY_TASKS};
use openfang_types::task::TaskState;

use super::*;
use crate::contract::transcripts::{new_with, words};
use crate::contract::{self, audit_row, create, end, new_task, owner, status};
use crate::{AuditKind, AuditRow, AuditStore, NewTask, StoreError, Stores, TaskStore};

#[tokio::test]
async fn tasks_keep_the_contract() {
    contract::tasks(|| Box::new(MemoryTasks::default())).await;
}

#[tokio::test]
async fn tasks_change_hands_by_the_contract() {
    contract::takeover(|| Box::new(MemoryTasks::default())).await;
}

#[test]
fn tasks_agree_with_the_model() {
    contract::agrees_with_the_model(256, || Box::new(MemoryTasks::default()));
}

#[tokio::test]
async fn pushes_keep_the_contract() {
    contract::pushes(Stores::in_memory).await;
    let stores = Stores::in_memory();
    contract::pushes_across_processes(&stores, &stores).await;
}

#[tokio::test]
async fn schedules_keep_the_contract() {
    contract::schedules(Stores::in_memory).await;
}

#[tokio::test]
async fn published_events_keep_the_contract() {
    contract::published_events(Stores::in_memory).await;
}

#[tokio::test]
async fn remotes_keep_the_contract() {
    contract::remotes(Stores::in_memory).await;
}

#[tokio::test]
async fn transcripts_keep_the_contract() {
    contract::transcripts(Stores::in_memory).await;
}

#[tokio::test]
async fn memory_keeps_the_contract() {
    contract::key_values(|| Box::new(MemoryKeyValues::default())).await;
    contract::keys_are_limited_per_owner(&MemoryKeyValues::default()).await;
}

#[tokio::test]
async fn files_keep_the_contract() {
    contract::files(Stores::in_memory).await;
}

#[tokio::test]
async fn owners_have_a_quota() {
    contract::owners_have_a_quota(Stores::in_memory).await;
}

#[tokio::test]
async fn the_queue_keeps_the_contract() {
    contract::queue(Stores::in_memory).await;
    let stores = Stores::in_memory();
    contract::claimed_once(&[stores.clone(), stores], 100, 1_000).await;
}

#[tokio::test]
async fn results_keep_the_contract() {
    contract::results(Stores::in_memory).await;
}

#[tokio::test]
async fn approvals_keep_the_contract() {
    contract::approvals(Stores::in_memory).await;
}

#[tokio::test]
async fn usage_keeps_the_contract() {
    contract::usage(Stores::in_memory).await;
}

#[tokio::test]
async fn users_keep_the_contract() {
    contract::users(|| Box::new(MemoryUsers::default())).await;
}

#[tokio::test]
async fn audit_keeps_the_contract() {
    contract::audit(|| Box::new(MemoryAudit::default())).await;
}

#[tokio::test]
async fn a_full_map_lets_the_task_that_finished_first_go_and_never_a_live_one() {
    let store = MemoryTasks::default();
    let ada = owner("ada");
    let mut ids = Vec::new();
    for n in 0..MEMORY_TASKS {
        let record = create(&store, new_task(&ada, &format!("m{n}"))).await;
        ids.push(record.task.id);
    }
    let refused = store.create(new_task(&owner("bob"), "full")).await;
    assert_eq!(refused.err(), Some(StoreError::TooManyLive { limit: MEMORY_TASKS }));

    end(&store, &ada, ids[5], TaskState::Completed).await;
    end(&store, &ada, ids[3], TaskState::Failed).await;
    create(&store, new_task(&ada, "next")).await;

    assert_eq!(store.get(&ada, ids[5]).await.err(), Some(StoreError::NotFound));
    assert!(store.get(&ada, ids[3]).await.is_ok());
    assert!(store.get(&ada, ids[0]).await.is_ok());
}

#[tokio::test]
async fn a_full_map_forgets_a_conversation_with_its_last_task() {
    let stores = Stores::in_memory();
    let finished = |message: &str, context: &str| {
        let events = vec![status(TaskState::Completed)];
        NewTask { events, context_id: context.parse().unwrap(), ..new_with("ada", message, &[message]) }
    };
    let mut first = Vec::new();
    for (message, context) in [("1", "a"), ("2", "b"), ("3", "a"), ("4", "c")] {
        first.push(create(&*stores.tasks, finished(message, context)).await);
    }
    for n in 4..MEMORY_TASKS {
        create(&*stores.tasks, new_task(&owner("ada"), &format!("m{n}"))).await;
    }

    create(&*stores.tasks, new_task(&owner("ada"), "5")).await;
    assert_eq!(words(&stores, &first[0]).await, ["1", "3"], "one of two tasks has gone");
    create(&*stores.tasks, new_task(&owner("ada"), "6")).await;
    assert_eq!(words(&stores, &first[1]).await.len(), 0);
    create(&*stores.tasks, finished("7", "a")).await;
    assert_eq!(words(&stores, &first[0]).await, ["1", "3", "7"], "the last task makes room for the next one");
}

#[tokio::test]
async fn the_audit_ring_drops_its_oldest_rows() {
    let store = MemoryAudit::default();
    for n in 0..=MEMORY_AUDIT_ROWS {
        store.record(AuditKind::Read, audit_row(u64::try_from(n).unwrap()));
    }

    let rows = store.recent(usize::MAX).await.unwrap();
    assert_eq!(rows.len(), MEMORY_AUDIT_ROWS);
    assert_eq!(rows[0].micros, 1);
    let removed = store.verify().await.unwrap().removed;
    assert_eq!(removed.iter().map(|removal| removal.rows).collect::<Vec<_>>(), [1]);
}

#[tokio::test]
async fn the_audit_ring_drops_rows_of_whoever_has_most_of_them() {
    let store = MemoryAudit::default();
    let bob = AuditRow { owner: owner("bob"), ..audit_row(7) };
    store.record(AuditKind::Read, bob.clone());
    for n in 0..=MEMORY_AUDIT_ROWS {
        store.record(AuditKind::Read, audit_row(u64::try_from(n).unwrap()));
    }

    let rows = store.recent(usize::MAX).await.unwrap();
    assert_eq!((rows.len(), &rows[0]), (MEMORY_AUDIT_ROWS, &bob));
}

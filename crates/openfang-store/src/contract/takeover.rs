//! The rules of every task store for tasks that change nodes: cancel requests, orphans and claims.

use std::collections::BTreeMap;

use openfang_types::principal::Door;
use openfang_types::task::TaskState;

use super::{append, create, end, finished_task, new_task, node, now, owner, status, write};
use crate::{Append, NewTask, Stamp, StoreError, TaskStore};

pub(crate) async fn takeover(fresh: impl Fn() -> Box<dyn TaskStore>) {
    a_request_to_cancel_reaches_the_node_that_works(&*fresh()).await;
    a_request_to_cancel_follows_the_task(&*fresh()).await;
    orphans_are_running_tasks_of_the_dead(&*fresh()).await;
    one_of_many_claims_wins(&*fresh()).await;
    a_stale_writer_loses_after_a_claim(&*fresh()).await;
    what_has_ended_cannot_be_claimed(&*fresh()).await;
    a_message_continues_a_task_on_another_node(&*fresh()).await;
    the_profiles_of_the_creator_stay_with_a_task(&*fresh()).await;
    the_door_of_the_newest_message_stays_with_a_task(&*fresh()).await;
}

async fn the_door_of_the_newest_message_stays_with_a_task(store: &dyn TaskStore) {
    let ada = owner("ada");
    let record = create(store, NewTask { door: Door::Rest, ..new_task(&ada, "1") }).await;
    assert_eq!(store.door(record.task.id).await, Ok(Some(Door::Rest)));

    let asked = append(store, &record, vec![status(TaskState::InputRequired)]).await;
    let answer = Append { door: Some(Door::A2a), ..write(&asked, vec![status(TaskState::Working)]) };
    store.append(answer).await.unwrap();
    let read = store.get(&ada, record.task.id).await.unwrap();
    append(store, &read, vec![status(TaskState::Working)]).await;
    store.claim(record.task.id, read.version + 1, node(2)).await.unwrap();

    assert_eq!(store.door(record.task.id).await, Ok(Some(Door::A2a)));
    assert_eq!(store.door(new_task(&ada, "2").id).await, Err(StoreError::NotFound));
}

async fn the_profiles_of_the_creator_stay_with_a_task(store: &dyn TaskStore) {
    let ada = owner("ada");
    let narrow = create(store, NewTask { scope: Some("work home".to_owned()), ..new_task(&ada, "1") }).await;
    let plain = create(store, new_task(&ada, "2")).await;
    let unknown = new_task(&ada, "3").id;

    store.claim(narrow.task.id, narrow.version, node(2)).await.unwrap();

    assert_eq!(store.scope(narrow.task.id).await.unwrap().as_deref(), Some("work home"));
    assert_eq!(store.scope(plain.task.id).await.unwrap(), None);
    assert_eq!(store.scope(unknown).await, Err(StoreError::NotFound));
}

async fn a_request_to_cancel_reaches_the_node_that_works(store: &dyn TaskStore) {
    let ada = owner("ada");
    let here = create(store, new_task(&ada, "1")).await;
    let waiting = create(store, new_task(&ada, "2")).await;
    append(store, &waiting, vec![status(TaskState::InputRequired)]).await;
    let there = create(store, NewTask { node: node(2), ..new_task(&ada, "3") }).await;
    create(store, new_task(&ada, "4")).await;
    let done = create(store, finished_task(&ada, "5")).await;

    for id in [there.task.id, waiting.task.id, here.task.id, here.task.id, done.task.id] {
        store.request_cancel(&ada, id).await.unwrap();
    }

    assert_eq!(store.cancel_requests(node(1)).await.unwrap(), [here.task.id, waiting.task.id]);
    assert_eq!(store.cancel_requests(node(2)).await.unwrap(), [there.task.id]);
    assert_eq!(store.cancel_requests(node(3)).await.unwrap(), []);
    assert_eq!(store.get(&ada, here.task.id).await.unwrap(), here, "it is a wish, not a write");
    end(store, &ada, here.task.id, TaskState::Canceled).await;
    assert_eq!(store.cancel_requests(node(1)).await.unwrap(), [waiting.task.id]);
    assert_eq!(store.request_cancel(&ada, new_task(&ada, "6").id).await, Err(StoreError::NotFound));
}

async fn a_request_to_cancel_follows_the_task(store: &dyn TaskStore) {
    let ada = owner("ada");
    let record = create(store, new_task(&ada, "m")).await;
    store.request_cancel(&ada, record.task.id).await.unwrap();

    store.claim(record.task.id, record.version, node(2)).await.unwrap();

    assert_eq!(store.cancel_requests(node(1)).await.unwrap(), []);
    assert_eq!(store.cancel_requests(node(2)).await.unwrap(), [record.task.id]);
}

async fn orphans_are_running_tasks_of_the_dead(store: &dyn TaskStore) {
    let (ada, bob) = (owner("ada"), owner("bob"));
    let at = |number: u8, new: NewTask| NewTask { node: node(number), ..new };
    let submitted = create(store, at(2, new_task(&ada, "1"))).await;
    let working = create(store, at(3, new_task(&bob, "2"))).await;
    let working = append(store, &working, vec![status(TaskState::Working)]).await;
    create(store, at(1, new_task(&ada, "3"))).await;
    create(store, at(2, finished_task(&ada, "4"))).await;
    for (message, state) in [("5", TaskState::InputRequired), ("6", TaskState::AuthRequired)] {
        let waiting = create(store, at(2, new_task(&ada, message))).await;
        append(store, &waiting, vec![status(state)]).await;
    }

    assert_eq!(store.orphans(&[node(1)]).await.unwrap(), [submitted.clone(), working.clone()]);
    assert_eq!(store.orphans(&[node(1), node(3)]).await.unwrap(), [submitted]);
    assert_eq!(store.orphans(&[node(3), node(2), node(1)]).await.unwrap(), []);
    assert_eq!(store.orphans(&[]).await.unwrap().len(), 3);
}

async fn one_of_many_claims_wins(store: &dyn TaskStore) {
    let ada = owner("ada");
    let record = create(store, new_task(&ada, "m")).await;
    let claims = (2..10).map(|number| store.claim(record.task.id, record.version, node(number)));

    let outcomes = futures_util::future::join_all(claims).await;

    let won: Vec<usize> = (0..outcomes.len()).filter(|n| outcomes[*n].is_ok()).collect();
    assert_eq!(won.len(), 1);
    assert_eq!(outcomes[won[0]], Ok(Stamp { version: 2, seq: 2 }));
    assert!(
        outcomes
            .iter()
            .filter(|outcome| outcome.is_err())
            .all(|lost| *lost == Err(StoreError::Conflict))
    );
    let read = store.get(&ada, record.task.id).await.unwrap();
    assert_eq!((read.attempt, read.version), (2, 2));
    assert_eq!(read.node, node(u8::try_from(won[0]).unwrap() + 2));
    assert_eq!(read.task, record.task);
    store.claim(record.task.id, 2, node(1)).await.unwrap();
    assert_eq!(store.get(&ada, record.task.id).await.unwrap().attempt, 3);
}

async fn a_stale_writer_loses_after_a_claim(store: &dyn TaskStore) {
    let ada = owner("ada");
    let record = create(store, new_task(&ada, "m")).await;
    store.claim(record.task.id, record.version, node(2)).await.unwrap();

    let late = store.append(write(&record, vec![status(TaskState::Completed)])).await;

    assert_eq!(late, Err(StoreError::Conflict));
    let read = store.get(&ada, record.task.id).await.unwrap();
    assert_eq!(read.task.status.state, TaskState::Submitted);
    append(store, &read, vec![status(TaskState::Failed)]).await;
    assert_eq!(store.counts(&ada).await.unwrap(), BTreeMap::from([(TaskState::Failed, 1)]));
}

async fn what_has_ended_cannot_be_claimed(store: &dyn TaskStore) {
    let ada = owner("ada");
    let record = create(store, finished_task(&ada, "m")).await;

    let refused = StoreError::NotAllowed { from: TaskState::Completed, to: TaskState::Completed };
    assert_eq!(store.claim(record.task.id, record.version, node(2)).await, Err(refused));
    assert_eq!(store.claim(new_task(&ada, "x").id, 1, node(2)).await, Err(StoreError::NotFound));
    assert_eq!(store.get(&ada, record.task.id).await.unwrap(), record);
}

async fn a_message_continues_a_task_on_another_node(store: &dyn TaskStore) {
    let ada = owner("ada");
    let record = create(store, new_task(&ada, "m")).await;
    let asked = append(store, &record, vec![status(TaskState::InputRequired)]).await;

    let answer = Append { node: Some(node(2)), ..write(&asked, vec![status(TaskState::Working)]) };
    store.append(answer).await.unwrap();

    let read = store.get(&ada, record.task.id).await.unwrap();
    assert_eq!((read.node, read.attempt), (node(2), 1));
    let stays = append(store, &read, vec![status(TaskState::Working)]).await;
    assert_eq!(stays.node, node(2));
    assert_eq!(store.orphans(&[node(1)]).await.unwrap(), std::slice::from_ref(&stays));
    let moves = Append { node: Some(node(1)), at: now(), ..write(&stays, Vec::new()) };
    store.append(moves).await.unwrap();
    assert_eq!(store.orphans(&[node(1)]).await.unwrap(), []);
}

//! The size limit, the order of eviction, and that ended tasks never change.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::*;

const ENDS: [A2aTaskStatus; 3] = [A2aTaskStatus::Completed, A2aTaskStatus::Cancelled, A2aTaskStatus::Failed];

fn task(id: &str, status: A2aTaskStatus) -> A2aTask {
    A2aTask { id: id.to_owned(), session_id: None, status, messages: Vec::new(), artifacts: Vec::new() }
}

fn working(id: &str) -> A2aTask {
    task(id, A2aTaskStatus::Working)
}

fn said(text: &str) -> A2aMessage {
    A2aMessage { role: "agent".into(), parts: vec![A2aPart::Text { text: text.into() }] }
}

fn status(store: &A2aTaskStore, id: &str) -> Option<A2aTaskStatus> {
    store.get(id).map(|task| task.status)
}

#[test]
fn a_task_goes_its_way() {
    let store = A2aTaskStore::default();
    store.insert(task("t", A2aTaskStatus::Submitted)).unwrap();

    assert!(store.update_status("t", A2aTaskStatus::Working));
    assert!(store.update_status("t", A2aTaskStatus::InputRequired));
    let artifact = A2aArtifact { name: "r".into(), parts: Vec::new() };
    assert!(store.complete("t", said("done"), vec![artifact.clone()]));

    let task = store.get("t").unwrap();
    assert_eq!(
        (task.status, task.messages, task.artifacts),
        (A2aTaskStatus::Completed, vec![said("done")], vec![artifact])
    );
    assert!(!store.cancel("nobody") && store.get("nobody").is_none());
}

#[test]
fn what_has_ended_never_changes() {
    for end in ENDS {
        let store = A2aTaskStore::default();
        store.insert(working("t")).unwrap();
        assert!(store.update_status("t", end));
        let before = store.get("t").unwrap();

        assert!(!store.cancel("t"));
        assert!(!store.complete("t", said("late"), Vec::new()));
        assert!(!store.fail("t", said("late")));
        assert!(!store.update_status("t", A2aTaskStatus::Working));
        assert_eq!(store.insert(working("t")), Err(NotInserted::Known));

        assert_eq!(store.get("t").unwrap(), before);
    }
}

#[test]
fn a_full_store_lets_go_of_what_ended_first_not_of_what_came_first() {
    let store = A2aTaskStore::new(3);
    for id in ["a", "b", "c"] {
        store.insert(working(id)).unwrap();
    }
    store.fail("c", said("no"));
    store.cancel("a");

    store.insert(working("d")).unwrap();
    assert_eq!((status(&store, "c"), status(&store, "a")), (None, Some(A2aTaskStatus::Cancelled)));
    store.insert(working("e")).unwrap();
    assert_eq!((status(&store, "a"), status(&store, "b")), (None, Some(A2aTaskStatus::Working)));
}

#[test]
fn a_store_full_of_live_tasks_takes_no_more_until_one_ends() {
    let store = A2aTaskStore::default();
    for number in 0..1_000 {
        store.insert(task(&number.to_string(), A2aTaskStatus::InputRequired)).unwrap();
    }

    assert_eq!(store.insert(working("more")), Err(NotInserted::Full));
    assert!(store.cancel("500"));
    store.insert(working("more")).unwrap();

    assert!(store.get("500").is_none() && store.get("0").is_some());
    assert_eq!(A2aTaskStore::new(0).insert(working("t")), Err(NotInserted::Full));
}

#[test]
fn a_task_that_comes_ended_can_be_let_go() {
    let store = A2aTaskStore::new(1);
    store.insert(task("old", A2aTaskStatus::Completed)).unwrap();
    store.insert(working("new")).unwrap();
    assert!(store.get("old").is_none());
}

#[test]
fn of_all_who_end_a_task_at_once_one_does() {
    let store = A2aTaskStore::default();
    for round in 0..100 {
        let id = round.to_string();
        store.insert(working(&id)).unwrap();
        let ended = AtomicUsize::new(0);
        thread::scope(|scope| {
            for end in 0..6 {
                let (store, ended, id) = (&store, &ended, &id);
                scope.spawn(move || {
                    let won = match end % 3 {
                        0 => store.complete(id, said("done"), Vec::new()),
                        1 => store.fail(id, said("no")),
                        _ => store.cancel(id),
                    };
                    ended.fetch_add(usize::from(won), Ordering::Relaxed);
                });
            }
        });

        let task = store.get(&id).unwrap();
        assert_eq!(ended.into_inner(), 1);
        assert_eq!(task.messages.is_empty(), task.status == A2aTaskStatus::Cancelled);
    }
}

#[test]
fn the_bound_holds_whoever_inserts() {
    let store = A2aTaskStore::new(50);
    thread::scope(|scope| {
        for worker in 0..4 {
            let store = &store;
            scope.spawn(move || {
                for number in 0..100 {
                    let id = format!("{worker}-{number}");
                    if store.insert(working(&id)).is_ok() {
                        store.cancel(&id);
                    }
                }
            });
        }
    });

    let kept = (0..4).flat_map(|worker| (0..100).map(move |number| format!("{worker}-{number}")));
    assert_eq!(kept.filter(|id| store.get(id).is_some()).count(), 50);
}

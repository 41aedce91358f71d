//! Calls that nobody waits for: joined, fetched, forgotten.

use uuid::Uuid;

use super::*;

fn key(number: u8) -> CallKey {
    CallKey([number; 32])
}

fn call(owner: &str, number: u8, parting: Parting) -> HandedCall {
    HandedCall {
        owner: owner.parse().unwrap(),
        task: TaskId::from_uuid(Uuid::from_u128(u128::from(number))),
        cancel: CancellationToken::new(),
        parting,
    }
}

#[tokio::test(start_paused = true)]
async fn the_same_call_joins_its_task_until_somebody_fetched_it_or_time_is_over() {
    let calls = HandedOver::default();
    assert!(calls.keep(key(1), call("ada", 1, Parting::Told)));
    assert!(calls.keep(key(2), call("ada", 2, Parting::Told)));
    assert_eq!(calls.find(key(1)).unwrap().task, call("ada", 1, Parting::Told).task);

    calls.fetched(call("ada", 1, Parting::Told).task);
    assert!(calls.find(key(1)).is_none() && calls.find(key(2)).is_some());

    tokio::time::advance(HANDED_OVER_TIME).await;
    assert!(calls.find(key(2)).is_none());
}

#[test]
fn only_so_many_calls_of_one_owner_go_on_without_anybody_knowing_and_others_are_not_concerned() {
    let calls = HandedOver::default();
    let most = u8::try_from(DETACHED_PER_OWNER).unwrap();
    for number in 0..most {
        assert!(calls.keep(key(number), call("ada", number, Parting::Left)));
    }

    assert!(!calls.keep(key(100), call("ada", 100, Parting::Left)));
    assert!(calls.keep(key(0), call("ada", 0, Parting::Left)), "the same call is no further one");
    assert!(calls.keep(key(101), call("ada", 101, Parting::Told)), "its caller knows of it");
    assert!(calls.keep(key(102), call("bob", 102, Parting::Left)));
}

#[test]
fn the_oldest_calls_of_an_owner_make_room_for_its_newer_ones() {
    let calls = HandedOver::default();
    assert!(calls.keep(key(200), call("bob", 200, Parting::Told)));
    let most = u8::try_from(HANDED_OVER_PER_OWNER).unwrap();
    for number in 0..=most {
        assert!(calls.keep(key(number), call("ada", number, Parting::Told)));
    }

    assert!(calls.find(key(0)).is_none() && calls.find(key(most)).is_some());
    assert!(calls.find(key(200)).is_some(), "another owner's");
}

//! Who waits for a place gets one, in turn.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use super::*;

/// Whether a place is there, without waiting.
fn poll<F: Future>(waiting: Pin<&mut F>) -> Poll<F::Output> {
    waiting.poll(&mut Context::from_waker(Waker::noop()))
}

fn now(line: &Arc<Line>, owner: &str) -> Option<LineSlot> {
    match poll(pin!(line.place(owner))) {
        Poll::Ready(place) => place,
        Poll::Pending => None,
    }
}

#[test]
fn owners_take_turns_however_many_calls_each_of_them_sends() {
    let line = Line::new(Quota::new(8, 1));
    let mut place = now(&line, "first").unwrap();
    let calls = ["a", "a", "a", "b", "c", "b"];
    let mut waiting: Vec<_> = calls.iter().map(|owner| (*owner, Box::pin(line.place(owner)))).collect();
    assert!(waiting.iter_mut().all(|(_, call)| poll(call.as_mut()).is_pending()));
    let mut served = Vec::new();
    while !waiting.is_empty() {
        drop(place);
        let ready = waiting.iter_mut().enumerate().find_map(|(at, (_, call))| match poll(call.as_mut()) {
            Poll::Ready(place) => Some((at, place.unwrap())),
            Poll::Pending => None,
        });
        let (at, next) = ready.unwrap();
        served.push(waiting.remove(at).0);
        place = next;
    }

    assert_eq!(served, ["a", "b", "c", "a", "b", "a"]);
    drop(place);
    assert!(now(&line, "d").is_some());
}

#[test]
fn who_gives_up_leaves_the_line_and_a_place_that_came_too_late_goes_on() {
    let line = Line::new(Quota::new(8, 1));
    let place = now(&line, "a").unwrap();
    let mut early = Box::pin(line.place("b"));
    let mut late = Box::pin(line.place("b"));
    let mut last = Box::pin(line.place("c"));
    for call in [&mut early, &mut late, &mut last] {
        assert!(poll(call.as_mut()).is_pending());
    }
    drop(early);
    drop(place);
    assert!(poll(last.as_mut()).is_pending(), "it is the turn of the other call of b");
    drop(late);

    assert!(matches!(poll(last.as_mut()), Poll::Ready(Some(_))));
}

#[test]
fn the_line_is_bounded_and_one_owner_cannot_fill_it() {
    let line = Line::new(Quota::new(8, 0));
    let mut waiting = Vec::new();
    for owner in 0..MCP_POOL_WAITING / MCP_POOL_WAITING_PER_OWNER {
        for _ in 0..MCP_POOL_WAITING_PER_OWNER {
            let (line, owner) = (Arc::clone(&line), owner.to_string());
            let mut call = Box::pin(async move { line.place(&owner).await });
            assert!(poll(call.as_mut()).is_pending());
            waiting.push(call);
        }
        assert!(matches!(poll(pin!(line.place(&owner.to_string()))), Poll::Ready(None)));
    }
    assert!(matches!(poll(pin!(line.place("another"))), Poll::Ready(None)));
    waiting.pop();
    assert!(poll(pin!(line.place("another"))).is_pending());
}

#[test]
fn an_owner_that_holds_all_it_may_leaves_places_to_others() {
    let line = Line::new(Quota::new(8, 64));
    let held: Vec<LineSlot> = (0..8).map(|_| now(&line, "greedy").unwrap()).collect();
    let mut ninth = Box::pin(line.place("greedy"));
    assert!(poll(ninth.as_mut()).is_pending());

    assert!(now(&line, "other").is_some());
    assert_eq!(line.taken("greedy"), (8, 8));

    drop(held);
    assert!(matches!(poll(ninth.as_mut()), Poll::Ready(Some(_))));
}

#[test]
fn many_owners_together_leave_a_place_for_one_who_has_none() {
    let line = Line::new(Quota::new(8, 64));
    let mut held = Vec::new();
    for owner in 0..8 {
        held.extend((0..8).map_while(|_| now(&line, &owner.to_string())));
    }

    assert!(now(&line, "other").is_some(), "{} are taken", held.len());
}

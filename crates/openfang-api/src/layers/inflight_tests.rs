//! What counts, for whom, and until when.

use futures_util::FutureExt as _;

use super::*;

const MIB: usize = 1024 * 1024;

fn inflight() -> Arc<Inflight> {
    Inflight::new(&Limits { inflight_bytes: 16 * MIB, body_bytes: MIB, ..Limits::default() })
}

fn owner(name: &str) -> Owner {
    name.parse().unwrap()
}

/// A body whose tree is no larger than itself.
fn text(bytes: usize) -> Vec<u8> {
    vec![b'x'; bytes]
}

#[test]
fn a_middling_request_counts_with_the_tree_that_it_becomes_and_stays_with_the_worker() {
    let inflight = inflight();
    let (load, whole) = (inflight.load(&owner("ada")), format!("[{}]", vec!["{\"a\":1}"; 1_000].join(",")));

    load.read(whole.len()).unwrap();
    assert_eq!(inflight.all.load(Ordering::Relaxed), whole.len());
    load.weigh(whole.as_bytes()).unwrap();

    assert!(inflight.all.load(Ordering::Relaxed) > 60 * whole.len());
    drop(load);
    assert_eq!(inflight.all.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_request_that_takes_milliseconds_leaves_the_worker_before_it_is_weighed() {
    let inflight = inflight();
    let (small, large) = (inflight.load(&owner("ada")), inflight.load(&owner("ada")));

    small.read_whole(&text(OFF_WORKER_FROM_BYTES - 1)).await.unwrap();
    assert!(!small.is_large());
    drop(small);
    let body = text(OFF_WORKER_FROM_BYTES);
    let mut reading = Box::pin(large.read_whole(&body));
    assert!(reading.as_mut().now_or_never().is_none(), "the step ends before anything is counted");
    assert!(large.is_large());
    assert_eq!(inflight.all.load(Ordering::Relaxed), 0);
    reading.await.unwrap();

    assert_eq!(inflight.all.load(Ordering::Relaxed), INFLIGHT_COPIES * OFF_WORKER_FROM_BYTES);
}

#[test]
fn an_owner_has_one_turn_and_each_owner_has_its_own() {
    let inflight = inflight();

    let first = inflight.turn_of(&owner("ada"));
    assert!(Arc::ptr_eq(&first, &inflight.turn_of(&owner("ada"))));
    assert!(!Arc::ptr_eq(&first, &inflight.turn_of(&owner("bob"))));
    drop(first);

    drop(inflight.turn_of(&owner("cyd")));
    assert_eq!(inflight.turns.lock().unwrap().len(), 1, "an owner with nothing under way is forgotten");
}

#[test]
fn one_document_is_taken_whatever_it_becomes() {
    let inflight = inflight();
    let dense = format!("[{}]", vec!["{\"a\":1}"; MIB / 8 - 1].join(","));

    inflight.load(&owner("ada")).weigh(dense.as_bytes()).unwrap();
}

#[test]
fn a_small_request_is_not_counted() {
    let inflight = inflight();
    let load = inflight.load(&owner("ada"));

    load.weigh(&[b'x'; INFLIGHT_SMALL_BYTES - 1]).unwrap();

    assert_eq!(inflight.all.load(Ordering::Relaxed), 0);
    assert!(!load.is_large());
}

#[test]
fn a_large_request_counts_as_it_is_read_and_until_it_is_done() {
    let inflight = inflight();
    let load = inflight.load(&owner("ada"));

    load.read(MIB / 2).unwrap();
    assert_eq!(inflight.all.load(Ordering::Relaxed), MIB / 2);
    load.weigh(&text(MIB)).unwrap();
    assert_eq!(inflight.all.load(Ordering::Relaxed), INFLIGHT_COPIES * MIB);
    drop(load);

    assert_eq!(inflight.all.load(Ordering::Relaxed), 0);
    assert!(inflight.lock().is_empty());
}

#[test]
fn an_owner_with_too_much_under_way_is_refused_and_others_are_not() {
    let inflight = inflight();
    let held: Vec<_> = (0..2).map(|_| inflight.load(&owner("ada"))).collect();
    held.iter().for_each(|load| load.weigh(&text(MIB)).unwrap());

    assert!(inflight.load(&owner("ada")).weigh(&text(MIB)).is_err());
    assert!(inflight.admit(&owner("ada")).is_err(), "small ones could have large answers");
    inflight.admit(&owner("bob")).unwrap();
    inflight.load(&owner("bob")).weigh(&text(MIB)).unwrap();
    drop(held);
    inflight.admit(&owner("ada")).unwrap();
}

#[test]
fn owners_with_much_leave_a_share_to_one_with_little() {
    let inflight = inflight();
    for name in ["ada", "bob"] {
        inflight.add(&owner(name), 7 * MIB, false).unwrap();
    }

    assert!(inflight.load(&owner("ada")).weigh(&text(MIB / 2)).is_err());
    inflight.admit(&owner("eve")).unwrap();
    inflight.load(&owner("eve")).weigh(&text(MIB / 4)).unwrap();
}

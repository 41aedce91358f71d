//! What counts, for whom, and until when.

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
    load.read_whole(whole.as_bytes()).unwrap();

    assert!(inflight.all.load(Ordering::Relaxed) > 60 * whole.len());
    assert!(!load.is_large());
    drop(load);
    assert_eq!(inflight.all.load(Ordering::Relaxed), 0);
}

#[test]
fn one_document_is_taken_whatever_it_becomes() {
    let inflight = inflight();
    let dense = format!("[{}]", vec!["{\"a\":1}"; MIB / 8 - 1].join(","));

    inflight.load(&owner("ada")).read_whole(dense.as_bytes()).unwrap();
}

#[test]
fn a_small_request_is_not_counted() {
    let inflight = inflight();
    let load = inflight.load(&owner("ada"));

    load.read_whole(&[b'x'; INFLIGHT_SMALL_BYTES - 1]).unwrap();

    assert_eq!(inflight.all.load(Ordering::Relaxed), 0);
    assert!(!load.is_large());
}

#[test]
fn a_large_request_counts_as_it_is_read_and_until_it_is_done() {
    let inflight = inflight();
    let load = inflight.load(&owner("ada"));

    load.read(MIB / 2).unwrap();
    assert_eq!(inflight.all.load(Ordering::Relaxed), MIB / 2);
    load.read_whole(&text(MIB)).unwrap();
    assert_eq!(inflight.all.load(Ordering::Relaxed), INFLIGHT_COPIES * MIB);
    drop(load);

    assert_eq!(inflight.all.load(Ordering::Relaxed), 0);
    assert!(inflight.lock().is_empty());
}

#[test]
fn an_owner_with_too_much_under_way_is_refused_and_others_are_not() {
    let inflight = inflight();
    let held: Vec<_> = (0..2).map(|_| inflight.load(&owner("ada"))).collect();
    held.iter().for_each(|load| load.read_whole(&text(MIB)).unwrap());

    assert!(inflight.load(&owner("ada")).read_whole(&text(MIB)).is_err());
    assert!(inflight.admit(&owner("ada")).is_err(), "small ones could have large answers");
    inflight.admit(&owner("bob")).unwrap();
    inflight.load(&owner("bob")).read_whole(&text(MIB)).unwrap();
    drop(held);
    inflight.admit(&owner("ada")).unwrap();
}

#[test]
fn owners_with_much_leave_a_share_to_one_with_little() {
    let inflight = inflight();
    for name in ["ada", "bob"] {
        inflight.add(&owner(name), 7 * MIB, false).unwrap();
    }

    assert!(inflight.load(&owner("ada")).read_whole(&text(MIB / 2)).is_err());
    inflight.admit(&owner("eve")).unwrap();
    inflight.load(&owner("eve")).read_whole(&text(MIB / 4)).unwrap();
}

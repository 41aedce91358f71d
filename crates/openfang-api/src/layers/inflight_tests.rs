//! What counts, for whom, and until when.

use super::*;

const MIB: usize = 1024 * 1024;

fn inflight() -> Arc<Inflight> {
    Inflight::new(&Limits { inflight_bytes: 16 * MIB, body_bytes: MIB, ..Limits::default() })
}

fn owner(name: &str) -> Owner {
    name.parse().unwrap()
}

#[test]
fn a_small_request_is_not_counted() {
    let inflight = inflight();
    let load = inflight.load(&owner("ada"));

    load.read_whole(INFLIGHT_FROM_BYTES - 1).unwrap();

    assert_eq!(inflight.all.load(Ordering::Relaxed), 0);
    assert!(!load.is_large());
}

#[test]
fn a_large_request_counts_as_it_is_read_and_until_it_is_done() {
    let inflight = inflight();
    let load = inflight.load(&owner("ada"));

    load.read(MIB / 2).unwrap();
    assert_eq!(inflight.all.load(Ordering::Relaxed), MIB / 2);
    load.read_whole(MIB).unwrap();
    assert_eq!(inflight.all.load(Ordering::Relaxed), INFLIGHT_COPIES * MIB);
    drop(load);

    assert_eq!(inflight.all.load(Ordering::Relaxed), 0);
    assert!(inflight.lock().is_empty());
}

#[test]
fn an_owner_with_too_much_under_way_is_refused_and_others_are_not() {
    let inflight = inflight();
    let held: Vec<_> = (0..2).map(|_| inflight.load(&owner("ada"))).collect();
    held.iter().for_each(|load| load.read_whole(MIB).unwrap());

    assert!(inflight.load(&owner("ada")).read_whole(MIB).is_err());
    assert!(inflight.admit(&owner("ada")).is_err(), "small ones could have large answers");
    inflight.admit(&owner("bob")).unwrap();
    inflight.load(&owner("bob")).read_whole(MIB).unwrap();
    drop(held);
    inflight.admit(&owner("ada")).unwrap();
}

#[test]
fn owners_with_much_leave_a_share_to_one_with_little() {
    let inflight = inflight();
    for name in ["ada", "bob"] {
        inflight.add(&owner(name), 7 * MIB, false).unwrap();
    }

    assert!(inflight.load(&owner("ada")).read_whole(MIB / 2).is_err());
    inflight.admit(&owner("eve")).unwrap();
    inflight.load(&owner("eve")).read_whole(MIB / 4).unwrap();
}

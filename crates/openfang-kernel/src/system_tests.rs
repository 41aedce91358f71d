//! Ids are fresh, of their kind, and in order.

use std::collections::HashSet;

use super::*;

#[test]
fn ids_never_repeat_across_refills_of_the_pool() {
    let ids = SystemIds::default();

    let fresh: HashSet<Uuid> = (0..5_000).flat_map(|_| [ids.random(), ids.ordered()]).collect();

    assert_eq!(fresh.len(), 10_000);
}

#[test]
fn ids_are_of_their_kind_and_ordered_ones_follow_time() {
    let ids = SystemIds::default();
    assert_eq!(ids.random().get_version_num(), 4);
    let (first, second) = (ids.ordered(), ids.ordered());

    assert_eq!(first.get_version_num(), 7);
    let millis = |id: Uuid| id.get_timestamp().unwrap().to_unix();
    assert!(millis(first) <= millis(second));
}

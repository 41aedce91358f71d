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

#[test]
fn ids_lie_in_order_and_do_not_count_what_was_made_for_others() {
    let ids = SystemIds::default();
    let made: Vec<Uuid> = (0..2_000).map(|_| ids.ordered()).collect();
    assert!(made.is_sorted_by(|one, next| one < next));

    let numbers: Vec<u16> = made
        .iter()
        .map(|id| u16::from_be_bytes([id.as_bytes()[6] & 0x0f, id.as_bytes()[7]]))
        .collect();
    let steps = |by: u16| numbers.windows(2).filter(|pair| pair[1].wrapping_sub(pair[0]) == by).count();
    assert!(steps(1) < made.len() / 2, "one after another is one more");
}

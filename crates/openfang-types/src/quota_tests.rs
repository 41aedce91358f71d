//! Who may take what is left.

use super::*;

#[test]
fn an_owner_has_a_cap_of_its_own() {
    let quota = Quota::new(8, 100);

    assert!(quota.admits(7, 7, 1));
    assert!(!quota.admits(8, 8, 1));
    assert!(!quota.admits(5, 5, 4));
}

#[test]
fn the_last_quarter_is_for_owners_that_hold_little() {
    let quota = Quota::new(16, 100);

    assert!(quota.admits(2, 74, 1));
    assert!(!quota.admits(2, 75, 1), "this owner has two already");
    assert!(quota.admits(0, 75, 1));
    assert!(quota.admits(1, 99, 1));
    assert!(!quota.admits(0, 100, 1));
}

#[test]
fn a_resource_of_one_can_be_taken() {
    assert!(Quota::new(1, 1).admits(0, 0, 1));
    assert!(!Quota::new(1, 1).admits(0, 1, 1));
    assert!(!Quota::new(8, 0).admits(0, 0, 1));
}

//! Counting a user's tasks.

use super::*;

#[test]
fn the_tasks_of_a_process_count_for_its_user() {
    let status = "Name:\tx\nUid:\t1000\t1001\t1002\t1003\nThreads:\t5\n";

    assert_eq!(tasks_in(status, 1000), Some(5));
    assert_eq!(tasks_in(status, 1001), None);
    assert_eq!(tasks_in("Name:\tx\n", 1000), None);
}

#[test]
fn our_own_tasks_are_among_those_of_our_user() {
    assert!(tasks_of_user() >= 1);
}

//! Background threads, their results and their priority.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

#[test]
fn background_work_runs_on_another_thread_and_returns_its_result() {
    let here = std::thread::current().id();
    let text = String::from("borrowed");

    let (there, length) = run(|| (std::thread::current().id(), text.len()));

    assert_ne!(there, here);
    assert_eq!(length, 8);
}

#[cfg(target_os = "linux")]
#[test]
fn background_work_has_a_low_priority_and_leaves_that_of_its_caller() {
    let before = rustix::process::getpriority_process(None).expect("a priority");

    let there = run(|| rustix::process::getpriority_process(None).expect("a priority"));

    assert_eq!(there, BACKGROUND_NICENESS.max(before));
    assert_eq!(rustix::process::getpriority_process(None).expect("a priority"), before);
}

#[test]
fn a_panic_of_background_work_reaches_its_caller() {
    let outcome = catch_unwind(AssertUnwindSafe(|| run(|| panic!("as planned"))));

    let panic = outcome.expect_err("a panic");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"as planned"));
}

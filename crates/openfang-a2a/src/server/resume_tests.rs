//! Which ids are accepted for resuming a stream.

use super::*;

#[test]
fn only_the_id_of_an_event_of_this_task_is_a_place_to_resume_at() {
    let task: TaskId = "0192d3a0-0000-7000-8000-000000000001".parse().unwrap();
    assert_eq!(last_event(None, task), Ok(None));
    assert_eq!(last_event(Some(&format!("{task}:7")), task), Ok(Some(7)));
    for other in ["", "7", "0192d3a0-0000-7000-8000-000000000002:7", "0192d3a0-0000-7000-8000-000000000001:x"] {
        assert!(last_event(Some(other), task).is_err(), "{other:?}");
    }
}

//! Calls to agents at URLs are counted for each owner, and so are their tasks.

use super::*;

#[test]
fn an_owner_has_a_few_calls_at_a_time_and_others_have_theirs() {
    let calls = ForeignCalls::default();
    let (ada, bob): (Owner, Owner) = ("ada".parse().unwrap(), "bob".parse().unwrap());

    let mut held: Vec<ForeignCall<'_>> = (0..FOREIGN_AGENT_CALLS).map(|_| calls.begin(&ada).unwrap()).collect();

    assert!(calls.begin(&ada).is_err());
    assert!(calls.begin(&bob).is_ok());
    held.pop();
    assert!(calls.begin(&ada).is_ok());
}

#[test]
fn a_task_is_known_to_its_owner_at_its_url_only() {
    let calls = ForeignCalls::default();
    let (ada, bob): (Owner, Owner) = ("ada".parse().unwrap(), "bob".parse().unwrap());
    let task: TaskName = "t".parse().unwrap();

    calls.remember(&ada, "http://x", task.clone());

    assert!(calls.knows(&ada, "http://x", &task));
    assert!(!calls.knows(&ada, "http://y", &task));
    assert!(!calls.knows(&bob, "http://x", &task));
    for number in 0..FOREIGN_AGENT_TASKS {
        calls.remember(&ada, "http://x", format!("t{number}").parse().unwrap());
    }
    assert!(!calls.knows(&ada, "http://x", &task), "the oldest is forgotten");
}

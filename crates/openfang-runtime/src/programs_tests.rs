//! How many programs an owner may have running.

use super::*;

#[test]
fn an_owner_has_a_share_that_nobody_else_can_take() {
    let calls = ProgramCalls::default();
    let (ada, bob): (Owner, Owner) = ("ada".parse().unwrap(), "bob".parse().unwrap());
    let mut held: Vec<_> = (0..EXEC_CALLS_PER_OWNER).map(|_| calls.begin(&ada).ok().unwrap()).collect();

    assert!(calls.begin(&ada).is_err());
    assert!(calls.begin(&bob).is_ok());

    held.pop();
    assert!(calls.begin(&ada).is_ok());
    drop(held);
    assert!(calls.lock().is_empty());
}

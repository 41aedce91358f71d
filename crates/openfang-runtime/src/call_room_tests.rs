//! How many calls an owner may have under way.

use super::*;

#[test]
fn an_owner_has_a_share_that_nobody_else_can_take() {
    let room = CallRoom::new(2, "programs are running");
    let (ada, bob): (Owner, Owner) = ("ada".parse().unwrap(), "bob".parse().unwrap());
    let mut held: Vec<_> = (0..2).map(|_| room.begin(&ada).ok().unwrap()).collect();

    let refused = room.begin(&ada).err().unwrap();
    assert_eq!(refused.to_string(), "2 programs are running already; wait for one to end");
    assert!(room.begin(&bob).is_ok());

    held.pop();
    assert!(room.begin(&ada).is_ok());
    drop(held);
    assert!(room.lock().is_empty());
}

//! A state is good once, and one owner's states leave room for those of others.

use super::*;

fn nonce(number: u32) -> [u8; NONCE_BYTES] {
    let mut nonce = [0; NONCE_BYTES];
    nonce[..4].copy_from_slice(&number.to_be_bytes());
    nonce
}

#[test]
fn a_state_is_good_once() {
    let used = UsedStates::new(Quota::new(4, 100));

    assert_eq!(used.use_up("ada", nonce(1), 10, 0), Use::First);
    assert_eq!(used.use_up("ada", nonce(1), 10, 0), Use::Again);
}

#[test]
fn an_owner_who_used_up_its_states_leaves_others_theirs_and_gets_more_when_they_expire() {
    let used = UsedStates::new(Quota::new(4, 100));
    for number in 0..4 {
        assert_eq!(used.use_up("ada", nonce(number), 10, 0), Use::First);
    }

    assert_eq!(used.use_up("ada", nonce(4), 10, 0), Use::NoRoom);
    assert_eq!(used.use_up("bob", nonce(5), 10, 0), Use::First);
    assert_eq!(used.use_up("ada", nonce(4), 30, 11), Use::First);
}

#[test]
fn many_owners_together_leave_a_share_for_one_who_has_none() {
    let used = UsedStates::new(Quota::new(4, 16));
    for owner in ["a", "b", "c"] {
        for number in 0..4 {
            assert_eq!(used.use_up(owner, nonce(number), 10, 0), Use::First, "{owner} {number}");
        }
    }

    assert_eq!(used.use_up("d", nonce(0), 10, 0), Use::First);
    assert_eq!(used.use_up("d", nonce(1), 10, 0), Use::NoRoom);
    assert_eq!(used.use_up("e", nonce(0), 10, 0), Use::First);
}

//! What was ended stays so.

use super::*;

fn nonce(n: usize) -> Nonce {
    let mut nonce = Nonce::default();
    nonce[..8].copy_from_slice(&n.to_be_bytes());
    nonce
}

#[test]
fn what_there_is_no_room_to_remember_is_over_with_all_that_began_as_early() {
    let mut ended = Ended::default();
    for n in 0..=MCP_ENDED_SESSIONS {
        ended.insert(nonce(n), 1_000 + i64::try_from(n).unwrap(), 500);
    }

    assert_eq!(ended.len(), MCP_ENDED_SESSIONS);
    for n in [0, 1, MCP_ENDED_SESSIONS] {
        assert!(ended.contains(nonce(n), 1_000 + i64::try_from(n).unwrap()), "{n}");
    }
    let other = nonce(usize::MAX);
    assert!(ended.contains(other, 1_000), "another that began with the first");
    assert!(!ended.contains(other, 1_001));
}

#[test]
fn what_is_written_down_says_the_same_at_the_next_start() {
    let mut before = Ended::default();
    before.insert(nonce(1), 100, 0);
    before.insert(nonce(2), 200, 0);
    before.over_until = 150;

    let entries = compacted([("ada", &mut before)].into_iter(), 120);
    let mut after = Ended::default();
    entries.iter().for_each(|entry| after.learn(entry));

    assert_eq!(entries.len(), 2, "the first has expired");
    assert!(after.contains(nonce(2), 200) && after.contains(nonce(9), 150));
    assert!(!after.contains(nonce(9), 200));
}

//! What follows from faults, and how long to wait.

use std::time::Duration;

use super::{ModelError, Verdict, backoff};
use crate::wire::WireFault;

#[test]
fn a_broken_answer_is_asked_for_again_twice_and_a_wrong_address_is_not() {
    let verdict = |fault: WireFault| ModelError::from(fault).verdict();
    let again = Verdict::Retry { after: None, at_most: 2 };
    assert_eq!(verdict(WireFault::Cut), again);
    assert_eq!(verdict(WireFault::Malformed { reason: "x".to_owned() }), again);
    let next = Verdict::Fallback { leave_alone: None, needs_other_key: false };
    assert_eq!(verdict(WireFault::NotAnAnswer { beginning: "<html>".to_owned() }), next);
    assert_eq!(verdict(WireFault::TooManyCalls), next);
    assert_eq!(verdict(WireFault::ContextCut { sent: 9, read: 1 }), Verdict::Compact);
}

#[test]
fn pauses_grow_stay_below_their_bound_and_heed_the_provider() {
    for attempt in 0..40 {
        let bound = Duration::from_millis(500)
            .saturating_mul(2_u32.saturating_pow(attempt))
            .min(Duration::from_secs(60));
        assert!(backoff(attempt, None) <= bound);
        assert!(backoff(attempt, Some(Duration::from_secs(61))) >= Duration::from_secs(61));
    }
}

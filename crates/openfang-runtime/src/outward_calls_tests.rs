//! What is known of calls that are under way.

use uuid::Uuid;

use super::*;

#[test]
fn a_request_with_the_trace_of_a_call_is_one_hop_deeper_while_the_call_lasts() {
    let calls = OutwardCalls::default();
    let [one, other] = [1, 2].map(|number| TraceId::from_uuid(Uuid::from_u128(number)));

    let first = calls.begin(one, 0);
    let second = calls.begin(one, 2);
    let same = calls.begin(one, 2);

    assert_eq!(calls.hops_of_arrival(one), 3);
    assert_eq!(calls.hops_of_arrival(other), 0);
    drop(second);
    assert_eq!(calls.hops_of_arrival(one), 3);
    drop(same);
    assert_eq!(calls.hops_of_arrival(one), 1);
    drop(first);
    assert_eq!(calls.hops_of_arrival(one), 0);
    assert!(calls.lock().is_empty());
}

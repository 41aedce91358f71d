//! What is known of calls that are under way.

use super::*;

fn trace(number: u128) -> TraceId {
    TraceId::from_uuid(Uuid::from_u128(number))
}

fn owner(name: &str) -> Owner {
    serde_json::from_value(name.into()).unwrap()
}

/// A parent that is not one of ours.
fn elsewhere(number: u128) -> TraceParent {
    TraceParent { trace: trace(number), parent: SpanId::of_number(7) }
}

#[test]
fn a_request_that_names_a_call_as_its_parent_is_one_hop_deeper_than_this_call() {
    let (calls, ada) = (OutwardCalls::default(), owner("ada"));

    let (shallow, deep) = (calls.begin(trace(1), &ada, 0), calls.begin(trace(1), &ada, 2));

    assert_eq!(calls.hops_of_arrival(shallow.parent(), &ada), 1);
    assert_eq!(calls.hops_of_arrival(deep.parent(), &ada), 3);
}

#[test]
fn further_calls_of_the_caller_that_began_are_no_chain() {
    let (calls, ada) = (OutwardCalls::default(), owner("ada"));
    let mut live = Vec::new();

    for _ in 0..100 {
        let hops = calls.hops_of_arrival(elsewhere(1), &ada);
        assert_eq!(hops, 0);
        live.push(calls.begin(trace(1), &ada, hops));
    }
}

#[test]
fn a_request_of_somebody_else_with_the_trace_is_one_hop_deeper_each_time() {
    let (calls, ada, bob) = (OutwardCalls::default(), owner("ada"), owner("bob"));
    let mut live = vec![calls.begin(trace(1), &ada, 0)];

    for expected in 1..4 {
        let hops = calls.hops_of_arrival(elsewhere(1), &bob);
        assert_eq!(hops, expected);
        live.push(calls.begin(trace(1), &bob, hops));
    }
}

#[test]
fn calls_that_ended_and_other_traces_count_nothing() {
    let (calls, ada, bob) = (OutwardCalls::default(), owner("ada"), owner("bob"));

    let call = calls.begin(trace(1), &ada, 3);
    let parent = call.parent();

    assert_eq!(calls.hops_of_arrival(elsewhere(2), &bob), 0);
    drop(call);
    assert_eq!(calls.hops_of_arrival(parent, &bob), 0);
    assert!(calls.lock().is_empty());
}

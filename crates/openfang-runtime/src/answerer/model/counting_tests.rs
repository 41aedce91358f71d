//! What is counted of an answer, whatever its provider says.

use std::sync::Arc;

use super::*;

fn request(text: &str) -> ModelRequest {
    let mut request = ModelRequest::new("m", vec![Arc::new(Item::user(text))]);
    request.options.max_tokens = 1000;
    request
}

#[test]
fn what_is_not_counted_is_estimated_from_what_was_sent_and_has_arrived() {
    let estimate = RequestEstimate::of(&request(&"x".repeat(3500)));

    let taken = estimate.of_part(7000);

    assert_eq!((taken.input, taken.output), (Some(1000), Some(2000)));
    assert_eq!(estimate.of_part(0).output, Some(0));
}

#[test]
fn a_count_is_believed_as_far_as_the_request_can_have_it() {
    let estimate = RequestEstimate::of(&request("hello"));
    let told = |usage: &Usage| plausible(estimate.counted(usage, 7));

    let honest = Usage { input: Some(700), cached: Some(600), output: Some(9), ..Usage::default() };
    assert_eq!(told(&honest), honest);
    let without = Usage { cached: Some(u64::MAX), ..Usage::default() };
    assert_eq!(told(&without).cached, told(&without).input, "what came from a cache is part of the input");
    assert!(estimate.most_input < 10_000 && estimate.most_output == 2000);
}

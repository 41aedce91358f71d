//! What a person is told of a turn.

use super::*;

fn usage(input: u64, cached: Option<u64>) -> Usage {
    Usage { input: Some(input), cached, output: Some(10), ..Usage::default() }
}

fn sum(answers: &[(bool, Usage, Option<f64>)]) -> Option<TurnUsage> {
    turn_usage("fake/m".to_owned(), answers.iter().copied())
}

#[test]
fn a_turn_is_the_sum_of_its_own_answers() {
    let others = (false, usage(50, Some(40)), Some(9.0));
    let taken = sum(&[others, (true, usage(100, Some(60)), Some(0.5)), (true, usage(200, None), None)]).unwrap();

    assert_eq!((taken.steps, taken.input_tokens, taken.cached_tokens), (2, 300, Some(60)));
    assert_eq!((taken.output_tokens, taken.cost_usd, taken.missed_tokens), (20, Some(0.5), 0));
    assert_eq!(sum(&[others]), None);
}

#[test]
fn a_miss_is_what_a_cache_should_have_had_and_had_not() {
    let missed =
        |before: u64, now: Usage| sum(&[(false, usage(before, None), None), (true, now, None)]).unwrap().missed_tokens;

    assert_eq!(missed(10_000, usage(11_000, Some(0))), 10_000);
    assert_eq!(missed(10_000, usage(11_000, Some(9_900))), 0, "most of it was there");
    assert_eq!(missed(10_000, usage(11_000, None)), 0, "the provider says nothing");
    assert_eq!(missed(1_000, usage(2_000, Some(0))), 0, "nothing that small is cached");
    assert_eq!(missed(90_000, usage(5_000, Some(0))), 5_000, "a conversation that became shorter");
}

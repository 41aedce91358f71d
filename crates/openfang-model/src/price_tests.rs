//! Money is exact.

use proptest::prelude::*;

use super::{Cost, ModelFacts, ModelTable, Price};
use crate::answer::Usage;

const PRICE: Price = Price { input: 3.0, output: 15.0, cached: Some(0.3), cache_written: Some(3.75) };

#[test]
fn cached_tokens_cost_their_own_price_and_are_not_paid_twice() {
    let usage = Usage {
        input: Some(1_000),
        cached: Some(900),
        cache_written: Some(50),
        output: Some(200),
        reasoning: Some(150),
    };
    // 50 at 3.00, 900 at 0.30, 50 at 3.75, 200 at 15.00.
    assert_eq!(PRICE.of(&usage), Cost { nano_dollars: 150_000 + 270_000 + 187_500 + 3_000_000 });
    assert_eq!(PRICE.of(&Usage::default()), Cost::default());
    assert_eq!(Cost { nano_dollars: 3_607_500 }.to_string(), "$0.0036");
}

#[test]
fn prices_that_are_no_prices_cost_nothing_or_the_most() {
    let odd = |input| Price { input, output: 0.0, cached: None, cache_written: None };
    let usage = Usage { input: Some(u64::MAX), ..Usage::default() };
    assert_eq!(odd(f64::NAN).of(&usage), Cost::default());
    assert_eq!(odd(-3.0).of(&usage), Cost::default());
    assert_eq!(odd(f64::INFINITY).of(&usage), Cost { nano_dollars: u64::MAX });
}

#[test]
fn a_model_is_found_behind_a_vendor_and_with_a_date() {
    let facts = ModelFacts { window: 200_000, max_output: 64_000, price: Some(PRICE) };
    let mut table = ModelTable::default();
    table.insert("claude-sonnet-4-6", facts);
    for name in ["claude-sonnet-4-6", "anthropic/claude-sonnet-4-6", "claude-sonnet-4-6-20260105"] {
        assert_eq!(table.get(name), Some(&facts), "{name}");
    }
    assert_eq!(table.get("gpt-5"), None);
}

proptest! {
    #[test]
    fn the_sum_of_the_parts_is_the_price_of_the_whole(one in 0_u64..10_000_000, two in 0_u64..10_000_000) {
        let of = |tokens| PRICE.of(&Usage { output: Some(tokens), ..Usage::default() });
        prop_assert_eq!(of(one).saturating_add(of(two)), of(one + two));
    }
}

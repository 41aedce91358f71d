//! Messages that allow more.

use super::*;

#[test]
fn an_allowance_is_an_amount_of_dollars_or_tokens_and_nothing_else() {
    let dollars = |amount| Some(Allowance::Dollars(Dollars::new(amount).unwrap()));
    assert_eq!(Allowance::parse("/budget +0.50"), dollars(0.5));
    assert_eq!(Allowance::parse(" /budget + $2 "), dollars(2.0));
    assert_eq!(Allowance::parse("/budget +20000 tokens"), Some(Allowance::Tokens(20_000)));
    for text in [
        "/budget",
        "/budget 5",
        "/budget +",
        "/budget +-1",
        "/budget +NaN",
        "/budget +inf",
        "budget +1",
        "/budget +1 cats",
    ] {
        assert_eq!(Allowance::parse(text), None, "{text}");
    }
}

#[test]
fn a_user_allows_no_more_than_a_run_may_use() {
    let half = Dollars::new(0.5).unwrap();
    let resources = Resources { max_cost_per_run_usd: Some(half), ..Resources::default() };
    let given = Allowance::Dollars(Dollars::new(100.0).unwrap());

    assert_eq!(given.at_most(&resources), Allowance::Dollars(half));
    assert_eq!(given.at_most(&Resources::default()), given);
    assert_eq!(Allowance::Tokens(7).at_most(&resources), Allowance::Tokens(7));
}

//! What every home must keep of the usage of models.

use futures_util::future::join_all;
use jiff::Timestamp;
use openfang_types::ids::AgentName;

use super::owner;
use crate::{
    BudgetKind, BudgetLimits, Spender, Spending, Stores, UsageKey, UsageQuery, UsageRecord, UsageStore, UsageTotal,
};

pub(crate) async fn usage(fresh: impl Fn() -> Stores) {
    what_was_reserved_is_replaced_by_what_was_taken(&*fresh().usage).await;
    runs_that_reserve_together_never_exceed_a_limit(&*fresh().usage).await;
    what_is_never_settled_counts_as_spent(&*fresh().usage).await;
    owners_and_agents_have_budgets_of_their_own(&*fresh().usage).await;
    each_limit_counts_its_own_period(&*fresh().usage).await;
    usage_is_summed_by_agent_model_and_day(&*fresh().usage).await;
    numbers_that_a_provider_makes_up_break_nothing(&*fresh().usage).await;
    old_usage_is_forgotten(&*fresh().usage).await;
}

const NONE: BudgetLimits = BudgetLimits {
    tokens_per_hour: None,
    nano_dollars_per_hour: None,
    nano_dollars_per_day: None,
    nano_dollars_per_month: None,
};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn noon() -> Timestamp {
    at("2026-11-18T12:30:00Z")
}

fn agent(name: &str) -> AgentName {
    name.parse().unwrap()
}

fn spender(whose: &str, name: &str) -> Spender {
    Spender { owner: owner(whose), agent: agent(name), model: "anthropic/m".to_owned() }
}

const fn tokens(tokens: u64) -> Spending {
    Spending { tokens, nano_dollars: 0 }
}

const fn dollars(nano_dollars: u64) -> Spending {
    Spending { tokens: 0, nano_dollars }
}

const fn answer(input: u64, output: u64, nano_dollars: u64) -> UsageRecord {
    UsageRecord { answers: 1, questions: 0, input, cached: 0, output, nano_dollars }
}

async fn sums(store: &dyn UsageStore, whose: Option<&str>, by: UsageKey) -> Vec<UsageTotal> {
    let query = UsageQuery { owner: whose.map(owner), since: at("2026-01-01T00:00:00Z"), by };
    store.totals(&query).await.unwrap()
}

async fn what_was_reserved_is_replaced_by_what_was_taken(store: &dyn UsageStore) {
    let ada = spender("ada", "a");
    let limits = BudgetLimits { tokens_per_hour: Some(1_000), ..NONE };
    let first = store.reserve(&ada, tokens(800), limits, noon()).await.unwrap().unwrap();
    assert_eq!(first.used_percent, 80);
    let full = store.reserve(&ada, tokens(300), limits, noon()).await.unwrap().unwrap_err();
    assert_eq!((full.limit, full.allowed, full.used, full.wanted), (BudgetKind::TokensPerHour, 1_000, 800, 300));
    assert_eq!(full.until, at("2026-11-18T13:00:00Z"));

    store.settle(first, answer(90, 10, 5)).await.unwrap();

    let second = store.reserve(&ada, tokens(900), limits, noon()).await.unwrap().unwrap();
    assert_eq!(second.used_percent, 100);
    store.settle(second, UsageRecord::default()).await.unwrap();
    let expected = UsageTotal { key: "a".to_owned(), taken: answer(90, 10, 5), held: Spending::default() };
    assert_eq!(sums(store, Some("ada"), UsageKey::Agent).await, [expected]);
}

async fn runs_that_reserve_together_never_exceed_a_limit(store: &dyn UsageStore) {
    let ada = spender("ada", "a");
    let limits = BudgetLimits { nano_dollars_per_day: Some(1_000), ..NONE };

    let all = join_all((0..50).map(|_| store.reserve(&ada, dollars(90), limits, noon()))).await;

    let given = all.into_iter().filter(|reserved| reserved.as_ref().unwrap().is_ok());
    assert_eq!(given.count(), 11);
    assert_eq!(sums(store, Some("ada"), UsageKey::Agent).await[0].held, dollars(990));
}

async fn what_is_never_settled_counts_as_spent(store: &dyn UsageStore) {
    let ada = spender("ada", "a");
    let limits = BudgetLimits { nano_dollars_per_hour: Some(100), ..NONE };
    drop(store.reserve(&ada, dollars(100), limits, noon()).await.unwrap().unwrap());

    let full = store.reserve(&ada, dollars(1), limits, noon()).await.unwrap().unwrap_err();
    assert_eq!((full.used, full.limit), (100, BudgetKind::CostPerHour));
    let later = store.reserve(&ada, dollars(1), limits, at("2026-11-18T13:00:00Z")).await.unwrap();
    assert!(later.is_ok());
}

async fn owners_and_agents_have_budgets_of_their_own(store: &dyn UsageStore) {
    let limits = BudgetLimits { tokens_per_hour: Some(10), ..NONE };
    for one in [spender("ada", "a"), spender("bob", "a"), spender("ada", "b")] {
        let reserved = store.reserve(&one, tokens(10), limits, noon()).await.unwrap();
        assert!(reserved.is_ok(), "{one:?}");
    }
    // Another model of the same agent has the same budget.
    let other = Spender { model: "ollama/m".to_owned(), ..spender("ada", "a") };
    assert!(store.reserve(&other, tokens(1), limits, noon()).await.unwrap().is_err());
    // Without a limit nothing is refused.
    assert_eq!(store.reserve(&other, tokens(u64::MAX), NONE, noon()).await.unwrap().unwrap().used_percent, 0);
}

async fn each_limit_counts_its_own_period(store: &dyn UsageStore) {
    let ada = spender("ada", "a");
    for (moment, cost) in [
        ("2026-10-31T23:59:59Z", 1),
        ("2026-11-01T00:00:00Z", 10),
        ("2026-11-18T00:00:00Z", 100),
        ("2026-11-18T12:00:00Z", 1_000),
    ] {
        store.record(&ada, answer(0, 0, cost), at(moment)).await.unwrap();
    }
    for (limits, used, until) in [
        (BudgetLimits { nano_dollars_per_hour: Some(1), ..NONE }, 1_000, "2026-11-18T13:00:00Z"),
        (BudgetLimits { nano_dollars_per_day: Some(1), ..NONE }, 1_100, "2026-11-19T00:00:00Z"),
        (BudgetLimits { nano_dollars_per_month: Some(1), ..NONE }, 1_110, "2026-12-01T00:00:00Z"),
    ] {
        let full = store.reserve(&ada, dollars(1), limits, noon()).await.unwrap().unwrap_err();
        assert_eq!((full.used, full.until), (used, at(until)), "{limits:?}");
    }
}

async fn usage_is_summed_by_agent_model_and_day(store: &dyn UsageStore) {
    let other = Spender { model: "ollama/x".to_owned(), ..spender("ada", "b") };
    store
        .record(&spender("ada", "a"), answer(10, 1, 7), at("2026-11-17T23:59:59Z"))
        .await
        .unwrap();
    store.record(&spender("ada", "a"), answer(10, 1, 7), noon()).await.unwrap();
    let question = UsageRecord { questions: 1, ..UsageRecord::default() };
    store.record(&other, question, noon()).await.unwrap();
    store.record(&spender("bob", "a"), answer(1, 1, 1), noon()).await.unwrap();

    let keys = |totals: Vec<UsageTotal>| -> Vec<(String, u64, u64)> {
        totals
            .into_iter()
            .map(|total| (total.key, total.taken.answers, total.taken.questions))
            .collect()
    };
    let of = |key: &str, answers, questions| (key.to_owned(), answers, questions);
    assert_eq!(keys(sums(store, Some("ada"), UsageKey::Agent).await), [of("a", 2, 0), of("b", 0, 1)]);
    assert_eq!(keys(sums(store, Some("ada"), UsageKey::Model).await), [of("anthropic/m", 2, 0), of("ollama/x", 0, 1)]);
    assert_eq!(keys(sums(store, Some("ada"), UsageKey::Day).await), [of("2026-11-17", 1, 0), of("2026-11-18", 1, 1)]);
    assert_eq!(keys(sums(store, None, UsageKey::Agent).await), [of("a", 3, 0), of("b", 0, 1)]);
    assert_eq!(sums(store, Some("eve"), UsageKey::Agent).await, []);
}

async fn numbers_that_a_provider_makes_up_break_nothing(store: &dyn UsageStore) {
    let ada = spender("ada", "a");
    for _ in 0..3 {
        store.record(&ada, answer(u64::MAX, u64::MAX, u64::MAX), noon()).await.unwrap();
    }
    let limits = BudgetLimits { tokens_per_hour: Some(1_000_000), ..NONE };

    assert!(store.reserve(&ada, tokens(1), limits, noon()).await.unwrap().is_err());
    assert_eq!(sums(store, None, UsageKey::Day).await.len(), 1);
}

async fn old_usage_is_forgotten(store: &dyn UsageStore) {
    store
        .record(&spender("ada", "a"), answer(1, 1, 1), at("2026-02-01T10:00:00Z"))
        .await
        .unwrap();
    store.record(&spender("ada", "a"), answer(1, 1, 1), noon()).await.unwrap();

    assert_eq!(store.delete_before(at("2026-02-01T10:59:00Z")).await, Ok(0));
    assert_eq!(store.delete_before(at("2026-02-01T11:00:00Z")).await, Ok(1));
    assert_eq!(sums(store, None, UsageKey::Day).await.len(), 1);
}

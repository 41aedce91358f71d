//! Usage in SQLite keeps the contract, and what was reserved survives a crash of its process.

use std::cell::RefCell;

use super::super::tests::Home;
use super::*;
use crate::contract::{self, owner};
use crate::{BudgetKind, Stores};

#[derive(Default)]
struct Homes(RefCell<Vec<Home>>);

impl Homes {
    fn fresh(&self) -> Stores {
        let home = Home::new();
        let stores = home.open().stores();
        self.0.borrow_mut().push(home);
        stores
    }
}

#[tokio::test]
async fn usage_keeps_the_contract() {
    let homes = Homes::default();
    contract::usage(|| homes.fresh()).await;
}

#[tokio::test]
async fn two_processes_share_a_budget_and_a_restart_does_not_free_it() {
    let home = Home::new();
    let spender = Spender { owner: owner("ada"), agent: "a".parse().unwrap(), model: "ollama/m".to_owned() };
    let now: Timestamp = "2026-11-18T12:30:00Z".parse().unwrap();
    let limits = BudgetLimits { tokens_per_hour: Some(100), ..BudgetLimits::default() };
    let most = Spending { tokens: 60, nano_dollars: 0 };

    let (one, other) = (home.open().stores(), home.open().stores());
    let first = one.usage.reserve(&spender, most, limits, now).await.unwrap().unwrap();
    assert!(other.usage.reserve(&spender, most, limits, now).await.unwrap().is_err());
    drop((first, one, other));

    let again = home.open().stores();
    let full = again.usage.reserve(&spender, most, limits, now).await.unwrap().unwrap_err();
    assert_eq!((full.used, full.limit), (60, BudgetKind::TokensPerHour));
}

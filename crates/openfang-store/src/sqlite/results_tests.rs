//! Kept results in SQLite keep the contract, survive a restart, and their counters stay true.

use std::cell::RefCell;
use std::time::Duration;

use openfang_types::taint::{Label, Labels};

use super::super::tests::Home;
use super::*;
use crate::contract::{self, now, owner};
use crate::{DatabaseFile, Stores};

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
async fn results_keep_the_contract() {
    let homes = Homes::default();
    contract::results(|| homes.fresh()).await;
}

#[tokio::test]
async fn results_are_there_after_a_restart_and_are_counted_rightly() {
    let home = Home::new();
    let (ada, at) = (owner("ada"), now());
    let ids: [ResultId; 2] = ["1", "2"].map(|n| format!("00000000-0000-4000-8000-00000000000{n}").parse().unwrap());
    let result = |secs| KeptResult {
        form: ResultForm::Text,
        content: "ä".repeat(70_000),
        labels: Labels::one(Label::McpServer, "x"),
        scope: None,
        expires_at: at + Duration::from_secs(secs),
    };
    let sqlite = home.open();
    for (id, secs) in ids.into_iter().zip([10, 100]) {
        sqlite.stores().results.keep(&ada, id, result(secs), at).await.unwrap();
    }
    drop(sqlite);
    let sqlite = home.open();
    assert_eq!(sqlite.stores().results.get(&ada, ids[0], at).await, Ok(Some(result(10))));

    let deleted = sqlite.stores().results.delete_expired(at + Duration::from_secs(10)).await;

    assert_eq!(deleted, Ok(1));
    drop(sqlite);
    let findings = DatabaseFile::open(&home.path()).unwrap().check().unwrap().findings;
    assert_eq!(findings, []);
}

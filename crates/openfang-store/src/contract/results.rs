//! What every home must keep of results that were cut.

use std::time::Duration;

use jiff::Timestamp;
use openfang_types::ids::{Owner, ResultId};
use openfang_types::limits::RESULTS_PER_OWNER;
use openfang_types::taint::{Label, Labels};

use super::{now, owner, tick};
use crate::{KeptResult, ResultForm, ResultStore, StoreError, StoredValue, Stores};

pub(crate) async fn results(fresh: impl Fn() -> Stores) {
    a_result_is_kept_as_it_was(&*fresh().results).await;
    anothers_unknown_and_expired_results_are_none(&*fresh().results).await;
    what_has_expired_is_deleted_and_makes_room(&fresh()).await;
    results_take_a_part_of_what_an_owner_may_keep(&fresh()).await;
    results_are_limited_per_owner(&*fresh().results).await;
    a_kept_result_is_not_counted_among_the_tasks(&fresh()).await;
}

fn id() -> ResultId {
    format!("00000000-0000-4000-8000-{:012}", tick()).parse().unwrap()
}

fn later(now: Timestamp, secs: u64) -> Timestamp {
    now + Duration::from_secs(secs)
}

fn result(content: &str, expires_at: Timestamp) -> KeptResult {
    let mut labels = Labels::one(Label::McpServer, "the MCP server a");
    labels.add(Label::McpServer, "the MCP server b");
    KeptResult {
        form: ResultForm::Text,
        content: content.to_owned(),
        labels,
        scope: Some("work=user".to_owned()),
        expires_at,
    }
}

async fn a_result_is_kept_as_it_was(store: &dyn ResultStore) {
    let (ada, at) = (owner("ada"), now());
    for (form, content) in
        [(ResultForm::Text, "a\0b \u{1f980}"), (ResultForm::Json, "{\"type\":\"x\"}"), (ResultForm::Text, "")]
    {
        let (id, kept) = (id(), KeptResult { form, ..result(content, later(at, 60)) });
        store.keep(&ada, id, kept.clone(), at).await.unwrap();

        assert_eq!(store.get(&ada, id, at).await, Ok(Some(kept)));
    }
}

async fn anothers_unknown_and_expired_results_are_none(store: &dyn ResultStore) {
    let (ada, bob, at) = (owner("ada"), owner("bob"), now());
    let id = id();
    store.keep(&ada, id, result("x", later(at, 60)), at).await.unwrap();

    assert_eq!(store.get(&bob, id, at).await, Ok(None));
    assert_eq!(store.get(&ada, self::id(), at).await, Ok(None));
    assert!(store.get(&ada, id, later(at, 59)).await.unwrap().is_some());
    assert_eq!(store.get(&ada, id, later(at, 60)).await, Ok(None));
}

async fn what_has_expired_is_deleted_and_makes_room(stores: &Stores) {
    stores.quota.set(40_000);
    let (store, ada, bob, at) = (&stores.results, owner("ada"), owner("bob"), now());
    let large = "x".repeat(8_000);
    store.keep(&ada, id(), result(&large, later(at, 10)), at).await.unwrap();
    let (stays, bobs) = (id(), id());
    store.keep(&ada, stays, result("y", later(at, 100)), at).await.unwrap();
    store.keep(&bob, bobs, result(&large, later(at, 10)), at).await.unwrap();
    assert_full(store.keep(&ada, id(), result(&large, later(at, 100)), at).await);

    assert_eq!(store.delete_expired(later(at, 9)).await, Ok(0));
    store.keep(&ada, id(), result(&large, later(at, 100)), later(at, 10)).await.unwrap();
    assert_eq!(store.get(&ada, stays, later(at, 10)).await.map(|found| found.is_some()), Ok(true));
    store.delete_expired(later(at, 10)).await.unwrap();
    store.keep(&bob, id(), result(&large, later(at, 100)), at).await.unwrap();
    assert_eq!(store.delete_expired(later(at, 1_000)).await, Ok(3));
}

#[track_caller]
fn assert_full(outcome: Result<(), StoreError>) {
    assert!(matches!(outcome, Err(StoreError::OwnerFull { .. })), "{outcome:?}");
}

async fn results_take_a_part_of_what_an_owner_may_keep(stores: &Stores) {
    stores.quota.set(40_000);
    let (ada, at) = (owner("ada"), now());
    let keep = |whose: Owner, bytes: usize| async move {
        stores.results.keep(&whose, id(), result(&"x".repeat(bytes), later(at, 60)), at).await
    };
    assert_full(keep(ada.clone(), 10_001).await);
    keep(ada.clone(), 9_000).await.unwrap();
    assert_full(keep(ada.clone(), 2_000).await);
    keep(owner("bob"), 2_000).await.unwrap();
    assert_full(keep(Owner::house(), 10_001).await);

    let memory = StoredValue { value: "x".repeat(29_000), labels: Labels::none() };
    stores.memory.put(&ada, "k", memory.clone()).await.unwrap();
    let said = stores.memory.put(&ada, "l", memory).await.unwrap_err().to_string();
    assert!(said.contains("results 9"), "{said}");
}

async fn results_are_limited_per_owner(store: &dyn ResultStore) {
    let (ada, at) = (owner("ada"), now());
    let ids: Vec<ResultId> = (0..RESULTS_PER_OWNER).map(|_| id()).collect();
    let keeps = ids.iter().map(|id| store.keep(&ada, *id, result("x", later(at, 60)), at));
    futures_util::future::try_join_all(keeps).await.unwrap();

    let refused = store.keep(&ada, id(), result("x", later(at, 60)), at).await;

    assert_eq!(refused, Err(StoreError::TooMany { what: "kept results", limit: RESULTS_PER_OWNER }));
    store.keep(&owner("bob"), id(), result("x", later(at, 60)), at).await.unwrap();
    store.keep(&ada, id(), result("x", later(at, 90)), later(at, 60)).await.unwrap();
}

async fn a_kept_result_is_not_counted_among_the_tasks(stores: &Stores) {
    let (ada, at) = (owner("ada"), now());
    stores.results.keep(&ada, id(), result("x", later(at, 60)), at).await.unwrap();

    assert_eq!(stores.tasks.counts(&ada).await, Ok(std::collections::BTreeMap::new()));
}

//! The rules of every store for claims: one holder at a time, until it releases the claim, the claim expires, or the
//! holder dies.

use super::super::{append, artifact, node, now};
use super::{HOUR, claim, due, due_at, ids, only, settle, waiting};
use crate::{ClaimOutcome, DuePushes, StoreError, Stores};

pub(super) async fn claims(fresh: impl Fn() -> Stores) {
    one_of_many_claims_wins(&fresh()).await;
    a_claim_that_is_held_is_not_due_and_one_that_is_over_is(&fresh()).await;
    a_lost_claim_settles_nothing(&fresh()).await;
    what_happens_during_a_claim_is_due_after_it(&fresh()).await;
    the_claims_of_the_dead_are_let_go(&fresh()).await;
}

async fn one_of_many_claims_wins(stores: &Stores) {
    let (_, row) = waiting(stores, "m").await;
    let claims = (2..10).map(|number| stores.pushes.claim(&row, node(number), now() + HOUR));

    let outcomes = futures_util::future::join_all(claims).await;

    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    let lost = outcomes.iter().filter(|outcome| outcome.is_err());
    assert!(lost.clone().all(|lost| *lost == Err(StoreError::Conflict)), "{:?}", lost.collect::<Vec<_>>());
}

async fn a_claim_that_is_held_is_not_due_and_one_that_is_over_is(stores: &Stores) {
    let (record, row) = waiting(stores, "m").await;
    let until = now() + HOUR;
    let held = stores.pushes.claim(&row, node(1), until).await.unwrap();
    assert_eq!(due(stores).await, DuePushes { rows: vec![], next: Some(until) });

    let longer = until + HOUR;
    settle(stores, held.clone(), 3, ClaimOutcome::Hold(longer)).await.unwrap();
    assert_eq!(due_at(stores, until).await, DuePushes { rows: vec![], next: Some(longer) });
    let over = due_at(stores, longer).await;
    assert_eq!(ids(&over), ["m"], "nothing was heard of it");
    settle(stores, held.clone(), 3, ClaimOutcome::Hold(longer)).await.unwrap();
    let next = stores.pushes.claim(&over.rows[0], node(2), longer + HOUR).await.unwrap();
    assert_eq!(settle(stores, held, record.seq, ClaimOutcome::Rest(now())).await, Err(StoreError::Conflict));
    let later = longer + HOUR;
    settle(stores, next, 3, ClaimOutcome::Later(later)).await.unwrap();
    assert_eq!(due_at(stores, longer).await, DuePushes { rows: vec![], next: Some(later) });
    assert_eq!(ids(&due_at(stores, later).await), ["m"]);
}

async fn a_lost_claim_settles_nothing(stores: &Stores) {
    let (record, row) = waiting(stores, "m").await;
    let first = claim(stores, &row).await;
    settle(stores, first.clone(), 2, ClaimOutcome::Later(now())).await.unwrap();

    assert_eq!(
        settle(stores, first, 3, ClaimOutcome::Rest(now())).await,
        Err(StoreError::Conflict),
        "the claim was released"
    );
    let left = only(stores, &record).await;
    assert_eq!(left.reached.seq, 2);
    claim(stores, &left).await;
}

async fn what_happens_during_a_claim_is_due_after_it(stores: &Stores) {
    let (record, row) = waiting(stores, "m").await;
    let held = claim(stores, &row).await;
    let told = record.seq;
    let record = append(&*stores.tasks, &record, vec![artifact("b")]).await;
    assert_eq!(due(stores).await.rows, []);

    settle(stores, held, told, ClaimOutcome::Rest(now())).await.unwrap();

    let rest = due(stores).await;
    assert_eq!((ids(&rest), rest.rows[0].reached.seq), (vec!["m"], told));
    let held = claim(stores, &rest.rows[0]).await;
    settle(stores, held, record.seq, ClaimOutcome::Rest(now())).await.unwrap();
    assert_eq!(due(stores).await, DuePushes { rows: vec![], next: None });
    append(&*stores.tasks, &record, vec![artifact("c")]).await;
    assert_eq!(ids(&due(stores).await), ["m"]);
}

async fn the_claims_of_the_dead_are_let_go(stores: &Stores) {
    let (_, dead) = waiting(stores, "dead").await;
    let (_, living) = waiting(stores, "living").await;
    let lost = stores.pushes.claim(&dead, node(2), now() + HOUR).await.unwrap();
    stores.pushes.claim(&living, node(1), now() + HOUR).await.unwrap();

    assert_eq!(stores.pushes.holders().await, Ok(vec![node(1), node(2)]));

    assert_eq!(stores.pushes.abandon(&[node(2), node(3)], now()).await, Ok(1));

    assert_eq!(ids(&due(stores).await), ["dead"]);
    assert_eq!(settle(stores, lost, 3, ClaimOutcome::Rest(now())).await, Err(StoreError::Conflict));
    assert_eq!(stores.pushes.abandon(&[node(2)], now()).await, Ok(0));
    assert_eq!(stores.pushes.holders().await, Ok(vec![node(1)]));
}

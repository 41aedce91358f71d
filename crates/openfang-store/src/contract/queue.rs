//! What every home must keep of the work queue.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::future::try_join_all;
use jiff::Timestamp;
use openfang_types::ids::{Owner, QueueItemId, RunId};
use openfang_types::limits::QUEUE_ENDED_KEPT;
use openfang_types::taint::{Label, Labels};

use super::{now, owner, tick};
use crate::{
    Completion, NewQueueItem, QueueClaim, QueueEnd, QueueHolder, QueueItem, QueueQuery, QueueState, QueueStore,
    StoreError, Stores,
};

const OPEN: usize = 10_000;
const LEASE: Duration = Duration::from_secs(60);

pub(crate) async fn queue(fresh: impl Fn() -> Stores) {
    an_item_is_claimed_and_completed_as_it_was_posted(&*fresh().queue).await;
    the_first_is_taken_by_priority_and_then_by_age(&*fresh().queue).await;
    an_item_for_a_worker_is_given_to_no_other(&*fresh().queue).await;
    a_lease_that_ends_gives_the_item_back_and_takes_it_from_its_worker(&*fresh().queue).await;
    an_item_that_nobody_completes_is_dead(&*fresh().queue).await;
    callers_without_a_run_say_which_claim_is_theirs(&*fresh().queue).await;
    a_worker_ends_its_claim_in_another_run_with_the_number_of_the_claim(&*fresh().queue).await;
    owners_share_nothing(&*fresh().queue).await;
    what_is_open_is_limited_and_what_has_ended_is_forgotten(&*fresh().queue).await;
    pages_follow_each_other_and_have_a_size(&*fresh().queue).await;
    items_count_for_what_an_owner_may_keep(&fresh()).await;
}

fn id() -> QueueItemId {
    format!("00000000-0000-4000-8000-{:012}", tick()).parse().unwrap()
}

fn run() -> QueueHolder {
    QueueHolder::Run(format!("00000000-0000-4000-9000-{:012}", tick()).parse::<RunId>().unwrap())
}

fn new_item(title: &str) -> NewQueueItem {
    NewQueueItem {
        id: id(),
        title: title.to_owned(),
        description: format!("how to {title}"),
        assigned_to: None,
        created_by: Some("poster".parse().unwrap()),
        priority: 0,
        labels: Labels::one(Label::ExternalNetwork, "a page"),
        at: now(),
    }
}

fn claim(holder: QueueHolder, at: Timestamp) -> QueueClaim {
    QueueClaim { worker: None, holder, at, lease_until: at + LEASE, attempts: 3 }
}

fn end(id: QueueItemId, holder: QueueHolder, at: Timestamp) -> QueueEnd {
    let labels = Labels::one(Label::Workspace, "a file");
    QueueEnd { id, worker: None, holder, attempt: None, is_failed: false, result: "done".to_owned(), labels, at }
}

fn all(at: Timestamp) -> QueueQuery {
    QueueQuery { state: None, before: None, limit: usize::MAX, max_bytes: usize::MAX, at }
}

async fn listed(store: &dyn QueueStore, owner: &Owner, query: QueueQuery) -> Vec<QueueItem> {
    store.list(owner, query).await.unwrap().items
}

async fn post(store: &dyn QueueStore, owner: &Owner, item: NewQueueItem) -> QueueItemId {
    let id = item.id;
    store.post(owner, item, OPEN).await.unwrap();
    id
}

async fn an_item_is_claimed_and_completed_as_it_was_posted(store: &dyn QueueStore) {
    let (ada, at, holder) = (owner("ada"), now(), run());
    assert_eq!(store.claim(&ada, claim(holder, at)).await, Ok(None));
    let posted = NewQueueItem { description: "a\0b \u{1f980}".to_owned(), ..new_item("") };
    store.post(&ada, posted.clone(), OPEN).await.unwrap();

    let claimed = store.claim(&ada, claim(holder, at)).await.unwrap().unwrap();
    let expected = QueueItem {
        posted: posted.clone(),
        state: QueueState::InProgress,
        attempt: 1,
        lease_until: Some(at + LEASE),
        result: None,
        changed_at: at,
    };
    assert_eq!(claimed, expected);
    assert_eq!(store.claim(&ada, claim(run(), at)).await, Ok(None));
    assert_eq!(store.complete(&ada, end(posted.id, run(), at)).await, Ok(Completion::NotHeld));
    assert_eq!(store.complete(&ada, end(posted.id, holder, at)).await, Ok(Completion::Done));
    assert_eq!(store.complete(&ada, end(posted.id, holder, at)).await, Ok(Completion::Ended(QueueState::Completed)));
    let result = Some(("done".to_owned(), Labels::one(Label::Workspace, "a file")));
    let completed = QueueItem { state: QueueState::Completed, lease_until: None, result, ..expected };
    assert_eq!(listed(store, &ada, all(at)).await, vec![completed]);
}

async fn the_first_is_taken_by_priority_and_then_by_age(store: &dyn QueueStore) {
    let (ada, at) = (owner("ada"), now());
    for (title, priority) in [("third", 0), ("fourth", 0), ("first", 5), ("second", 1), ("last", -1)] {
        post(store, &ada, NewQueueItem { priority, ..new_item(title) }).await;
    }
    for expected in ["first", "second", "third", "fourth", "last"] {
        let claimed = store.claim(&ada, claim(run(), at)).await.unwrap().unwrap();
        assert_eq!(claimed.posted.title, expected);
    }
}

async fn an_item_for_a_worker_is_given_to_no_other(store: &dyn QueueStore) {
    let (ada, at) = (owner("ada"), now());
    let of = |worker: &str| QueueClaim { worker: Some(worker.parse().unwrap()), ..claim(run(), at) };
    let assigned_to = Some("one".parse().unwrap());
    let item = post(store, &ada, NewQueueItem { assigned_to, priority: 9, ..new_item("x") }).await;
    let anybody = post(store, &ada, new_item("y")).await;

    assert_eq!(store.claim(&ada, of("two")).await.unwrap().map(|item| item.posted.id), Some(anybody));
    assert_eq!(store.claim(&ada, of("two")).await, Ok(None));
    assert_eq!(store.claim(&ada, claim(run(), at)).await, Ok(None));
    assert_eq!(store.claim(&ada, of("one")).await.unwrap().map(|item| item.posted.id), Some(item));
}

async fn a_lease_that_ends_gives_the_item_back_and_takes_it_from_its_worker(store: &dyn QueueStore) {
    let (ada, at, late, next) = (owner("ada"), now(), run(), run());
    let item = post(store, &ada, new_item("x")).await;
    store.claim(&ada, claim(late, at)).await.unwrap();
    let after = at + LEASE;

    let shown = listed(store, &ada, all(after)).await;
    assert_eq!((shown[0].state, shown[0].lease_until), (QueueState::Pending, None));
    let pending = QueueQuery { state: Some(QueueState::Pending), ..all(after) };
    assert_eq!(listed(store, &ada, pending.clone()).await.len(), 1);
    assert_eq!(listed(store, &ada, QueueQuery { at, ..pending }).await, vec![]);
    assert_eq!(store.complete(&ada, end(item, late, after)).await, Ok(Completion::NotHeld));
    let claimed = store.claim(&ada, claim(next, after)).await.unwrap().unwrap();
    assert_eq!((claimed.posted.id, claimed.attempt), (item, 2));
    assert_eq!(store.complete(&ada, end(item, late, after)).await, Ok(Completion::NotHeld));
    // A clock that jumps back lets nobody in either.
    assert_eq!(store.complete(&ada, end(item, late, at)).await, Ok(Completion::NotHeld));
    assert_eq!(store.claim(&ada, claim(run(), at)).await, Ok(None));
    assert_eq!(store.complete(&ada, end(item, next, after)).await, Ok(Completion::Done));
}

async fn an_item_that_nobody_completes_is_dead(store: &dyn QueueStore) {
    let (ada, mut at) = (owner("ada"), now());
    let item = post(store, &ada, new_item("x")).await;
    for attempt in 1..=3 {
        assert_eq!(store.claim(&ada, claim(run(), at)).await.unwrap().map(|item| item.attempt), Some(attempt));
        at += LEASE;
    }
    assert_eq!(store.claim(&ada, claim(run(), at)).await, Ok(None));
    let dead = QueueQuery { state: Some(QueueState::Dead), ..all(at) };
    assert_eq!(listed(store, &ada, dead).await[0].posted.id, item);
    assert_eq!(store.complete(&ada, end(item, run(), at)).await, Ok(Completion::Ended(QueueState::Dead)));
}

async fn callers_without_a_run_say_which_claim_is_theirs(store: &dyn QueueStore) {
    let (ada, at, caller) = (owner("ada"), now(), QueueHolder::Caller);
    let item = post(store, &ada, new_item("x")).await;
    assert_eq!(store.complete(&ada, end(item, caller, at)).await, Ok(Completion::NotClaimed));
    store.claim(&ada, claim(caller, at)).await.unwrap();
    let again = at + LEASE;
    store.claim(&ada, claim(caller, again)).await.unwrap();

    assert_eq!(store.complete(&ada, end(item, caller, again)).await, Ok(Completion::WhichClaim));
    let of = |attempt| QueueEnd { attempt: Some(attempt), is_failed: true, ..end(item, caller, again) };
    assert_eq!(store.complete(&ada, of(1)).await, Ok(Completion::NotHeld));
    assert_eq!(store.complete(&ada, of(2)).await, Ok(Completion::Done));
    assert_eq!(listed(store, &ada, all(again)).await[0].state, QueueState::Failed);
}

async fn a_worker_ends_its_claim_in_another_run_with_the_number_of_the_claim(store: &dyn QueueStore) {
    let (ada, at) = (owner("ada"), now());
    let worker = |name: &str| Some(name.parse().unwrap());
    let item = post(store, &ada, new_item("x")).await;
    store.claim(&ada, QueueClaim { worker: worker("one"), ..claim(run(), at) }).await.unwrap();
    let by = |name: &str, attempt| QueueEnd { worker: worker(name), attempt, ..end(item, run(), at) };

    assert_eq!(store.complete(&ada, by("one", None)).await, Ok(Completion::NotHeld));
    assert_eq!(store.complete(&ada, by("two", Some(1))).await, Ok(Completion::NotHeld));
    assert_eq!(store.complete(&ada, by("one", Some(2))).await, Ok(Completion::NotHeld));
    assert_eq!(store.complete(&ada, by("one", Some(1))).await, Ok(Completion::Done));
}

async fn owners_share_nothing(store: &dyn QueueStore) {
    let (ada, bob, at, holder) = (owner("ada"), owner("bob"), now(), run());
    let item = post(store, &ada, new_item("x")).await;

    assert_eq!(store.claim(&bob, claim(holder, at)).await, Ok(None));
    store.claim(&ada, claim(holder, at)).await.unwrap();
    assert_eq!(store.complete(&bob, end(item, holder, at)).await, Ok(Completion::Unknown));
    assert_eq!(listed(store, &bob, all(at)).await, vec![]);
    assert_eq!(listed(store, &bob, QueueQuery { before: Some(item), ..all(at) }).await, vec![]);
}

async fn what_is_open_is_limited_and_what_has_ended_is_forgotten(store: &dyn QueueStore) {
    let (ada, at) = (owner("ada"), now());
    let more = 5;
    for number in 0..QUEUE_ENDED_KEPT + more {
        let item = post(store, &ada, new_item(&number.to_string())).await;
        let refused = store.post(&ada, new_item("one more"), 1).await;
        assert_eq!(refused, Err(StoreError::TooMany { what: "open items of the queue", limit: 1 }));
        let (holder, at) = (run(), now());
        store.claim(&ada, claim(holder, at)).await.unwrap();
        assert_eq!(store.complete(&ada, end(item, holder, at)).await, Ok(Completion::Done));
    }
    let kept = listed(store, &ada, all(at)).await;
    assert_eq!((kept.len(), kept.last().unwrap().posted.title.as_str()), (QUEUE_ENDED_KEPT, "5"));
}

async fn pages_follow_each_other_and_have_a_size(store: &dyn QueueStore) {
    let (ada, at) = (owner("ada"), now());
    for number in 0..10 {
        post(store, &ada, new_item(&number.to_string())).await;
    }
    let (mut titles, mut before) = (String::new(), None);
    loop {
        let page = listed(store, &ada, QueueQuery { before, limit: 3, ..all(at) }).await;
        let Some(last) = page.last() else { break };
        before = Some(last.posted.id);
        titles.extend(page.iter().map(|item| item.posted.title.as_str()));
    }
    assert_eq!(titles, "9876543210");
    let has_more = async |limit| store.list(&ada, QueueQuery { limit, ..all(at) }).await.unwrap().has_more;
    assert_eq!((has_more(9).await, has_more(10).await), (true, false));
    assert_eq!(listed(store, &ada, QueueQuery { max_bytes: 1, ..all(at) }).await.len(), 1);
    assert_eq!(listed(store, &ada, QueueQuery { before: Some(id()), ..all(at) }).await, vec![]);
}

async fn items_count_for_what_an_owner_may_keep(stores: &Stores) {
    stores.quota.set(20_000);
    let (ada, store) = (owner("ada"), &stores.queue);
    let large = || NewQueueItem { description: "x".repeat(12_000), ..new_item("x") };
    post(&**store, &ada, large()).await;
    let full = store.post(&ada, large(), OPEN).await.unwrap_err();
    assert!(full.to_string().contains("queue 12"), "{full}");
    post(&**store, &owner("bob"), large()).await;
}

/// Workers on these stores, which share one queue, claim and complete so many items. Each item is done once.
pub(crate) async fn claimed_once(stores: &[Stores], workers: usize, items: usize) {
    let ada = owner("ada");
    for number in 0..items {
        post(&*stores[0].queue, &ada, new_item(&number.to_string())).await;
    }
    let work = (0..workers).map(|number| {
        let (store, ada) = (&stores[number % stores.len()].queue, &ada);
        async move {
            let (mut done, at) = (Vec::new(), now());
            loop {
                let holder = run();
                let Some(item) = store.claim(ada, claim(holder, at)).await? else { return Ok::<_, StoreError>(done) };
                assert_eq!(store.complete(ada, end(item.posted.id, holder, at)).await?, Completion::Done);
                done.push(item.posted.title);
            }
        }
    });
    let mut times: HashMap<String, usize> = HashMap::new();
    for title in try_join_all(work).await.unwrap().into_iter().flatten() {
        *times.entry(title).or_default() += 1;
    }
    assert_eq!((times.len(), times.values().max()), (items, Some(&1)));
}

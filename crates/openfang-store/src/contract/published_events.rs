//! What every home must keep of published events.

use std::time::Duration;

use jiff::Timestamp;
use openfang_types::ids::{EventType, Owner, PublishedEventId, TraceId};
use openfang_types::limits::{EVENT_RUNS_KEPT, EVENTS_KEPT};
use openfang_types::taint::{Label, Labels};

use super::{node, now, owner, tick};
use crate::{EventQuery, EventRoom, EventStore, NumberedEvent, PublishLimits, Published, PublishedEvent, Stores};

const ROOM: EventRoom = EventRoom { events: usize::MAX >> 2, bytes: usize::MAX >> 2 };
const LIMITS: PublishLimits =
    PublishLimits { of_type: u32::MAX, of_all: u32::MAX, period: Duration::from_secs(60), waiting: usize::MAX };

pub(crate) async fn published_events(fresh: impl Fn() -> Stores) {
    an_event_is_read_as_it_was_published(&*fresh().events).await;
    lists_have_a_type_and_a_size_and_owners_share_nothing(&*fresh().events).await;
    an_event_is_delivered_by_one_process(&*fresh().events).await;
    rates_are_counted_by_owner_and_type(&*fresh().events).await;
    the_latest_are_kept_and_what_waits_is_not_forgotten(&*fresh().events).await;
    what_led_to_a_run_is_remembered(&*fresh().events).await;
}

fn of(owner: &Owner, event_type: &str) -> PublishedEvent {
    let id: PublishedEventId = format!("00000000-0000-4000-8000-{:012}", tick()).parse().unwrap();
    PublishedEvent {
        id,
        owner: owner.clone(),
        event_type: event_type.parse().unwrap(),
        payload: Some("{\"a\":\"\u{1f980}\"}".to_owned()),
        labels: Labels::one(Label::ExternalNetwork, "a page"),
        created_by: Some("poster".parse().unwrap()),
        key: None,
        scope: "readers".to_owned(),
        chain: vec!["first".parse().unwrap()],
        at: now(),
    }
}

async fn publish(store: &dyn EventStore, event: &PublishedEvent) -> u64 {
    match store.publish(event.clone(), LIMITS).await.unwrap() {
        Published::Done(number) => number,
        refused => panic!("{refused:?}"),
    }
}

fn all() -> EventQuery {
    EventQuery { event_type: None, before: None, room: ROOM }
}

async fn an_event_is_read_as_it_was_published(store: &dyn EventStore) {
    let ada = owner("ada");
    assert_eq!(store.latest(&ada).await, Ok(0));
    let mut heard = store.changes();
    heard.mark_unchanged();
    let event = of(&ada, "build.done");
    let number = publish(store, &event).await;
    heard.changed().await.unwrap();
    let numbered = NumberedEvent { number, event };
    assert_eq!(store.latest(&ada).await, Ok(number));
    assert_eq!(store.list(&ada, all()).await, Ok(vec![numbered.clone()]));
    assert_eq!(store.after(&ada, number - 1, ROOM).await, Ok(vec![numbered]));
    assert_eq!(store.after(&ada, number, ROOM).await, Ok(vec![]));
}

async fn lists_have_a_type_and_a_size_and_owners_share_nothing(store: &dyn EventStore) {
    let (ada, bob) = (owner("ada"), owner("bob"));
    let mut numbers = Vec::new();
    for event_type in ["a", "b", "a", "b"] {
        numbers.push(publish(store, &of(&ada, event_type)).await);
    }
    let listed = async |query: EventQuery| -> Vec<u64> {
        store.list(&ada, query).await.unwrap().iter().map(|known| known.number).collect()
    };
    let event_type: Option<EventType> = Some("a".parse().unwrap());
    assert_eq!(listed(EventQuery { event_type, ..all() }).await, [numbers[2], numbers[0]]);
    assert_eq!(listed(EventQuery { before: Some(numbers[2]), ..all() }).await, [numbers[1], numbers[0]]);
    let two = EventRoom { events: 2, ..ROOM };
    assert_eq!(listed(EventQuery { room: two, ..all() }).await, [numbers[3], numbers[2]]);
    let little = EventRoom { bytes: 1, ..ROOM };
    assert_eq!(listed(EventQuery { room: little, ..all() }).await, [numbers[3]]);
    assert_eq!(store.list(&bob, all()).await, Ok(vec![]));
    assert_eq!(store.after(&bob, 0, ROOM).await, Ok(vec![]));
}

async fn an_event_is_delivered_by_one_process(store: &dyn EventStore) {
    let number = publish(store, &of(&owner("ada"), "a")).await;
    assert_eq!(store.waiting(10).await.unwrap().len(), 1);
    assert_eq!(store.claim(number, node(1), None).await, Ok(true));
    assert_eq!(store.claim(number, node(2), None).await, Ok(false));
    assert_eq!(store.waiting(10).await, Ok(vec![]));
    assert_eq!(store.claimed(10).await.unwrap().remove(0).1, node(1));
    assert_eq!(store.claim(number, node(2), Some(node(1))).await, Ok(true));
    assert_eq!(store.claim(number, node(3), Some(node(1))).await, Ok(false));
    store.delivered(number).await.unwrap();
    assert_eq!((store.waiting(10).await, store.claimed(10).await), (Ok(vec![]), Ok(vec![])));
    assert_eq!(store.claim(number, node(1), None).await, Ok(false));
}

async fn rates_are_counted_by_owner_and_type(store: &dyn EventStore) {
    let (ada, bob) = (owner("ada"), owner("bob"));
    let limits = PublishLimits { of_type: 2, of_all: 3, ..LIMITS };
    let at = |event: PublishedEvent, at: Timestamp| PublishedEvent { at, ..event };
    let begin = now();
    for (event_type, expected) in
        [("a", None), ("a", None), ("a", Some(Published::TooManyOfType)), ("b", None), ("b", Some(Published::TooMany))]
    {
        let published = store.publish(at(of(&ada, event_type), begin), limits).await.unwrap();
        assert_eq!(Some(published).filter(|done| !matches!(done, Published::Done(_))), expected);
    }
    let other = store.publish(at(of(&bob, "a"), begin), limits).await;
    assert!(matches!(other, Ok(Published::Done(_))));
    let later = store.publish(at(of(&ada, "a"), begin + Duration::from_secs(61)), limits).await;
    assert!(matches!(later, Ok(Published::Done(_))));
    let waiting = PublishLimits { waiting: 4, ..LIMITS };
    assert_eq!(store.publish(of(&ada, "c"), waiting).await, Ok(Published::TooManyWaiting));
}

async fn the_latest_are_kept_and_what_waits_is_not_forgotten(store: &dyn EventStore) {
    let (ada, bob) = (owner("ada"), owner("bob"));
    let waits = publish(store, &of(&ada, "waits")).await;
    let kept = publish(store, &of(&bob, "a")).await;
    for _ in 0..EVENTS_KEPT + 2 {
        let number = publish(store, &PublishedEvent { payload: None, ..of(&ada, "a") }).await;
        store.delivered(number).await.unwrap();
    }
    let listed = store.list(&ada, all()).await.unwrap();
    assert!((EVENTS_KEPT..=EVENTS_KEPT + 1).contains(&listed.len()), "{}", listed.len());
    assert_eq!(listed.last().map(|known| known.number), Some(waits));
    assert_eq!(store.list(&bob, all()).await.unwrap()[0].number, kept);
}

async fn what_led_to_a_run_is_remembered(store: &dyn EventStore) {
    let (ada, bob) = (owner("ada"), owner("bob"));
    let trace = |number: usize| -> TraceId { format!("00000000-0000-4000-a000-{number:012}").parse().unwrap() };
    let chain = vec!["a".parse().unwrap(), "b".parse().unwrap()];
    store.add_run(&bob, trace(0), chain.clone()).await.unwrap();
    store.add_run(&ada, trace(1), chain.clone()).await.unwrap();
    assert_eq!(store.chain_of(trace(1)).await, Ok(chain.clone()));
    assert_eq!(store.chain_of(trace(2)).await, Ok(vec![]));
    futures_util::future::try_join_all(
        (2..EVENT_RUNS_KEPT + 2).map(|number| store.add_run(&ada, trace(number), vec![])),
    )
    .await
    .unwrap();
    assert_eq!(store.chain_of(trace(1)).await, Ok(vec![]));
    assert_eq!(store.chain_of(trace(0)).await, Ok(chain));
}

//! What every home must keep of schedules.

use std::time::Duration;

use jiff::Timestamp;
use openfang_types::ids::{Owner, ScheduleId, TraceId};
use openfang_types::limits::SCHEDULES_ENDED_KEPT;
use openfang_types::taint::{Label, Labels};

use super::{node, now, owner, tick};
use crate::{DueSchedules, Schedule, ScheduleOutcome, ScheduleRun, ScheduleState, ScheduleStore, StoreError, Stores};

const LIMIT: usize = 100;

pub(crate) async fn schedules(fresh: impl Fn() -> Stores) {
    a_schedule_is_read_as_it_was_written(&*fresh().schedules).await;
    what_is_due_comes_in_order_and_only_while_nothing_runs(&*fresh().schedules).await;
    a_change_of_an_older_version_is_refused(&*fresh().schedules).await;
    a_schedule_that_is_removed_in_its_run_is_remembered_until_the_run_ends(&*fresh().schedules).await;
    owners_share_nothing(&*fresh().schedules).await;
    open_ones_are_limited_and_ended_ones_are_forgotten(&*fresh().schedules).await;
}

fn id() -> ScheduleId {
    format!("00000000-0000-4000-8000-{:012}", tick()).parse().unwrap()
}

fn trace() -> TraceId {
    format!("00000000-0000-4000-a000-{:012}", tick()).parse().unwrap()
}

fn of(owner: &Owner, next_at: Option<Timestamp>) -> Schedule {
    Schedule {
        id: id(),
        owner: owner.clone(),
        description: "say \0 \u{1f980}".to_owned(),
        labels: Labels::one(Label::Workspace, "a file"),
        timing: "cron 0 9 * * *".to_owned(),
        time_zone: "Europe/Berlin".to_owned(),
        agent: "starter".parse().unwrap(),
        created_by: Some("planner".parse().unwrap()),
        key: Some("0123456789ab".parse().unwrap()),
        scope: "readers=user".to_owned(),
        created_at: now(),
        state: ScheduleState::Active,
        reason: None,
        next_at,
        run: None,
        trace: None,
        last: None,
        failures: 0,
        version: 0,
    }
}

fn running(schedule: &Schedule, next_at: Option<Timestamp>) -> Schedule {
    let run = ScheduleRun { node: node(1), due: schedule.next_at.unwrap() };
    Schedule { run: Some(run), trace: Some(trace()), next_at, ..schedule.clone() }
}

async fn a_schedule_is_read_as_it_was_written(store: &dyn ScheduleStore) {
    let ada = owner("ada");
    let schedule = of(&ada, Some(now()));
    store.create(schedule.clone(), LIMIT).await.unwrap();
    assert_eq!(store.get(&ada, schedule.id).await, Ok(Some(schedule.clone())));
    let newer = of(&ada, None);
    store.create(newer.clone(), LIMIT).await.unwrap();
    assert_eq!(store.list(&ada).await, Ok(vec![newer, schedule.clone()]));

    let last = ScheduleOutcome { due: now(), task: None, outcome: "skipped".to_owned() };
    let changed = Schedule {
        state: ScheduleState::Paused,
        reason: Some("why".to_owned()),
        last: Some(last),
        failures: 5,
        ..schedule
    };
    let stored = store.update(changed.clone()).await.unwrap();
    assert_eq!(stored, Schedule { version: 1, ..changed });
    assert_eq!(store.get(&ada, stored.id).await, Ok(Some(stored)));
}

async fn what_is_due_comes_in_order_and_only_while_nothing_runs(store: &dyn ScheduleStore) {
    let (ada, bob, begin) = (owner("ada"), owner("bob"), now());
    let at = |seconds| Some(begin + Duration::from_secs(seconds));
    let (late, early, never) = (of(&ada, at(20)), of(&bob, at(10)), of(&ada, None));
    for schedule in [&late, &early, &never] {
        store.create(schedule.clone(), LIMIT).await.unwrap();
    }
    let due = |seconds| store.due(begin + Duration::from_secs(seconds), LIMIT);

    assert_eq!(due(9).await, Ok(DueSchedules { schedules: vec![], next: at(10) }));
    assert_eq!(due(10).await, Ok(DueSchedules { schedules: vec![early.clone()], next: at(20) }));
    assert_eq!(due(20).await, Ok(DueSchedules { schedules: vec![early.clone(), late.clone()], next: None }));
    let one = store.due(begin + Duration::from_secs(20), 1).await.unwrap();
    assert_eq!(one.schedules, vec![early.clone()]);

    let claimed = store.update(running(&early, at(70))).await.unwrap();
    assert_eq!(due(100).await.unwrap().schedules, vec![late.clone()]);
    assert_eq!(store.running().await, Ok(vec![claimed.clone()]));
    assert_eq!(store.has_started(claimed.trace.unwrap()).await, Ok(true));
    assert_eq!(store.has_started(trace()).await, Ok(false));
    let ended = store.update(Schedule { run: None, ..claimed.clone() }).await.unwrap();
    assert_eq!(store.running().await, Ok(vec![]));
    assert_eq!(store.has_started(claimed.trace.unwrap()).await, Ok(true));
    store.update(Schedule { state: ScheduleState::Paused, ..late.clone() }).await.unwrap();
    assert_eq!(due(100).await, Ok(DueSchedules { schedules: vec![ended], next: None }));
}

async fn a_change_of_an_older_version_is_refused(store: &dyn ScheduleStore) {
    let ada = owner("ada");
    let schedule = of(&ada, Some(now()));
    store.create(schedule.clone(), LIMIT).await.unwrap();
    store.update(running(&schedule, None)).await.unwrap();
    assert_eq!(store.update(running(&schedule, None)).await, Err(StoreError::Conflict));
    assert_eq!(store.update(of(&ada, None)).await, Err(StoreError::NotFound));
}

async fn a_schedule_that_is_removed_in_its_run_is_remembered_until_the_run_ends(store: &dyn ScheduleStore) {
    let ada = owner("ada");
    let schedule = of(&ada, Some(now()));
    store.create(schedule.clone(), LIMIT).await.unwrap();
    let claimed = store.update(running(&schedule, Some(now()))).await.unwrap();

    assert_eq!(store.delete(&ada, schedule.id).await, Ok(true));
    assert_eq!(store.delete(&ada, schedule.id).await, Ok(false));
    assert_eq!((store.get(&ada, schedule.id).await, store.list(&ada).await), (Ok(None), Ok(vec![])));
    assert_eq!(store.has_started(claimed.trace.unwrap()).await, Ok(true));
    assert_eq!(store.update(Schedule { run: None, ..claimed.clone() }).await, Err(StoreError::Conflict));
    let left = store.running().await.unwrap().remove(0);
    assert_eq!(left.state, ScheduleState::Deleted);
    store.update(Schedule { run: None, ..left }).await.unwrap();
    assert_eq!((store.running().await, store.has_started(claimed.trace.unwrap()).await), (Ok(vec![]), Ok(false)));
}

async fn owners_share_nothing(store: &dyn ScheduleStore) {
    let (ada, bob) = (owner("ada"), owner("bob"));
    let schedule = of(&ada, None);
    store.create(schedule.clone(), LIMIT).await.unwrap();
    assert_eq!(store.get(&bob, schedule.id).await, Ok(None));
    assert_eq!(store.delete(&bob, schedule.id).await, Ok(false));
    assert_eq!(store.list(&bob).await, Ok(vec![]));
    assert_eq!(store.delete(&ada, schedule.id).await, Ok(true));
    assert_eq!(store.list(&ada).await, Ok(vec![]));
}

async fn open_ones_are_limited_and_ended_ones_are_forgotten(store: &dyn ScheduleStore) {
    let (ada, bob) = (owner("ada"), owner("bob"));
    for _ in 0..SCHEDULES_ENDED_KEPT + 3 {
        let schedule = of(&ada, None);
        store.create(schedule.clone(), 1).await.unwrap();
        store.update(Schedule { state: ScheduleState::Ended, ..schedule }).await.unwrap();
    }
    assert_eq!(store.list(&ada).await.unwrap().len(), SCHEDULES_ENDED_KEPT);
    let paused = Schedule { state: ScheduleState::Paused, ..of(&ada, None) };
    store.create(paused, 1).await.unwrap();
    let full = StoreError::TooMany { what: "schedules", limit: 1 };
    assert_eq!(store.create(of(&ada, None), 1).await, Err(full));
    assert_eq!(store.create(of(&bob, None), 1).await, Ok(()));
}

/// Two processes see the same due schedule, and one of them starts it. Whoever waits hears of it.
pub(crate) async fn started_once(one: &Stores, other: &Stores) {
    let ada = owner("ada");
    let mut heard = other.schedules.changes();
    let schedule = of(&ada, Some(now()));
    one.schedules.create(schedule, LIMIT).await.unwrap();
    heard.changed().await.unwrap();
    for _ in 0..50 {
        let seen = other.schedules.due(now(), 1).await.unwrap().schedules.remove(0);
        let (here, there) =
            tokio::join!(one.schedules.update(running(&seen, None)), other.schedules.update(running(&seen, None)));
        assert!(here.is_ok() ^ there.is_ok(), "{here:?} {there:?}");
        let claimed = here.or(there).unwrap();
        one.schedules
            .update(Schedule { run: None, next_at: Some(now()), ..claimed })
            .await
            .unwrap();
    }
}

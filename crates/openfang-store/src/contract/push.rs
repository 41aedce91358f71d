//! The rules of every store for push configurations: their owners, due times and claims.

use std::time::Duration;

use jiff::Timestamp;
use openfang_types::event::Seq;
use openfang_types::ids::TaskId;
use openfang_types::limits::PUSH_GIVEN_UP;
use openfang_types::secret::Secret;
use openfang_types::task::{Origin, TaskState};

use super::{append, artifact, create, end, new_task, node, now, owner, status};
use crate::{
    ClaimOutcome, ClaimProgress, Created, DeliveryProgress, DuePushes, DueQuery, NewPush, NewTask, PushAuthorization,
    PushClaim, PushConfig, PushRow, StoreError, Stores, TaskRecord,
};

mod claims;

const HOUR: Duration = Duration::from_secs(3_600);

pub(crate) async fn pushes(fresh: impl Fn() -> Stores) {
    a_configuration_is_what_was_set(&fresh()).await;
    one_of_the_same_id_is_replaced_and_goes_on_where_it_was(&fresh()).await;
    there_are_so_many_for_a_task_and_no_more(&fresh()).await;
    somebody_elses_look_like_none(&fresh()).await;
    what_is_taken_away_is_gone_and_never_due(&fresh()).await;
    it_is_due_when_something_happens_and_not_before(&fresh()).await;
    one_that_came_with_its_task_is_due_from_the_beginning(&fresh()).await;
    those_that_waited_longest_come_first_and_some_are_passed_over(&fresh()).await;
    one_that_was_given_up_too_often_is_left_alone_until_it_is_replaced(&fresh()).await;
    whoever_delivers_is_woken(&fresh()).await;
    claims::claims(fresh).await;
}

/// The same, where one process writes and another delivers.
pub(crate) async fn pushes_across_processes(here: &Stores, there: &Stores) {
    let record = made(here, "m").await;
    here.pushes.set(new(&record, "p")).await.unwrap();
    append(&*here.tasks, &record, vec![artifact("a")]).await;

    let seen = due(there).await.rows;
    let claims = [here, there].map(|stores| stores.pushes.claim(&seen[0], node(3), now() + HOUR));
    let outcomes = futures_util::future::join_all(claims).await;

    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    assert_eq!((due(here).await.rows, due(there).await.rows), (vec![], vec![]));
    assert_eq!(there.pushes.holders().await, Ok(vec![node(3)]));
    assert_eq!(there.pushes.abandon(&[node(3)], now()).await, Ok(1));
    assert_eq!(due(here).await.rows.len(), 1);
}

fn config(id: &str) -> PushConfig {
    PushConfig {
        id: id.to_owned(),
        url: format!("https://hooks.example.com/{id}?key=\u{1f980}"),
        host: "hooks.example.com".to_owned(),
        token: Some(Secret::new("token'\"".to_owned())),
        authorization: Some(PushAuthorization {
            scheme: "Bearer".to_owned(),
            credentials: Some(Secret::new("credentials".to_owned())),
        }),
        origin: Origin::V03,
        maker: Some("key 4f1c0a9d27be".to_owned()),
    }
}

fn new(record: &TaskRecord, id: &str) -> NewPush {
    NewPush { owner: record.owner.clone(), task: record.task.id, config: config(id), limit: 50, at: now() }
}

async fn made(stores: &Stores, message: &str) -> TaskRecord {
    create(&*stores.tasks, new_task(&owner("ada"), message)).await
}

/// A configuration of a new task, with one event to deliver.
async fn waiting(stores: &Stores, message: &str) -> (TaskRecord, PushRow) {
    let record = made(stores, message).await;
    stores.pushes.set(new(&record, message)).await.unwrap();
    let record = append(&*stores.tasks, &record, vec![artifact("a")]).await;
    let row = only(stores, &record).await;
    (record, row)
}

async fn only(stores: &Stores, record: &TaskRecord) -> PushRow {
    let mut rows = stores.pushes.list(&record.owner, record.task.id).await.unwrap();
    assert_eq!(rows.len(), 1);
    rows.pop().unwrap()
}

async fn due(stores: &Stores) -> DuePushes {
    due_at(stores, now()).await
}

async fn due_at(stores: &Stores, now: Timestamp) -> DuePushes {
    let query = DueQuery { now, except_hosts: Vec::new(), except_owners: Vec::new(), limit: 100 };
    stores.pushes.due(query).await.unwrap()
}

fn ids(due: &DuePushes) -> Vec<&str> {
    due.rows.iter().map(|row| row.config.id.as_str()).collect()
}

async fn claim(stores: &Stores, row: &PushRow) -> PushClaim {
    stores.pushes.claim(row, node(1), now() + HOUR).await.unwrap()
}

async fn settle(stores: &Stores, claim: PushClaim, seq: Seq, then: ClaimOutcome) -> Result<(), StoreError> {
    let reached = DeliveryProgress { seq, ..DeliveryProgress::default() };
    stores.pushes.record_progress(claim, ClaimProgress { reached, then }).await
}

async fn a_configuration_is_what_was_set(stores: &Stores) {
    let record = made(stores, "m").await;
    let bare = PushConfig { token: None, authorization: None, origin: Origin::V10, maker: None, ..config("bare") };
    let no_secret = PushAuthorization { scheme: "Basic".to_owned(), credentials: None };
    let half = PushConfig { authorization: Some(no_secret), ..config("half") };
    let mut expected = Vec::new();
    for config in [config("full"), bare, half] {
        let new = NewPush { config, ..new(&record, "p") };
        let row = stores.pushes.set(new.clone()).await.unwrap();

        let reached = DeliveryProgress { seq: record.seq, ..DeliveryProgress::default() };
        let NewPush { owner, task, config, at, .. } = new;
        assert_eq!(row, PushRow { owner, task, config, created_at: at, reached, due_at: None, version: 1 });
        expected.push(row);
    }

    assert_eq!(stores.pushes.list(&record.owner, record.task.id).await.unwrap(), expected);
    let other = made(stores, "other").await;
    assert_eq!(stores.pushes.list(&other.owner, other.task.id).await.unwrap(), []);
}

async fn one_of_the_same_id_is_replaced_and_goes_on_where_it_was(stores: &Stores) {
    let (record, row) = waiting(stores, "m").await;
    let held = claim(stores, &row).await;
    let failed = DeliveryProgress { attempts: 3, given_up: 2, outcome: Some("500".to_owned()), ..row.reached.clone() };
    stores
        .pushes
        .record_progress(held.clone(), ClaimProgress { reached: failed, then: ClaimOutcome::Hold(now() + HOUR) })
        .await
        .unwrap();
    let elsewhere = PushConfig { url: "https://other.example.com/".to_owned(), token: None, ..config("m") };

    let replaced = stores
        .pushes
        .set(NewPush { config: elsewhere.clone(), ..new(&record, "m") })
        .await
        .unwrap();

    assert_eq!(replaced.config, elsewhere);
    assert_eq!(replaced.reached, DeliveryProgress { seq: row.reached.seq, ..DeliveryProgress::default() });
    assert_eq!((replaced.created_at, only(stores, &record).await), (row.created_at, replaced.clone()));
    assert_eq!(ids(&due(stores).await), ["m"], "what it had to tell is told to the new place");
    assert_eq!(settle(stores, held, record.seq, ClaimOutcome::Rest(now())).await, Err(StoreError::Conflict));
    let held = claim(stores, &replaced).await;
    settle(stores, held, record.seq, ClaimOutcome::Rest(now())).await.unwrap();
    assert_eq!(stores.pushes.set(new(&record, "m")).await.unwrap().due_at, None);
}

async fn there_are_so_many_for_a_task_and_no_more(stores: &Stores) {
    let (record, other) = (made(stores, "m").await, made(stores, "other").await);
    let limited = |record, id| NewPush { limit: 2, ..new(record, id) };
    for id in ["a", "b"] {
        stores.pushes.set(limited(&record, id)).await.unwrap();
    }

    assert_eq!(stores.pushes.set(limited(&record, "c")).await, Err(StoreError::TooManyPushes { limit: 2 }));
    stores.pushes.set(limited(&record, "b")).await.unwrap();
    stores.pushes.set(limited(&other, "c")).await.unwrap();
    stores.pushes.delete(&record.owner, record.task.id, "a").await.unwrap();
    stores.pushes.set(limited(&record, "c")).await.unwrap();
}

async fn somebody_elses_look_like_none(stores: &Stores) {
    let record = made(stores, "m").await;
    let bob = owner("bob");
    stores.pushes.set(new(&record, "p")).await.unwrap();
    let nothing: TaskId = new_task(&bob, "x").id;
    for task in [record.task.id, nothing] {
        let set = NewPush { owner: bob.clone(), task, ..new(&record, "p") };
        assert_eq!(stores.pushes.set(set).await, Err(StoreError::NotFound));
        assert_eq!(stores.pushes.list(&bob, task).await, Err(StoreError::NotFound));
        assert_eq!(stores.pushes.delete(&bob, task, "p").await, Err(StoreError::NotFound));
    }

    only(stores, &record).await;
}

async fn what_is_taken_away_is_gone_and_never_due(stores: &Stores) {
    let (record, row) = waiting(stores, "m").await;
    let held = claim(stores, &row).await;
    for _ in 0..2 {
        stores.pushes.delete(&record.owner, record.task.id, "m").await.unwrap();
    }

    assert_eq!(stores.pushes.list(&record.owner, record.task.id).await.unwrap(), []);
    assert_eq!(settle(stores, held, record.seq, ClaimOutcome::Later(now())).await, Err(StoreError::Conflict));
    append(&*stores.tasks, &record, vec![artifact("b")]).await;
    assert_eq!(due(stores).await, DuePushes { rows: vec![], next: None });
    assert_eq!(stores.pushes.claim(&row, node(1), now()).await, Err(StoreError::Conflict));
}

async fn it_is_due_when_something_happens_and_not_before(stores: &Stores) {
    let record = made(stores, "m").await;
    stores.pushes.set(new(&record, "m")).await.unwrap();
    assert_eq!(due(stores).await, DuePushes { rows: vec![], next: None });

    let record = append(&*stores.tasks, &record, Vec::new()).await;
    assert_eq!(due(stores).await.rows, [], "a write without events tells nothing");
    let record = append(&*stores.tasks, &record, vec![status(TaskState::Working), artifact("a")]).await;
    let told = due(stores).await;
    assert_eq!(ids(&told), ["m"]);
    assert_eq!(told.rows[0].reached.seq, 2, "what happened before it was set is not told");
    end(&*stores.tasks, &record.owner, record.task.id, TaskState::Completed).await;
    assert_eq!(ids(&due(stores).await), ["m"]);
}

async fn one_that_came_with_its_task_is_due_from_the_beginning(stores: &Stores) {
    let new = NewTask { push: Some(config("p")), ..new_task(&owner("ada"), "m") };
    assert!(matches!(stores.tasks.create(new.clone()).await, Ok(Created::New(_))));

    let told = due(stores).await;
    assert_eq!((ids(&told), told.rows[0].reached.seq), (vec!["p"], 0));
    let again = NewTask { push: Some(config("q")), id: new_task(&new.owner, "x").id, ..new.clone() };
    assert_eq!(stores.tasks.create(again).await, Ok(Created::Known(new.id)));
    assert_eq!(ids(&due(stores).await), ["p"], "the same message adds nothing");
}

async fn those_that_waited_longest_come_first_and_some_are_passed_over(stores: &Stores) {
    let bob = create(&*stores.tasks, new_task(&owner("bob"), "m")).await;
    let mut records = vec![bob];
    for message in ["1", "2", "3"] {
        records.push(made(stores, message).await);
    }
    for (record, id) in records.iter().zip(["bob", "one", "two", "three"]) {
        let host = if id == "two" { "quiet.example.com" } else { "hooks.example.com" };
        let config = PushConfig { host: host.to_owned(), ..config(id) };
        stores.pushes.set(NewPush { config, ..new(record, id) }).await.unwrap();
    }
    for index in [2, 0, 3, 1] {
        append(&*stores.tasks, &records[index], vec![artifact("a")]).await;
    }
    let all = DueQuery { now: now(), except_hosts: vec![], except_owners: vec![], limit: 100 };
    let found = async |query: DueQuery| {
        let due = stores.pushes.due(query).await.unwrap();
        ids(&due).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };

    assert_eq!(found(all.clone()).await, ["two", "bob", "three", "one"]);
    assert_eq!(found(DueQuery { limit: 3, ..all.clone() }).await, ["two", "bob", "three"]);
    assert_eq!(found(DueQuery { except_owners: vec![owner("bob")], ..all.clone() }).await, ["two", "three", "one"]);
    let hosts = vec!["quiet.example.com".to_owned(), "it's \"none\"".to_owned()];
    assert_eq!(found(DueQuery { except_hosts: hosts, limit: 2, ..all }).await, ["bob", "three"]);
}

async fn one_that_was_given_up_too_often_is_left_alone_until_it_is_replaced(stores: &Stores) {
    let (record, row) = waiting(stores, "m").await;
    let held = claim(stores, &row).await;
    let outcome = Some("nobody there".to_owned());
    let reached = DeliveryProgress { given_up: PUSH_GIVEN_UP, outcome, ..row.reached };
    stores
        .pushes
        .record_progress(held, ClaimProgress { reached: reached.clone(), then: ClaimOutcome::Rest(now()) })
        .await
        .unwrap();

    let record = append(&*stores.tasks, &record, vec![artifact("b")]).await;

    assert_eq!(due(stores).await, DuePushes { rows: vec![], next: None });
    assert_eq!(only(stores, &record).await.reached, reached);
    stores.pushes.set(new(&record, "m")).await.unwrap();
    assert_eq!(ids(&due(stores).await), ["m"]);
}

async fn whoever_delivers_is_woken(stores: &Stores) {
    let mut woken = stores.pushes.waiting();
    let record = made(stores, "m").await;
    append(&*stores.tasks, &record, vec![artifact("a")]).await;
    assert!(!woken.has_changed().unwrap(), "there is nobody to tell");

    stores.pushes.set(new(&record, "m")).await.unwrap();
    assert!(woken.has_changed().unwrap());
    woken.mark_unchanged();
    let record = stores.tasks.get(&record.owner, record.task.id).await.unwrap();
    append(&*stores.tasks, &record, vec![artifact("b")]).await;
    assert!(woken.has_changed().unwrap());
    woken.mark_unchanged();
    stores
        .tasks
        .create(NewTask { push: Some(config("p")), ..new_task(&owner("ada"), "n") })
        .await
        .unwrap();
    assert!(woken.has_changed().unwrap());
}

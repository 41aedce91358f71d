//! The rules of every task store for single tasks: their states and owners.

use std::collections::BTreeMap;

use openfang_types::taint::{Label, Labels};
use openfang_types::task::{Message, Origin, Part, Role, TaskState, TaskStatus};
use serde_json::json;

use super::{append, artifact, create, end, events, finished_task, lists, new_task, now, owner, query, status, write};
use crate::{Append, Created, NewTask, Stamp, StoreError, TaskRecord, TaskStore};

pub(crate) async fn tasks(fresh: impl Fn() -> Box<dyn TaskStore>) {
    a_task_is_what_was_written(&*fresh()).await;
    content_is_kept_to_the_last_digit(&*fresh()).await;
    a_create_may_carry_a_whole_life(&*fresh()).await;
    a_create_that_breaks_the_rules_makes_nothing(&*fresh()).await;
    terminal_states_never_change(&*fresh()).await;
    a_stale_version_writes_nothing(&*fresh()).await;
    somebody_elses_task_looks_like_none(&*fresh()).await;
    the_same_message_makes_one_task(&*fresh()).await;
    an_id_is_taken_once(&*fresh()).await;
    a_name_of_a_peer_finds_its_own_task(&*fresh()).await;
    live_tasks_are_limited_per_owner(&*fresh()).await;
    labels_only_grow(&*fresh()).await;
    a_write_without_events_counts_as_a_write(&*fresh()).await;
    events::events(&fresh).await;
    lists::lists(&fresh).await;
}

async fn a_task_is_what_was_written(store: &dyn TaskStore) {
    let ada = owner("ada");
    let new = NewTask { labels: Labels::one(Label::User, "rest"), ..new_task(&ada, "m") };
    let (mut task, first) = (new.task(), new.first_events());
    let stamp = match store.create(new.clone()).await.unwrap() {
        Created::New(stamp) => stamp,
        Created::Known(_) => panic!("it is the first one"),
    };
    assert_eq!(stamp, Stamp { version: 1, seq: 2 });

    let says = Message::text("r".parse().unwrap(), Role::Agent, "which one?");
    let asks = TaskStatus { state: TaskState::InputRequired, message: Some(says), timestamp: now() };
    let more = vec![status(TaskState::Working), artifact("a"), openfang_types::event::EventBody::Status(asks)];
    let read = store.get(&ada, new.id).await.unwrap();
    let stamp = store.append(write(&read, more.clone())).await.unwrap();

    for body in first.iter().chain(&more) {
        task.apply(body);
    }
    let expected = TaskRecord {
        task,
        owner: ada.clone(),
        version: stamp.version,
        seq: stamp.seq,
        labels: new.labels,
        trace: new.trace,
        origin: new.origin,
        peer_name: new.peer_name,
        created_at: new.at,
        node: new.node,
        attempt: 1,
    };
    assert_eq!(stamp, Stamp { version: 2, seq: 5 });
    assert_eq!(store.get(&ada, new.id).await.unwrap(), expected);
    assert_eq!(store.list(&query(&ada)).await.unwrap().tasks, [expected]);
}

async fn a_name_of_a_peer_finds_its_own_task(store: &dyn TaskStore) {
    let (ada, bob) = (owner("ada"), owner("bob"));
    let name: openfang_types::ids::TaskName = "mine".parse().unwrap();
    let named =
        |owner, message| NewTask { peer_name: Some(name.clone()), origin: Origin::V01, ..new_task(owner, message) };
    let first = create(store, named(&ada, "1")).await;
    assert_eq!(first.peer_name, Some(name.clone()));
    assert_eq!(first.origin, Origin::V01);
    assert_eq!(store.find(&ada, &name).await, Ok(first.task.id));
    assert_eq!(store.find(&bob, &name).await, Err(StoreError::NotFound));

    assert_eq!(store.create(named(&ada, "2")).await, Ok(Created::Known(first.task.id)));
    let other = create(store, named(&bob, "1")).await;
    assert_eq!(store.find(&bob, &name).await, Ok(other.task.id));
}

async fn content_is_kept_to_the_last_digit(store: &dyn TaskStore) {
    let ada = owner("ada");
    let numbers = json!([183.64207777613782, 0.1, 5e-324, 1.7976931348623157e308, u64::MAX, i64::MIN]);
    let parts = vec![
        Part::data(json!({"numbers": numbers, "null": null, "z": 1, "a": {"": "\u{0}\u{2028}\u{1f980}"}})),
        Part::file((0..=255).collect(), Some("all.bin".into()), Some("application/octet-stream".into())),
        Part::text("it's \"quoted\"\n"),
    ];
    let new = new_task(&ada, "m");
    let message = Message { parts, ..new.message };

    let record = create(store, NewTask { message: message.clone(), ..new }).await;

    assert_eq!(record.task.history, [message]);
}

async fn a_create_may_carry_a_whole_life(store: &dyn TaskStore) {
    let ada = owner("ada");
    let new = NewTask { live_limit: 1, ..finished_task(&ada, "m") };
    let bodies = new.first_events();

    let record = create(store, new).await;

    assert_eq!((record.version, record.seq), (1, 5));
    assert_eq!(record.task.status.state, TaskState::Completed);
    assert_eq!(store.counts(&ada).await.unwrap(), BTreeMap::from([(TaskState::Completed, 1)]));
    let events = store.events(&ada, record.task.id, 0, 9).await.unwrap();
    assert_eq!(events.into_iter().map(|event| event.body).collect::<Vec<_>>(), bodies);
    let late = store.append(write(&record, vec![artifact("late")])).await;
    assert_eq!(late, Err(StoreError::NotAllowed { from: TaskState::Completed, to: TaskState::Completed }));
    let next = NewTask { live_limit: 1, ..new_task(&ada, "next") };
    assert!(store.create(next).await.is_ok(), "a finished task is not alive");
}

async fn a_create_that_breaks_the_rules_makes_nothing(store: &dyn TaskStore) {
    let ada = owner("ada");
    let rows = [
        (vec![status(TaskState::Submitted)], TaskState::Submitted, TaskState::Submitted),
        (vec![status(TaskState::Failed), status(TaskState::Working)], TaskState::Failed, TaskState::Working),
    ];
    for (events, from, to) in rows {
        let new = NewTask { events, ..new_task(&ada, "m") };
        let id = new.id;

        assert_eq!(store.create(new).await, Err(StoreError::NotAllowed { from, to }));
        assert_eq!(store.get(&ada, id).await, Err(StoreError::NotFound));
        assert_eq!(store.counts(&ada).await.unwrap(), BTreeMap::new());
    }
}

async fn terminal_states_never_change(store: &dyn TaskStore) {
    let ada = owner("ada");
    for terminal in TaskState::ALL.into_iter().filter(|state| state.is_terminal()) {
        let id = create(store, new_task(&ada, terminal.as_str())).await.task.id;
        let record = end(store, &ada, id, terminal).await;
        for next in TaskState::ALL {
            let outcome = store.append(write(&record, vec![status(next)])).await;
            assert_eq!(outcome, Err(StoreError::NotAllowed { from: terminal, to: next }));
        }
        assert!(store.append(write(&record, vec![artifact("late")])).await.is_err());
        assert!(store.append(write(&record, Vec::new())).await.is_err());
        assert_eq!(store.get(&ada, id).await.unwrap(), record);
    }
}

async fn a_stale_version_writes_nothing(store: &dyn TaskStore) {
    let ada = owner("ada");
    let read = create(store, new_task(&ada, "m")).await;
    let written = append(store, &read, vec![status(TaskState::Working)]).await;

    assert_eq!(store.append(write(&read, vec![status(TaskState::Failed)])).await, Err(StoreError::Conflict));
    let ahead = TaskRecord { version: written.version + 1, ..written.clone() };
    assert_eq!(store.append(write(&ahead, vec![status(TaskState::Failed)])).await, Err(StoreError::Conflict));
    assert_eq!(store.get(&ada, read.task.id).await.unwrap(), written);
    assert_eq!(store.counts(&ada).await.unwrap(), BTreeMap::from([(TaskState::Working, 1)]));
}

async fn somebody_elses_task_looks_like_none(store: &dyn TaskStore) {
    let (ada, bob) = (owner("ada"), owner("bob"));
    let record = create(store, new_task(&ada, "m")).await;
    let id = record.task.id;

    assert_eq!(store.get(&bob, id).await, Err(StoreError::NotFound));
    assert_eq!(store.events(&bob, id, 0, 9).await, Err(StoreError::NotFound));
    assert_eq!(store.watch(&bob, id).await.err(), Some(StoreError::NotFound));
    assert_eq!(store.request_cancel(&bob, id).await, Err(StoreError::NotFound));
    let foreign = Append { owner: bob.clone(), ..write(&record, vec![status(TaskState::Canceled)]) };
    assert_eq!(store.append(foreign).await, Err(StoreError::NotFound));
    assert_eq!(store.list(&query(&bob)).await.unwrap().total, 0);
    assert_eq!(store.counts(&bob).await.unwrap(), BTreeMap::new());
    assert_eq!(store.get(&ada, id).await.unwrap(), record);
}

async fn the_same_message_makes_one_task(store: &dyn TaskStore) {
    let (ada, bob) = (owner("ada"), owner("bob"));
    let first = create(store, new_task(&ada, "m")).await;
    let known = Ok(Created::Known(first.task.id));

    assert_eq!(store.create(new_task(&ada, "m")).await, known);
    assert_eq!(store.create(finished_task(&ada, "m")).await, known);
    let limited = NewTask { live_limit: 1, ..new_task(&ada, "m") };
    assert_eq!(store.create(limited).await, known, "it would not be one more");
    create(store, new_task(&bob, "m")).await;
    create(store, NewTask { agent: "other".parse().unwrap(), ..new_task(&ada, "m") }).await;
    end(store, &ada, first.task.id, TaskState::Completed).await;
    assert_eq!(store.create(new_task(&ada, "m")).await, known, "the work is not done twice");
    assert_eq!(store.list(&query(&ada)).await.unwrap().total, 2);
}

async fn an_id_is_taken_once(store: &dyn TaskStore) {
    let ada = owner("ada");
    let record = create(store, new_task(&ada, "m")).await;
    let again = NewTask { id: record.task.id, ..new_task(&owner("bob"), "another") };

    assert_eq!(store.create(again).await, Err(StoreError::Conflict));
    assert_eq!(store.get(&ada, record.task.id).await.unwrap(), record);
}

async fn live_tasks_are_limited_per_owner(store: &dyn TaskStore) {
    let ada = owner("ada");
    let limited = |message: &str| NewTask { live_limit: 2, ..new_task(&ada, message) };
    let first = create(store, limited("1")).await;
    let second = create(store, limited("2")).await;
    append(store, &second, vec![status(TaskState::InputRequired)]).await;

    let refused = Err(StoreError::TooManyLive { limit: 2 });
    assert_eq!(store.create(limited("3")).await, refused);
    assert!(store.create(new_task(&owner("bob"), "1")).await.is_ok(), "another owner is not affected");
    end(store, &ada, first.task.id, TaskState::Completed).await;
    assert!(store.create(limited("3")).await.is_ok());

    let crowd = futures_util::future::join_all((4..9).map(|n| store.create(limited(&n.to_string())))).await;
    assert!(crowd.iter().all(|outcome| *outcome == refused), "however many come at once");
}

async fn labels_only_grow(store: &dyn TaskStore) {
    let ada = owner("ada");
    let labels = Labels::one(Label::User, "rest");
    let record = create(store, NewTask { labels: labels.clone(), ..new_task(&ada, "m") }).await;
    let (web, again) = (Labels::one(Label::ExternalNetwork, "web_fetch"), Labels::one(Label::User, "mcp"));

    store
        .append(Append { labels: web.clone(), ..write(&record, vec![artifact("a")]) })
        .await
        .unwrap();
    let read = store.get(&ada, record.task.id).await.unwrap();
    store
        .append(Append { labels: again.clone(), ..write(&read, vec![artifact("b")]) })
        .await
        .unwrap();

    let read = store.get(&ada, record.task.id).await.unwrap();
    assert_eq!(read.labels, labels.joined(&web).joined(&again), "every source of a label stays");
    assert_eq!(read.task.status, record.task.status);
}

async fn a_write_without_events_counts_as_a_write(store: &dyn TaskStore) {
    let ada = owner("ada");
    let record = create(store, new_task(&ada, "m")).await;

    let written = append(store, &record, Vec::new()).await;

    assert_eq!((written.version, written.seq), (2, 2));
    assert_eq!(store.append(write(&record, Vec::new())).await, Err(StoreError::Conflict));
    assert_eq!(append(store, &written, vec![artifact("a")]).await.seq, 3);
    assert_eq!(store.events(&ada, record.task.id, 0, 9).await.unwrap().len(), 3);
}

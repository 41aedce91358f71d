//! The rules of every task store for lists and counts.

use std::collections::BTreeMap;

use openfang_types::event::EventBody;
use openfang_types::ids::Owner;
use openfang_types::task::{Message, Role, TaskParts, TaskState, TaskStatus};

use super::{append, artifact, create, end, finished_task, new_task, now, owner, query, status};
use crate::{Fit, NewTask, TaskQuery, TaskRecord, TaskStore};

pub(super) async fn lists(fresh: &impl Fn() -> Box<dyn TaskStore>) {
    pages_show_every_task_once(&*fresh()).await;
    the_latest_change_of_status_comes_first(&*fresh()).await;
    filters_show_what_they_name(&*fresh()).await;
    who_is_narrowed_is_shown_what_was_begun_so(&*fresh()).await;
    counts_follow_every_change(&*fresh()).await;
    only_the_parts_that_were_asked_for_are_listed(&*fresh()).await;
    a_page_of_large_tasks_is_cut_short_and_the_next_one_goes_on(&*fresh()).await;
}

async fn pages_show_every_task_once(store: &dyn TaskStore) {
    let ada = owner("ada");
    let mut expected = Vec::new();
    for n in 0..25 {
        let message = format!("m{n}");
        let new = if n % 3 == 0 { finished_task(&ada, &message) } else { new_task(&ada, &message) };
        expected.push(create(store, new).await.task.id);
    }
    expected.reverse();

    for limit in [1, 10, 25, 26, usize::MAX] {
        let rows = all_pages(store, TaskQuery { limit, ..query(&ada) }, 25).await;
        let seen: Vec<_> = rows.iter().map(|record| record.task.id).collect();
        assert_eq!(seen, expected, "latest change first, {limit} at a time");
    }
    let none = store.list(&TaskQuery { limit: 0, ..query(&ada) }).await.unwrap();
    assert_eq!((none.tasks.len(), none.total), (0, 25));
}

async fn who_is_narrowed_is_shown_what_was_begun_so(store: &dyn TaskStore) {
    let ada = owner("ada");
    let plain = create(store, new_task(&ada, "1")).await.task.id;
    let narrow = create(store, NewTask { scope: Some("work".to_owned()), ..new_task(&ada, "2") })
        .await
        .task
        .id;
    let labelled = create(store, NewTask { scope: Some("work=user".to_owned()), ..new_task(&ada, "3") })
        .await
        .task
        .id;

    for (scope, expected) in [
        (None, vec![labelled, narrow, plain]),
        (Some("work"), vec![narrow]),
        (Some("work=user"), vec![labelled]),
        (Some(""), vec![plain]),
        (Some("home"), vec![]),
    ] {
        let wanted = TaskQuery { scope: scope.map(str::to_owned), limit: 1, ..query(&ada) };
        let rows = all_pages(store, wanted, expected.len()).await;
        assert_eq!(rows.iter().map(|record| record.task.id).collect::<Vec<_>>(), expected, "{scope:?}");
    }
}

/// Reads page by page and compares each page's total with `total`.
async fn all_pages(store: &dyn TaskStore, mut query: TaskQuery, total: usize) -> Vec<TaskRecord> {
    let mut rows = Vec::new();
    loop {
        let page = store.list(&query).await.unwrap();
        assert_eq!(page.total, total);
        rows.extend(page.tasks);
        assert!(rows.len() <= total, "a task is shown twice");
        match page.next {
            Some(next) => query.after = Some(next),
            None => return rows,
        }
    }
}

async fn the_latest_change_of_status_comes_first(store: &dyn TaskStore) {
    let ada = owner("ada");
    let first = create(store, new_task(&ada, "1")).await;
    let second = create(store, new_task(&ada, "2")).await;
    let third = create(store, new_task(&ada, "3")).await;
    append(store, &third, vec![artifact("a")]).await;

    append(store, &second, vec![status(TaskState::Working)]).await;
    end(store, &ada, first.task.id, TaskState::Failed).await;

    let page = store.list(&query(&ada)).await.unwrap();
    let ids: Vec<_> = page.tasks.iter().map(|record| record.task.id).collect();
    assert_eq!(ids, [first.task.id, second.task.id, third.task.id]);
}

async fn filters_show_what_they_name(store: &dyn TaskStore) {
    let (ada, bob) = (owner("ada"), owner("bob"));
    let mut all = Vec::new();
    for n in 0..24 {
        let message = format!("m{n}");
        let new = if n % 2 == 0 { finished_task(&ada, &message) } else { new_task(&ada, &message) };
        let agent = if n % 3 == 0 { "starter" } else { "other" }.parse().unwrap();
        let context_id = format!("c{}", n % 4).parse().unwrap();
        all.push(create(store, NewTask { agent, context_id, ..new }).await);
    }
    create(store, NewTask { context_id: "c0".parse().unwrap(), ..new_task(&bob, "m") }).await;
    all.reverse();

    for agent in [None, Some("starter"), Some("other"), Some("nobody")] {
        for context in [None, Some("c0"), Some("c1"), Some("c9")] {
            for state in [None, Some(TaskState::Submitted), Some(TaskState::Completed), Some(TaskState::Failed)] {
                let wanted = |record: &&TaskRecord| {
                    agent.is_none_or(|agent| record.task.agent.as_str() == agent)
                        && context.is_none_or(|context| record.task.context_id.as_str() == context)
                        && state.is_none_or(|state| record.task.status.state == state)
                };
                let expected: Vec<TaskRecord> = all.iter().filter(wanted).cloned().collect();
                let agent = agent.map(|agent| agent.parse().unwrap());
                let context_id = context.map(|context| context.parse().unwrap());
                let asked = TaskQuery { agent, context_id, state, limit: 3, ..query(&ada) };

                assert_eq!(all_pages(store, asked.clone(), expected.len()).await, expected, "{asked:?}");

                // The twelfth change and everything after it.
                let since = all[12].task.status.timestamp;
                let expected: Vec<TaskRecord> =
                    expected.into_iter().filter(|record| record.task.status.timestamp >= since).collect();
                let asked = TaskQuery { changed_since: Some(since), ..asked };
                assert_eq!(all_pages(store, asked.clone(), expected.len()).await, expected, "{asked:?}");
            }
        }
    }
}

fn says(state: TaskState, text: &str) -> EventBody {
    let message = Message::text("reply".parse().unwrap(), Role::Agent, text);
    EventBody::Status(TaskStatus { state, message: Some(message), timestamp: now() })
}

/// Tasks whose status has a message, in every way it can be stored.
async fn told_tasks(store: &dyn TaskStore, owner: &Owner) -> Vec<TaskRecord> {
    let long = "x".repeat(10_000);
    let ends = |text: &str| vec![says(TaskState::Working, "on it"), artifact("a"), says(TaskState::Completed, text)];
    let mut made = Vec::new();
    made.push(create(store, NewTask { events: ends("done"), ..new_task(owner, "short") }).await);
    made.push(create(store, NewTask { events: ends(&long), ..new_task(owner, "long") }).await);
    made.push(create(store, NewTask { events: vec![artifact(&"a".repeat(200))], ..new_task(owner, "quiet") }).await);
    let asks = create(store, new_task(owner, "asks")).await;
    let asks = append(store, &asks, vec![says(TaskState::InputRequired, "which one?"), artifact("b")]).await;
    made.push(append(store, &asks, vec![artifact("c")]).await);
    let told =
        create(store, NewTask { events: vec![says(TaskState::InputRequired, "and?")], ..new_task(owner, "told") })
            .await;
    let answer = Message::text("answer".parse().unwrap(), Role::User, "the second");
    made.push(append(store, &told, vec![EventBody::Message(answer)]).await);
    made
}

async fn only_the_parts_that_were_asked_for_are_listed(store: &dyn TaskStore) {
    let ada = owner("ada");
    let mut made = told_tasks(store, &ada).await;
    made.sort_by_key(|record| std::cmp::Reverse((record.task.status.timestamp, record.task.id)));

    for status_message in [false, true] {
        for history in [false, true] {
            for artifacts in [false, true] {
                let parts = TaskParts { status_message, history, artifacts };
                let mut expected = made.clone();
                expected.iter_mut().for_each(|record| record.task.keep(parts));

                let page = store.list(&TaskQuery { parts, ..query(&ada) }).await.unwrap();

                assert_eq!(page.tasks, expected, "{parts:?}");
            }
        }
    }
}

async fn a_page_of_large_tasks_is_cut_short_and_the_next_one_goes_on(store: &dyn TaskStore) {
    let ada = owner("ada");
    for n in 0..6 {
        let events = vec![says(TaskState::Working, &"x".repeat(10_000))];
        create(store, NewTask { events, ..new_task(&ada, &format!("m{n}")) }).await;
    }
    let asked = TaskQuery { max_bytes: 25_000, ..query(&ada) };

    for parts in [TaskParts::ALL, TaskParts::STATUS] {
        let page = store.list(&TaskQuery { parts, ..asked.clone() }).await.unwrap();
        assert_eq!((page.tasks.len(), page.total, page.next.is_some()), (2, 6, true), "{parts:?}");
        assert_eq!(all_pages(store, TaskQuery { parts, ..asked.clone() }, 6).await.len(), 6);
    }
    for (max_bytes, fits) in [(19_000, false), (25_000, true)] {
        let within = store.list_within(&asked, max_bytes).await.unwrap();
        assert_eq!(matches!(within, Fit::Whole(page) if page.tasks.len() == 2), fits, "{max_bytes}");
    }
    let rows = store.list(&TaskQuery { parts: TaskParts::ROW, ..asked.clone() }).await.unwrap();
    assert_eq!((rows.tasks.len(), rows.next), (6, None), "what is not read does not count");
    let one = store.list(&TaskQuery { max_bytes: 1, ..asked }).await.unwrap();
    assert_eq!((one.tasks.len(), one.next.is_some()), (1, true), "a page always has a task");
}

async fn counts_follow_every_change(store: &dyn TaskStore) {
    let (ada, bob) = (owner("ada"), owner("bob"));
    let first = create(store, new_task(&ada, "1")).await;
    create(store, new_task(&ada, "2")).await;
    create(store, finished_task(&ada, "3")).await;
    create(store, new_task(&bob, "1")).await;
    let read = append(store, &first, vec![status(TaskState::Working), status(TaskState::AuthRequired)]).await;
    append(store, &read, vec![status(TaskState::AuthRequired)]).await;

    let expected = [(TaskState::Submitted, 1), (TaskState::AuthRequired, 1), (TaskState::Completed, 1)];
    assert_eq!(store.counts(&ada).await.unwrap(), BTreeMap::from(expected));
    assert_eq!(store.counts(&bob).await.unwrap(), BTreeMap::from([(TaskState::Submitted, 1)]));
    assert_eq!(store.counts(&owner("eve")).await.unwrap(), BTreeMap::new());
}

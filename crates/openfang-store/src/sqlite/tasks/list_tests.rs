//! Pages are read along an index, whatever else is in the table.

use openfang_types::event::EventBody;
use openfang_types::ids::Owner;
use openfang_types::task::{Message, Role, TaskParts, TaskStatus};
use rusqlite::params_from_iter;

use super::super::SqliteTasks;
use super::*;
use crate::contract::{append, artifact, create, finished_task, new_task, now, owner, query, status};
use crate::sqlite::batch::Counter;
use crate::sqlite::tests::{Home, plan};
use crate::{NewTask, TaskStore};

#[tokio::test]
async fn neither_all_states_nor_one_are_scanned_or_sorted() {
    let home = Home::new();
    let sqlite = home.open();
    for state in [None].into_iter().chain(TaskState::ALL.map(Some)) {
        let sql = page_sql(state, None);
        let plan = sqlite.read(move |connection| Ok(plan(connection, &sql))).await.unwrap();

        let searches = plan
            .iter()
            .filter(|step| step.starts_with("SEARCH a2a_tasks USING INDEX a2a_tasks_by_state"));
        assert_eq!(searches.count(), state.map_or(TaskState::ALL.len(), |_| 1), "{plan:?}");
        assert!(!plan.iter().any(|step| step.contains("SCAN") || step.contains("TEMP B-TREE")), "{plan:?}");
    }
}

#[tokio::test]
async fn few_rows_of_a_filter_are_found_by_its_index() {
    let home = Home::new();
    let sqlite = home.open();
    let asked = TaskQuery { context_id: Some("c".parse().unwrap()), ..query(&owner("ada")) };
    let sql = page_sql(asked.state, IndexedFilter::of(&asked));
    let plan = sqlite.read(move |connection| Ok(plan(connection, &sql))).await.unwrap();

    assert!(plan[0].starts_with("SEARCH a2a_tasks USING INDEX a2a_tasks_by_context"), "{plan:?}");
}

/// More than are sorted, and among them one that is alone with its context and its agent.
async fn a_crowd(store: &SqliteTasks, ada: &Owner) {
    let crowd = (0..SORTED_ROWS + 10).map(|n| store.create(finished_task(ada, &format!("m{n}"))));
    for created in futures_util::future::join_all(crowd).await {
        created.unwrap();
    }
    let (context_id, agent) = ("rare".parse().unwrap(), "seldom".parse().unwrap());
    store.create(NewTask { context_id, agent, ..new_task(ada, "one") }).await.unwrap();
}

#[tokio::test]
async fn many_rows_of_a_filter_are_met_on_the_walk_and_few_are_sorted() {
    let home = Home::new();
    let sqlite = home.open();
    let store = SqliteTasks::new(sqlite.clone());
    let ada = owner("ada");
    a_crowd(&store, &ada).await;
    let all = TaskQuery { limit: 20, ..query(&ada) };
    let rows = [
        (TaskQuery { context_id: Some("c".parse().unwrap()), ..all.clone() }, false, SORTED_ROWS + 10),
        (TaskQuery { agent: Some("starter".parse().unwrap()), ..all.clone() }, false, SORTED_ROWS + 10),
        (TaskQuery { context_id: Some("rare".parse().unwrap()), ..all.clone() }, true, 1),
        (TaskQuery { agent: Some("seldom".parse().unwrap()), ..all.clone() }, true, 1),
        (TaskQuery { agent: Some("seldom".parse().unwrap()), state: Some(TaskState::Failed), ..all }, true, 0),
    ];
    for (asked, is_few, total) in rows {
        let narrow = asked.clone();
        let few = sqlite.read(move |connection| {
            let narrow = IndexedFilter::of(&narrow).unwrap().if_few(connection, &narrow.owner)?;
            Ok(narrow.is_some())
        });
        assert_eq!(few.await.unwrap(), is_few);

        let page = store.list(&asked).await.unwrap();
        assert_eq!((page.tasks.len(), page.total), (total.min(20), total), "{asked:?}");
        assert_eq!(page.next.is_some(), total > 20);
    }
}

#[tokio::test]
async fn totals_beyond_what_is_counted_are_shown_as_that_many() {
    let home = Home::new();
    let sqlite = home.open();
    let store = SqliteTasks::new(sqlite.clone());
    let ada = owner("ada");
    store.create(finished_task(&ada, "m")).await.unwrap();
    let copy = "WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 11000)
                INSERT INTO a2a_tasks (id, owner, agent, context_id, state, status_at, created_at, version, seq,
                    origin, resend_key, node, attempt, labels, trace)
                SELECT randomblob(16), owner, agent, context_id, state, status_at + i, created_at, version, 0,
                    origin, 'm' || i, node, attempt, labels, trace FROM a2a_tasks, numbers";
    let copied = sqlite.write(|batch| {
        batch.change(&owner("ada"), Counter::Tasks(TaskState::Completed), 11_000, 0);
        batch
            .connection
            .execute(copy, params_from_iter([0; 0]))
            .map_err(crate::sqlite::unavailable)
    });
    assert_eq!(copied.await.unwrap(), 11_000);

    let page = async |query: TaskQuery| store.list(&TaskQuery { limit: 0, ..query }).await.unwrap().total;

    assert_eq!(page(query(&ada)).await, 11_001);
    assert_eq!(page(TaskQuery { state: Some(TaskState::Completed), ..query(&ada) }).await, 11_001);
    assert_eq!(page(TaskQuery { agent: Some("starter".parse().unwrap()), ..query(&ada) }).await, COUNTED_ROWS);
}

#[tokio::test]
async fn a_list_without_history_and_artifacts_does_not_read_an_event() {
    let home = Home::new();
    let sqlite = home.open();
    let store = SqliteTasks::new(sqlite.clone());
    let ada = owner("ada");
    let record = create(&store, NewTask { events: vec![artifact(&"a".repeat(200))], ..new_task(&ada, "m") }).await;
    append(&store, &record, vec![artifact("b"), status(TaskState::Completed)]).await;
    let broken = sqlite.write(|batch| {
        let sql = "UPDATE a2a_task_events SET bodies = 'x'; UPDATE a2a_tasks SET first = 'x' WHERE first IS NOT NULL";
        batch.connection.execute_batch(sql).map_err(crate::sqlite::unavailable)
    });
    broken.await.unwrap();
    assert!(store.list(&query(&ada)).await.is_err(), "the events cannot be read any more");

    for parts in [TaskParts::ROW, TaskParts::STATUS] {
        let page = store.list(&TaskQuery { parts, ..query(&ada) }).await.unwrap();
        assert_eq!(page.tasks[0].task.status.state, TaskState::Completed);
    }
}

#[tokio::test]
async fn a_task_from_before_the_column_of_heads_is_listed_with_what_its_agent_says() {
    let home = Home::new();
    let sqlite = home.open();
    let store = SqliteTasks::new(sqlite.clone());
    let ada = owner("ada");
    let said = |text: &str| {
        let message = Message::text("r".parse().unwrap(), Role::Agent, text);
        EventBody::Status(TaskStatus { state: TaskState::InputRequired, message: Some(message), timestamp: now() })
    };
    create(&store, NewTask { events: vec![said("short")], ..new_task(&ada, "1") }).await;
    create(&store, NewTask { events: vec![said(&"long".repeat(1_000))], ..new_task(&ada, "2") }).await;
    let third = create(&store, new_task(&ada, "3")).await;
    let third = append(&store, &third, vec![said("later")]).await;
    append(&store, &third, vec![artifact("a")]).await;
    let listed = async || {
        let asked = TaskQuery { parts: TaskParts::STATUS, ..query(&ada) };
        store.list(&asked).await.unwrap().tasks
    };
    let before = listed().await;

    let forget = sqlite.write(|batch| {
        let sql = "UPDATE a2a_tasks SET head = NULL";
        batch.connection.execute_batch(sql).map_err(crate::sqlite::unavailable)
    });
    forget.await.unwrap();

    assert_eq!(before.iter().filter(|record| record.task.status.message.is_some()).count(), 3);
    assert_eq!(listed().await, before);
}

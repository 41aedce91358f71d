//! The SQLite home keeps the contract of push configurations, by itself and as two processes that share a file; and
//! finds what is due along an index.

use std::time::Duration;

use openfang_types::limits::PUSH_PER_TASK;
use openfang_types::task::Origin;

use super::*;
use crate::contract::{self, artifact, create, finished_task, new_task, node, now, owner};
use crate::sqlite::tests::{Home, plan};
use crate::{NewTask, Retention};

#[tokio::test]
async fn pushes_keep_the_contract() {
    let homes = std::cell::RefCell::new(Vec::new());
    contract::pushes(|| {
        let home = Home::new();
        let stores = home.open().stores();
        homes.borrow_mut().push(home);
        stores
    })
    .await;
}

#[tokio::test]
async fn two_processes_keep_the_contract() {
    let home = Home::new();
    let (here, there) = (home.open().stores(), home.open().stores());

    contract::pushes_across_processes(&here, &there).await;
}

#[tokio::test]
async fn nothing_is_scanned_or_sorted_to_find_what_is_due_or_whom_an_event_concerns() {
    let home = Home::new();
    let by_time = "USING INDEX push_configs_due";
    let by_time_alone = "USING COVERING INDEX push_configs_due";
    let by_task = "USING INDEX sqlite_autoindex_push_configs_1 (task=?)";
    for (sql, index) in [(due_sql(), by_time), (NEXT.to_owned(), by_time_alone), (HAPPENED.to_owned(), by_task)] {
        let plan = home.open().read(move |connection| Ok(plan(connection, &sql))).await.unwrap();

        assert!(plan[0].contains(index), "{plan:?}");
        assert!(
            !plan.iter().any(|step| step.contains("SCAN push_configs") || step.contains("TEMP B-TREE")),
            "{plan:?}"
        );
    }
}

fn config(id: &str) -> PushConfig {
    let (url, host) = ("http://h/".to_owned(), "h".to_owned());
    PushConfig { id: id.to_owned(), url, host, token: None, authorization: None, origin: Origin::V10, maker: None }
}

#[tokio::test]
async fn an_evicted_task_takes_its_configurations_along() {
    let home = Home::new();
    let stores = home.open().stores();
    let ada = owner("ada");
    let with_push = |new: NewTask| NewTask { push: Some(config("p")), ..new };
    let gone = create(&*stores.tasks, with_push(finished_task(&ada, "gone"))).await;
    let live = create(&*stores.tasks, with_push(new_task(&ada, "live"))).await;
    let rule = Retention { finished_per_owner: 0, ..Retention::FOREVER };

    assert_eq!(stores.tasks.retain(rule, now()).await.unwrap().evicted, 1);

    let query = DueQuery { now: now(), except_hosts: vec![], except_owners: vec![], limit: 9 };
    let due = stores.pushes.due(query).await.unwrap();
    assert_eq!(due.rows.iter().map(|row| row.task).collect::<Vec<_>>(), [live.task.id]);
    assert_eq!(stores.pushes.list(&ada, gone.task.id).await, Err(StoreError::NotFound));
}

#[tokio::test]
async fn what_was_set_and_what_is_due_is_there_after_opening_again() {
    let home = Home::new();
    let ada = owner("ada");
    let before = home.open().stores();
    let record = create(&*before.tasks, new_task(&ada, "m")).await;
    let (owner, task, limit) = (ada.clone(), record.task.id, PUSH_PER_TASK);
    before
        .pushes
        .set(NewPush { owner, task, config: config("p"), limit, at: now() })
        .await
        .unwrap();
    contract::append(&*before.tasks, &record, vec![artifact("a")]).await;
    let rows = before.pushes.list(&ada, record.task.id).await.unwrap();
    before.pushes.claim(&rows[0], node(1), now() + Duration::from_secs(60)).await.unwrap();
    drop(before);

    let after = home.open().stores();

    assert_eq!(after.pushes.abandon(&[node(1)], now()).await, Ok(1));
    let query = DueQuery { now: now(), except_hosts: vec![], except_owners: vec![], limit: 9 };
    let due = after.pushes.due(query).await.unwrap();
    assert_eq!(due.rows[0].config, config("p"));
    assert_eq!(due.rows[0].reached.seq, 2);
}

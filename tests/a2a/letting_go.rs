//! A key that is revoked: what it opened is closed, what it began goes on.

use std::time::Duration;

use openfang_testkit::callers;
use serde_json::json;

use super::isolation::{key_of, server};
use super::wire::{ask, begin, state, stream};

#[tokio::test]
async fn streams_end_with_the_key_that_opened_them_and_the_work_does_not() {
    let (_home, server, ada, bob) = server().await;
    let other = key_of(&server, "ada").await;
    let lent = server.client().bearer(other.key.expose());
    let task = begin(&ada, "waits", "go").await;
    let his = begin(&bob, "waits", "go").await;
    let mut rpc = stream(&lent, "SubscribeToTask", json!({"id": task})).await;
    let mut rest = lent.stream("GET", &format!("/a2a/rest/tasks/{task}:subscribe"), None).await;
    let mut old = stream(&lent, "tasks/resubscribe", json!({"id": task})).await;
    let (mut kept, mut bobs) = (
        stream(&ada, "SubscribeToTask", json!({"id": task})).await,
        stream(&bob, "SubscribeToTask", json!({"id": his})).await,
    );
    for lines in [&mut rpc, &mut rest, &mut old, &mut kept, &mut bobs] {
        lines.event().await.unwrap();
    }

    server
        .kernel
        .revoke_user_key(&callers::operator(&server.kernel), &other.details.id)
        .await
        .unwrap();

    let ends = async {
        for lines in [&mut rpc, &mut rest, &mut old] {
            while lines.next().await.is_some() {}
        }
    };
    tokio::time::timeout(Duration::from_secs(5), ends).await.expect("within five seconds");
    assert_eq!(lent.get("/a2a/rest/tasks").await.status, 401);
    assert_eq!(state(&ada, &task).await, "TASK_STATE_WORKING");
    for (client, lines, task) in [(&ada, &mut kept, &task), (&bob, &mut bobs, &his)] {
        ask(client, "CancelTask", json!({"id": task})).await;
        let last = lines.events().await;
        assert_eq!(last.last().unwrap().2["result"]["statusUpdate"]["status"]["state"], "TASK_STATE_CANCELED");
    }
    server.stop().await;
}

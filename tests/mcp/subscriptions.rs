//! Hearing of changes: of one's own tasks, in both eras.

use openfang_kernel::mcp::View;
use openfang_kernel::{Kernel, Reply};
use openfang_testkit::{TestHome, callers};
use openfang_types::task::Task;
use serde_json::json;

use super::wire::{Pipe, agents, headed, initialize, modern, request, server};

async fn waiting(kernel: &Kernel) -> Task {
    let caller = callers::operator(kernel);
    let agent = "asks".parse().unwrap();
    match kernel.send_message(&caller, &agent, kernel.message("apples")).await.unwrap() {
        Reply::Task(task) => *task,
        Reply::Message(message) => panic!("{message:?}"),
    }
}

async fn go_on(kernel: &Kernel, task: &Task) {
    let caller = callers::operator(kernel);
    let mut message = kernel.message("3");
    message.task_id = Some(task.id);
    kernel.send_message(&caller, &task.agent, message).await.unwrap();
}

#[tokio::test]
async fn a_listener_hears_of_what_it_asked_for_and_under_its_own_id() {
    let (_home, server) = server().await;
    let task = waiting(&server.kernel).await;
    let uri = format!("openfang://tasks/{}", task.id);
    let params = json!({"notifications": {"toolsListChanged": true, "resourceSubscriptions": [uri]}});
    let message = request("sub", "subscriptions/listen", modern(params, json!({})));
    let mut stream = headed(&server.client(), &message)
        .stream("POST", "/mcp", Some(&message.to_string()))
        .await;
    let (_, _, acknowledged) = stream.event().await.unwrap();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({"toolsListChanged": true, "resourceSubscriptions": [uri]})
    );

    go_on(&server.kernel, &task).await;

    let (_, id, updated) = stream.event().await.unwrap();
    assert_eq!((id.as_str(), &updated["method"]), ("", &json!("notifications/resources/updated")));
    assert_eq!(updated["params"]["uri"], uri);
    assert_eq!(updated["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "sub");
    server.begin_stop();
    let mut last = json!(null);
    while let Some((_, _, event)) = stream.event().await {
        last = event;
    }
    assert_eq!(last["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "sub");
    server.stop().await;
}

#[tokio::test]
async fn a_legacy_subscription_is_told_until_it_is_taken_back() {
    let home = agents(TestHome::new());
    let kernel = home.kernel();
    let task = waiting(&kernel).await;
    let uri = format!("openfang://tasks/{}", task.id);
    let mut pipe = Pipe::open(&kernel, View::Agents);
    pipe.send(&initialize("2024-11-05", json!({}))).await;
    pipe.next().await;
    assert_eq!(pipe.ask(1, "resources/subscribe", json!({"uri": uri})).await["result"], json!({}));
    assert_eq!(pipe.ask(2, "resources/subscribe", json!({"uri": uri})).await["result"], json!({}));

    go_on(&kernel, &task).await;

    let updated = pipe.next().await;
    assert_eq!(updated, json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}));
    assert_eq!(pipe.ask(3, "resources/unsubscribe", json!({"uri": uri})).await["result"], json!({}));
    assert_eq!(pipe.ask(4, "resources/subscribe", json!({})).await["error"]["code"], -32602);
    pipe.end().await;
}

#[tokio::test]
async fn somebody_elses_task_never_changes() {
    let (_home, server) = server().await;
    let message = request(
        1,
        "subscriptions/listen",
        modern(
            json!({"notifications": {"resourceSubscriptions": ["openfang://tasks/0199c0de-0000-7000-8000-000000000001", "file:///etc"]}}),
            json!({}),
        ),
    );
    let mut stream = headed(&server.client(), &message)
        .stream("POST", "/mcp", Some(&message.to_string()))
        .await;
    stream.event().await.unwrap();
    server.begin_stop();

    let rest = stream.events().await;

    assert_eq!(rest.len(), 1, "{rest:?}");
    assert!(rest[0].2["result"].is_object());
    server.stop().await;
}

#[tokio::test]
async fn listeners_are_counted_per_owner() {
    let (_home, server) = server().await;
    let mut streams = Vec::new();
    for number in 0..openfang_types::limits::MCP_LISTENERS_PER_OWNER {
        let message = request(number, "subscriptions/listen", modern(json!({"notifications": {}}), json!({})));
        let mut stream = headed(&server.client(), &message)
            .stream("POST", "/mcp", Some(&message.to_string()))
            .await;
        stream.event().await.unwrap();
        streams.push(stream);
    }
    let message = request("more", "subscriptions/listen", modern(json!({"notifications": {}}), json!({})));
    let refused = headed(&server.client(), &message).post("/mcp", &message).await;

    assert_eq!(refused.status, 503);
    drop(streams);
    server.stop().await;
}

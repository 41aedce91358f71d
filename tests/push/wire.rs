//! Push configurations as A2A peers set them: with a message, and by the methods for them, in each dialect.

use openfang_kernel::users::{KeyWanted, UserWanted};
use openfang_testkit::TestServer;
use openfang_testkit::http::Client;
use openfang_types::config::A2aConfig;
use serde_json::{Value, json};

use super::*;

/// Sends a message in A2A 1.0 that brings its push configuration along.
pub(super) async fn sent(client: &Client, agent: &str, url: &str) -> Value {
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "SendMessage",
        "params": {
            "message": {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "Ada"}]},
            "configuration": {"taskPushNotificationConfig": {"id": "hook", "url": url, "token": "the-token"}},
        },
    });
    let path = format!("/a2a/agents/{agent}");
    client.clone().with("A2A-Version", "1.0").post(&path, &body).await.json()
}

async fn server(home: &TestHome) -> TestServer {
    let config = Config {
        api_listen: "127.0.0.1:0".parse().unwrap(),
        a2a: A2aConfig { enabled: true, ..A2aConfig::default() },
        ..config()
    };
    let kernel = home.boot_with(config).start().unwrap();
    kernel.start_background_agents();
    TestServer::start(kernel).await
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_comes_with_a_message_is_told_from_the_beginning() {
    let home = home();
    let server = server(&home).await;
    let mut receiver = Receiver::at("127.0.0.1").await;

    let answer = sent(&server.client(), "starter", &receiver.url()).await;

    let task = &answer["result"]["task"]["id"];
    assert!(task.is_string(), "{answer}");
    let first = receiver.next().await;
    assert_eq!(first.seq(), 1);
    assert_eq!(first.json()["statusUpdate"]["status"]["state"], "TASK_STATE_SUBMITTED");
    assert_eq!(first.json()["statusUpdate"]["taskId"], *task);
    assert_eq!(first.signed_with("the-token"), ("token".to_owned(), true));
    let mut last = first;
    while last.json()["statusUpdate"]["status"]["state"] != "TASK_STATE_COMPLETED" {
        last = receiver.next().await;
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_peer_is_told_the_task() {
    let home = home();
    let server = server(&home).await;
    let mut receiver = Receiver::at("127.0.0.1").await;
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "message/send",
        "params": {
            "message": {"kind": "message", "messageId": "m1", "role": "user", "parts": [{"kind": "text", "text": "Ada"}]},
            "configuration": {"pushNotificationConfig": {"url": receiver.url(), "token": "the-token"}},
        },
    });

    let answer = server.client().post("/a2a/agents/starter", &body).await.json();

    let task = &answer["result"]["id"];
    assert!(task.is_string(), "{answer}");
    let mut last = receiver.next().await;
    assert_eq!(last.header("content-type"), Some("application/json"));
    assert_eq!(last.header("x-a2a-notification-token"), Some("the-token"));
    while last.json()["status"]["state"] != "completed" {
        assert_eq!((&last.json()["id"], &last.json()["kind"]), (task, &json!("task")));
        last = receiver.next().await;
    }
    assert_eq!(last.json()["artifacts"], answer["result"]["artifacts"]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_configurations_are_invalid_parameters_whichever_way_they_come() {
    let home = home();
    let server = server(&home).await;
    let client = server.client().with("A2A-Version", "1.0");
    let kernel = server.kernel.clone();
    let local = callers::local(&kernel);
    let task = asked(&kernel, &local).await.id.to_string();
    let long = "x".repeat(1024 * 1024);
    for config in [
        json!({"url": "http://169.254.169.254/"}),
        json!({"url": "http://2852039166/"}),
        json!({"url": "http://10.0.0.1/"}),
        json!({"url": "https://hooks.example.com/", "token": "a\r\nX-Evil: 1"}),
        json!({"url": "https://hooks.example.com/", "token": long}),
        json!({"url": "https://hooks.example.com/", "authentication": {"scheme": "Bearer", "credentials": "a\r\nb"}}),
        json!({"url": "https://hooks.example.com/", "authentication": {"scheme": "Be\r\narer", "credentials": "a"}}),
    ] {
        let mut params = config.clone();
        params["taskId"] = json!(task);
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "CreateTaskPushNotificationConfig", "params": params});
        let created = client.post("/a2a", &body).await.json();
        assert_eq!(created["error"]["code"], -32_602, "{created}");

        let message = json!({"messageId": "m9", "role": "ROLE_USER", "parts": [{"text": "Ada"}]});
        let params = json!({"message": message, "configuration": {"taskPushNotificationConfig": config}});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params});
        let sent = client.post("/a2a/agents/starter", &body).await.json();
        assert_eq!(sent["error"]["code"], -32_602, "{sent}");
    }
    let listed =
        json!({"jsonrpc": "2.0", "id": 1, "method": "ListTaskPushNotificationConfigs", "params": {"taskId": task}});
    let listed = client.post("/a2a", &listed).await.json();
    assert_eq!(listed["result"]["configs"].as_array().map_or(0, Vec::len), 0, "{listed}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_are_never_shown_and_a_token_only_to_the_key_that_set_it() {
    let home = home();
    let server = server(&home).await;
    let receiver = Receiver::at("127.0.0.1").await;
    let operator = callers::operator(&server.kernel);
    let grants = vec!["agent:starter/*".to_owned()];
    let ada = UserWanted { name: "ada".parse().unwrap(), grants, password: None, again: false };
    server.kernel.add_user(&operator, ada).await.unwrap();
    let key = async || {
        let wanted = KeyWanted {
            user: "ada".parse().unwrap(),
            label: String::new(),
            entry_label: None,
            profile: None,
            expires_at: None,
        };
        let made = server.kernel.create_user_key(&operator, wanted).await.unwrap();
        server.client().bearer(made.key.expose()).with("A2A-Version", "1.0")
    };
    let (one, other) = (key().await, key().await);
    let message = json!({"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "Ada"}]});
    let ask = async |client: &Client, method: &str, params: Value| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        client.post("/a2a/agents/starter", &body).await.json()["result"].clone()
    };
    let task = ask(&one, "SendMessage", json!({"message": message})).await["task"]["id"].clone();
    let named = json!({"taskId": task, "id": "hook"});
    let mut push = named.clone();
    push["url"] = json!(receiver.url());
    push["token"] = json!("the-token");
    push["authentication"] = json!({"scheme": "Bearer", "credentials": "the-credentials"});

    let made = ask(&one, "CreateTaskPushNotificationConfig", push).await;
    let got = ask(&one, "GetTaskPushNotificationConfig", named.clone()).await;
    let listed = ask(&one, "ListTaskPushNotificationConfigs", json!({"taskId": task})).await;
    for mine in [&made, &got, &listed["configs"][0]] {
        assert_eq!(
            (&mine["token"], &mine["authentication"]["scheme"]),
            (&json!("the-token"), &json!("Bearer")),
            "{mine}"
        );
        assert!(!mine.to_string().contains("the-credentials"), "{mine}");
    }
    let got = ask(&other, "GetTaskPushNotificationConfig", named).await;
    let listed = ask(&other, "ListTaskPushNotificationConfigs", json!({"taskId": task})).await;
    for theirs in [&got, &listed["configs"][0]] {
        assert_eq!(theirs["id"], "hook", "{theirs}");
        assert!(!theirs.to_string().contains("the-"), "{theirs}");
    }
    server.stop().await;
}

//! Two processes: what a command does to users, the server knows.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::binary::{Daemon, Openfang};

const PROMISED: Duration = Duration::from_secs(5);

fn with_waiter() -> Openfang {
    let openfang = Openfang::new();
    openfang.write(
        "agents/waiter/agent.toml",
        "name = \"waiter\"\ndescription = \"d\"\n[model]\nprovider = \"script\"\n[capabilities]\ntools = [\"*\"]",
    );
    openfang
        .write("agents/waiter/script.toml", "[[rules]]\nsteps = [{ chunk = \"begun\" }, { wait_for_cancel = true }]");
    openfang
}

/// Asks until the server answers with this status; how long a change takes to get there is promised.
async fn becomes(daemon: &Daemon, bearer: Option<&str>, status: u16) {
    let begun = Instant::now();
    loop {
        let client = bearer.into_iter().fold(daemon.client(), |client, key| client.bearer(key));
        let answer = client.get("/api/me").await;
        if answer.status == status {
            return;
        }
        assert!(begun.elapsed() < PROMISED, "{answer:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_another_process_revokes_ends_its_streams() {
    let openfang = with_waiter();
    let daemon = openfang.start();
    assert_eq!(openfang.run(&["user", "add", "ada", "--grant", "agent:waiter/*"]).code, 0);
    let made = openfang.run(&["key", "create", "ada", "--json"]).json();
    let (key, id) = (made["key"].as_str().unwrap(), made["details"]["id"].as_str().unwrap());
    let ada = daemon.client().bearer(key);
    let body = json!({ "text": "go", "returnImmediately": true });
    let task = ada.post("/api/agents/waiter/message", &body).await.json()["task"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut stream = ada.stream("GET", &format!("/api/tasks/{task}/events"), None).await;
    stream.event().await.unwrap();

    let revoked = openfang.in_process(&["key", "revoke", id]).finished();

    assert_eq!((revoked.code, revoked.stdout.as_str()), (0, format!("revoked {id} of ada\n").as_str()), "{revoked:?}");
    let events = tokio::time::timeout(PROMISED, stream.events()).await.unwrap();
    assert_eq!(events.last().unwrap().2["error"]["code"], "revoked");
    assert_eq!(ada.get("/api/me").await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn users_that_another_process_adds_changes_and_removes_are_known() {
    let openfang = with_waiter();
    let daemon = openfang.start();
    becomes(&daemon, None, 200).await;

    assert_eq!(openfang.in_process(&["user", "add", "ada", "--grant", "get_*"]).finished().code, 0);
    becomes(&daemon, None, 401).await;
    let made = openfang.in_process(&["key", "create", "ada", "--json"]).finished().json();
    let key = made["key"].as_str().unwrap();
    becomes(&daemon, Some(key), 200).await;
    let ada = daemon.client().bearer(key);
    assert_eq!(ada.get("/api/me").await.json()["grants"], json!(["get_*"]));

    assert_eq!(openfang.in_process(&["user", "remove", "ada"]).finished().code, 0);
    becomes(&daemon, Some(key), 401).await;
    assert_eq!(openfang.run(&["user", "list", "--json"]).json(), json!({ "users": [] }), "the command line comes in");
}

#[tokio::test(flavor = "multi_thread")]
async fn users_outlive_the_server() {
    let openfang = with_waiter();
    let mut daemon = openfang.start();
    assert_eq!(openfang.run(&["user", "add", "ada", "--grant", "get_*"]).code, 0);
    let key = openfang.run(&["key", "create", "ada"]).stdout.trim().to_owned();
    daemon.signal("KILL");
    daemon.wait();

    let daemon = openfang.start();

    assert_eq!(daemon.client().bearer(&key).get("/api/me").await.json()["user"], "ada");
    assert_eq!(daemon.client().get("/api/me").await.status, 401);
}

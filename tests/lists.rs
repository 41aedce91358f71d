//! Pages of tasks: a list reads what it shows, and a page of large tasks is cut short.

use openfang_testkit::http::Client;
use openfang_testkit::{TestHome, TestServer};
use openfang_types::config::{A2aConfig, Config};
use openfang_types::limits::PAGE_MAX_BYTES;
use serde_json::{Value, json};

use crate::http::any_port;

const TASKS: usize = 4;
const KEEPER: &str = "[[rules]]\nsteps = [{ chunk = \"kept\" }]\n";

async fn start(home: &TestHome) -> TestServer {
    let a2a = A2aConfig { enabled: true, ..A2aConfig::default() };
    TestServer::start(home.boot_with(Config { a2a, ..any_port() }).start().unwrap()).await
}

/// A server with a few tasks of which two fit on a page.
async fn server() -> (TestHome, TestServer) {
    let home = TestHome::new().with_script("keeper", &[], KEEPER);
    let server = start(&home).await;
    let large = "x".repeat(PAGE_MAX_BYTES * 2 / 5);
    for _ in 0..TASKS {
        let sent = server.client().post("/api/agents/keeper/message", &json!({"text": large})).await.json();
        assert_eq!(sent["task"]["status"]["state"], "completed");
    }
    (home, server)
}

/// The lengths of the pages, read to the end.
async fn pages(page: impl AsyncFn(String) -> (usize, String)) -> Vec<usize> {
    let (mut lengths, mut token) = (Vec::new(), String::new());
    loop {
        let (length, next) = page(token).await;
        lengths.push(length);
        if next.is_empty() {
            return lengths;
        }
        token = next;
    }
}

fn page_of(answer: &Value) -> (usize, String) {
    let next = answer["nextPageToken"].as_str().unwrap_or_else(|| panic!("{answer}"));
    (answer["tasks"].as_array().unwrap().len(), next.to_owned())
}

async fn listed(client: &Client, parts: &str) -> Vec<usize> {
    let page = async |token: String| {
        let answer = client.get(&format!("/api/tasks?pageToken={token}{parts}")).await.json();
        assert_eq!(answer["total"], TASKS);
        page_of(&answer)
    };
    pages(page).await
}

#[tokio::test]
async fn a_page_of_large_tasks_is_cut_short_and_one_that_shows_only_heads_is_not() {
    let (_home, server) = server().await;
    let client = server.client();

    assert_eq!(listed(&client, "&includeHistory=true").await, [2, 2]);
    assert_eq!(listed(&client, "").await, [TASKS]);
    let head = client.get("/api/tasks?pageSize=1").await.json()["tasks"][0].take();
    assert_eq!((&head["agent"], &head["status"]["state"]), (&json!("keeper"), &json!("completed")), "{head}");
    server.stop().await;
}

#[tokio::test]
async fn a_page_of_a2a_is_cut_short_too_unless_the_history_is_left_out() {
    let (_home, server) = server().await;
    let client = server.client();
    let ask = async |params: Value| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": params});
        page_of(&client.post("/a2a", &body).await.json()["result"])
    };

    assert_eq!(pages(async |token| ask(json!({"pageToken": token})).await).await, [2, 2]);
    assert_eq!(pages(async |token| ask(json!({"pageToken": token, "historyLength": 0})).await).await, [TASKS]);
    server.stop().await;
}

/// Makes what was said to the tasks unreadable, and leaves their rows as they are.
fn garble_messages(home: &TestHome) {
    let database = home.path().join("data/openfang.db");
    let mut bytes = std::fs::read(&database).unwrap();
    for run in bytes.chunk_by_mut(|a, b| (*a == b'x') == (*b == b'x')) {
        if run.len() > 1_000 && run[0] == b'x' {
            run.fill(b'"');
        }
    }
    std::fs::write(&database, bytes).unwrap();
}

#[tokio::test]
async fn resources_and_completions_of_mcp_read_nothing_that_was_said_to_a_task() {
    let (home, server) = server().await;
    server.stop().await;
    garble_messages(&home);
    let server = start(&home).await;
    let client = server.client();
    let ask = async |method: &str, params: Value| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        client.post("/mcp", &body).await.json()
    };

    let listed = ask("resources/list", json!({})).await;
    let tasks = listed["result"]["resources"].as_array().unwrap_or_else(|| panic!("{listed}"));
    assert_eq!(tasks.iter().filter(|task| task["mimeType"] == "application/json").count(), TASKS, "{listed}");
    let template = json!({"type": "ref/resource", "uri": "openfang://tasks/{id}"});
    let completed = ask("completion/complete", json!({"ref": template, "argument": {"name": "id", "value": ""}})).await;
    assert_eq!(completed["result"]["completion"]["values"].as_array().map(Vec::len), Some(TASKS), "{completed}");
    let read = ask("resources/read", json!({"uri": tasks[0]["uri"]})).await;
    assert!(read["error"].is_object(), "what is garbled cannot be read: {read}");
    server.stop().await;
}

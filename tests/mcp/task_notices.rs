//! Tasks that tell by themselves how they stand: to a listener of 2026-07-28 that names them, and to the session of 2025-11-25
//! that began them; and the list of tasks that the latter has.

use std::collections::BTreeMap;

use openfang_testkit::http::Client;
use openfang_testkit::{TestHome, TestServer, callers};
use openfang_types::config::Config;
use openfang_types::limits::Limits;
use serde_json::{Value, json};

use super::wire::{headed, modern, request, session};
use crate::support::send;

const EXTENSION: &str = "io.modelcontextprotocol/tasks";
const UNKNOWN: &str = "0190a000-0000-7000-8000-000000000000";

/// An agent that ends, one that asks, both after a while, and one whose tasks are somebody else's.
async fn server() -> (TestHome, TestServer) {
    let slow = "[[rules]]\nsteps = [{ chunk = \"half \" }, { delay_ms = 1500 }, { chunk = \"done\" }]\n";
    let asks = "[[rules]]\nsteps = [{ delay_ms = 1200 }, { status = { state = \"input-required\", message = \"how many?\" } }]\n";
    let quick = "[[rules]]\nsteps = [{ chunk = \"at once\" }]\n";
    let home =
        TestHome::new()
            .with_script("slow", &[], slow)
            .with_script("asks", &[], asks)
            .with_script("quick", &[], quick);
    let config = Config { limits: Limits { drain_secs: 0, ..Limits::default() }, ..crate::http::any_port() };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    (home, server)
}

fn to(agent: &str) -> Value {
    json!({"name": format!("openfang_agent_{agent}"), "arguments": {"message": "please"}})
}

/// What a client of 2026-07-28 with tasks and forms asks.
fn asked(method: &str, params: Value) -> Value {
    request(1, method, modern(params, json!({"elicitation": {}, "extensions": {EXTENSION: {}}})))
}

async fn answer(client: &Client, message: &Value) -> Value {
    let client = match message["params"]["taskId"].as_str() {
        Some(task) => headed(client, message).with("mcp-name", task),
        None => headed(client, message),
    };
    client.post("/mcp", message).await.json()
}

#[tokio::test]
async fn a_listener_is_told_of_its_own_tasks_exactly_what_a_look_at_them_shows() {
    let (_home, server) = server().await;
    let client = server.client();
    let foreign = send(&server.kernel, &callers::user(&server.kernel, "bob", &["agent:quick"]), "quick", "hi").await;
    let begin = async |agent: &str| {
        let task = answer(&client, &asked("tools/call", to(agent))).await["result"]["taskId"].clone();
        task.as_str().unwrap_or_else(|| panic!("{agent}: {task}")).to_owned()
    };
    let (slow, asks) = tokio::join!(begin("slow"), begin("asks"));

    let named = [&slow, &asks, &slow, &foreign.id.to_string(), UNKNOWN, "no id"].map(str::to_owned);
    let message = asked("subscriptions/listen", json!({"notifications": {"taskIds": named}}));
    let mut stream = headed(&client, &message).stream("POST", "/mcp", Some(&message.to_string())).await;
    let (_, _, acknowledged) = stream.event().await.unwrap();
    let mut own = vec![slow.clone(), asks.clone()];
    own.sort_unstable();
    assert_eq!(acknowledged["params"]["notifications"], json!({ "taskIds": own }), "the others are left out alike");

    let mut last: BTreeMap<String, Value> = BTreeMap::new();
    while last.len() < 2 || last.values().any(|task| task["status"] == "working") {
        let (_, _, event) = stream.event().await.unwrap();
        assert_eq!(event["method"], "notifications/tasks", "{event}");
        let mut told = event["params"].clone();
        let meta = told.as_object_mut().unwrap().remove("_meta").unwrap();
        assert_eq!(meta["io.modelcontextprotocol/subscriptionId"], 1);
        let id = told["taskId"].as_str().unwrap().to_owned();
        assert_ne!(last.insert(id, told.clone()).as_ref(), Some(&told), "nothing is said twice");
    }

    assert_eq!(last[&slow]["result"]["content"][0]["text"], "half done");
    assert_eq!(last[&asks]["status"], "input_required");
    for (id, told) in &last {
        let mut seen = answer(&client, &asked("tasks/get", json!({ "taskId": id }))).await["result"].clone();
        let members = seen.as_object_mut().unwrap();
        members.retain(|name, _| name != "resultType" && name != "_meta");
        assert_eq!(seen, *told);
    }
    server.stop().await;
}

#[tokio::test]
async fn a_listener_that_has_not_declared_tasks_is_told_that_it_must() {
    let (_home, server) = server().await;
    let params = json!({"notifications": {"taskIds": [UNKNOWN]}});
    let undeclared = request(1, "subscriptions/listen", modern(params, json!({})));

    let refused = answer(&server.client(), &undeclared).await;

    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    assert_eq!(refused["error"]["data"]["requiredCapabilities"], json!({"extensions": {EXTENSION: {}}}));
    server.stop().await;
}

#[tokio::test]
async fn the_session_that_began_a_task_of_2025_11_25_is_told_until_it_has_ended() {
    let (_home, server) = server().await;
    let client = session(&server.client(), "2025-11-25", json!({"elicitation": {}})).await;
    let mut standing = client.stream("GET", "/mcp", None).await;
    let mut call = to("slow");
    call["task"] = json!({ "ttl": 60_000 });

    let begun = client.post("/mcp", &request(1, "tools/call", call)).await.json()["result"]["task"].clone();

    let mut states = Vec::new();
    while states.last() != Some(&json!("completed")) {
        let (_, _, told) = standing.event().await.unwrap();
        assert_eq!(told["method"], "notifications/tasks/status", "{told}");
        assert_eq!(told["params"]["taskId"], begun["taskId"]);
        assert_eq!(told["params"].get("result"), None, "the result is asked for by itself");
        states.push(told["params"]["status"].clone());
    }
    assert!(states.len() <= 2, "what has not changed is not told: {states:?}");
    server.stop().await;
}

#[tokio::test]
async fn a_client_of_2025_11_25_lists_its_own_tasks_page_by_page_and_nobody_elses() {
    let (_home, server) = server().await;
    let (ada, bob) = (callers::user(&server.kernel, "ada", &["agent:quick"]), callers::operator(&server.kernel));
    let foreign = send(&server.kernel, &ada, "quick", "hi").await.id.to_string();
    let mut own = Vec::new();
    for _ in 0..60 {
        own.push(send(&server.kernel, &bob, "quick", "hi").await.id.to_string());
    }
    let client = session(&server.client(), "2025-11-25", json!({})).await;
    let mut adds = json!({"name": "add_numbers", "arguments": {"a": 3, "b": 7}, "task": {}});
    adds["task"]["ttl"] = json!(60_000);
    let held = client.post("/mcp", &request(1, "tools/call", adds)).await.json()["result"]["task"].clone();

    let (mut listed, mut cursor) = (Vec::new(), json!({}));
    loop {
        let page = client.post("/mcp", &request(2, "tasks/list", cursor)).await.json()["result"].clone();
        listed.extend(page["tasks"].as_array().unwrap_or_else(|| panic!("{page}")).clone());
        match page["nextCursor"].as_str() {
            Some(next) => cursor = json!({ "cursor": next }),
            None => break,
        }
    }

    assert_eq!(listed[0]["taskId"], held["taskId"], "what is held in this process comes first");
    let ids: Vec<&str> = listed[1..].iter().map(|task| task["taskId"].as_str().unwrap()).collect();
    own.reverse();
    assert_eq!(ids, own);
    assert!(!ids.contains(&foreign.as_str()));
    assert!(listed.iter().all(|task| task["status"] == "completed" && task.get("result").is_none()), "{listed:?}");
    let wrong = client.post("/mcp", &request(3, "tasks/list", json!({"cursor": "nonsense"}))).await.json();
    assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
    server.stop().await;
}

//! Crashes: nothing that was acknowledged is missing, nothing stays working, and the file is whole.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use openfang_testkit::http::Client;
use serde_json::{Value, json};

use crate::support::binary::{Daemon, Openfang};
use crate::support::rounds;

const WRITERS: usize = 8;

/// How often the server is killed; more by hand.
fn cycles() -> u64 {
    rounds("CRASH_CYCLES", 100)
}

/// A small generator, so that a run can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// One writer: sends until the server is gone. What came back whole was acknowledged.
async fn write(client: Client, seed: u64, stop: &AtomicBool) -> Vec<(String, i64)> {
    let mut acknowledged = Vec::new();
    let mut random = Random(seed);
    while !stop.load(Ordering::Relaxed) {
        let n = i64::try_from(random.below(1_000_000)).unwrap();
        let text = match random.below(3) {
            0 => format!("/memory_store {{\"key\": \"k{}\", \"value\": \"v\"}}", n % 1000),
            _ => format!("/add_numbers {{\"a\": {n}, \"b\": 1}}"),
        };
        let body = json!({"text": text, "messageId": format!("m-{seed}-{n}")}).to_string();
        let Some(answer) = client.try_send("POST", "/api/agents/worker/message", Some(&body)).await else { continue };
        if answer.status == 200 && answer.header("content-length") == Some(&answer.body.len().to_string()) {
            let task = &answer.json()["task"];
            assert_eq!(task["status"]["state"], "completed", "{task}");
            acknowledged.push((task["id"].as_str().unwrap().to_owned(), n));
        }
    }
    acknowledged
}

async fn all_tasks(client: &Client) -> HashMap<String, Value> {
    let mut tasks = HashMap::new();
    let mut token = String::new();
    loop {
        let page = client
            .get(&format!("/api/tasks?pageSize=100&includeArtifacts=true&pageToken={token}"))
            .await
            .json();
        for task in page["tasks"].as_array().unwrap() {
            tasks.insert(task["id"].as_str().unwrap().to_owned(), task.clone());
        }
        token = page["nextPageToken"].as_str().unwrap().to_owned();
        if token.is_empty() {
            return tasks;
        }
    }
}

fn with_worker() -> Openfang {
    let openfang = Openfang::new();
    let manifest =
        "name = \"worker\"\ndescription = \"d\"\n[model]\nprovider = \"direct\"\n[capabilities]\ntools = [\"*\"]";
    openfang.write("agents/worker/agent.toml", manifest);
    openfang
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_many_kills_nothing_acknowledged_is_missing_and_nothing_stays_working() {
    let openfang = with_worker();
    let mut acknowledged: Vec<(String, i64)> = Vec::new();
    let mut random = Random(0x5eed);
    for cycle in 0..cycles() {
        let mut daemon = openfang.start();
        let stop = AtomicBool::new(false);
        let client = daemon.client();
        let writers = (0..WRITERS).map(|n| write(client.clone(), cycle * 100 + n as u64 + 1, &stop));
        let kill = async {
            tokio::time::sleep(Duration::from_millis(5 + random.below(120))).await;
            daemon.signal("KILL");
            stop.store(true, Ordering::Relaxed);
        };
        let (written, ()) = tokio::join!(join_all(writers), kill);
        acknowledged.extend(written.into_iter().flatten());
        daemon.wait();
    }

    let daemon = openfang.start();
    settled_soon(&daemon).await;
    let tasks = all_tasks(&daemon.client()).await;
    for (id, n) in &acknowledged {
        let task = tasks.get(id).unwrap_or_else(|| panic!("{id} was acknowledged and is missing"));
        assert_eq!(task["status"]["state"], "completed");
        let text = task["artifacts"][0]["parts"][0]["text"].as_str().unwrap();
        assert!(text == (n + 1).to_string() || text == format!("kept under k{}", n % 1000), "{text}");
    }
    assert!(acknowledged.len() > 100, "{}", acknowledged.len());
    let check = openfang.run(&["db", "check"]);
    assert_eq!(check.code, 0, "{check:?}");
    let audit = openfang.run(&["audit", "verify"]);
    assert_eq!(audit.code, 0, "{audit:?}");
    println!("{} cycles, {} acknowledged, {} tasks stored", cycles(), acknowledged.len(), tasks.len());
}

/// Within five seconds nothing is working that a dead process left behind.
async fn settled_soon(daemon: &Daemon) {
    let begun = Instant::now();
    loop {
        let client = daemon.client();
        let working = client.get("/api/tasks?state=working").await.json()["total"].as_u64().unwrap();
        let submitted = client.get("/api/tasks?state=submitted").await.json()["total"].as_u64().unwrap();
        if working + submitted == 0 {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(5), "{working} working, {submitted} submitted");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_the_command_line_survives_a_crash_and_a_restart() {
    let openfang = Openfang::new();
    let mut daemon = openfang.start();
    let sent = openfang.run(&["agent", "send", "starter", "/add_numbers {\"a\":3,\"b\":7}", "--json"]);
    let before = sent.json()["task"].clone();

    daemon.signal("KILL");
    daemon.wait();
    let _daemon = openfang.start();

    let after = openfang.run(&["task", "show", before["id"].as_str().unwrap(), "--json"]);
    assert_eq!(after.json()["task"], before);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_crash_each_task_goes_on_waits_or_fails_as_its_open_step_allows() {
    let openfang = with_worker();
    let script = r#"
        [[rules]]
        when = { text = "ask" }
        steps = [{ status = { state = "input-required", message = "well?" } }]
        [[rules]]
        when = { text = "answer" }
        steps = [{ chunk = "thanks" }]
        [[rules]]
        when = { text = "slow" }
        steps = [{ chunk = "one" }, { delay_ms = 1500 }, { chunk = "two" }, { tool = { name = "add_numbers", arguments = { a = 1, b = 2 } } }, { chunk = "three" }]
        [[rules]]
        when = { text = "effect" }
        steps = [{ chunk = "one" }, { tool = { name = "agent_send", arguments = { agent = "player", message = "hang" } } }, { chunk = "two" }]
        [[rules]]
        when = { text = "hang" }
        steps = [{ wait_for_cancel = true }]
    "#;
    openfang.write(
        "agents/player/agent.toml",
        "name = \"player\"\ndescription = \"d\"\n[model]\nprovider = \"script\"\n[capabilities]\ntools = [\"*\"]",
    );
    openfang.write("agents/player/script.toml", script);
    let mut daemon = openfang.start();
    let send = async |client: Client, text: &str| {
        let body = json!({"text": text, "returnImmediately": true});
        client.post("/api/agents/player/message", &body).await.json()["task"]["id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let state = async |client: Client, id: &str| client.get(&format!("/api/tasks/{id}")).await.json()["task"].clone();
    let (ask, slow, effect) = (
        send(daemon.client(), "ask").await,
        send(daemon.client(), "slow").await,
        send(daemon.client(), "effect").await,
    );
    for (id, expected) in [(&slow, "one"), (&effect, "one")] {
        while state(daemon.client(), id).await["artifacts"][0]["parts"][0]["text"] != expected {
            tokio::task::yield_now().await;
        }
    }
    // The effect is open once the agent it asked has a task of its own.
    while daemon.client().get("/api/tasks").await.json()["total"] != 4 {
        tokio::task::yield_now().await;
    }

    daemon.signal("KILL");
    daemon.wait();
    let daemon = openfang.start();

    let client = daemon.client();
    let begun = Instant::now();
    let slow_task = loop {
        let task = state(client.clone(), &slow).await;
        if task["status"]["state"] == "completed" {
            break task;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{task}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    let parts: Vec<&str> = slow_task["artifacts"][0]["parts"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|p| p["text"].as_str())
        .collect();
    assert_eq!(parts, ["one", "two", "three"], "it went on after its last event");
    let failed = state(client.clone(), &effect).await;
    assert_eq!(failed["status"]["state"], "failed", "{failed}");
    assert!(
        failed["status"]["message"]["parts"][0]["text"]
            .as_str()
            .unwrap()
            .starts_with("interrupted")
    );
    assert_eq!(state(client.clone(), &ask).await["status"]["state"], "input-required");
    let body = json!({"text": "answer", "taskId": ask});
    let answered = client.post("/api/agents/player/message", &body).await.json()["task"].clone();
    assert_eq!(answered["status"]["state"], "completed", "{answered}");
}

//! Kill -9 with remote tasks under way, again and again: no message is delivered twice, no task stays open, and no result is
//! lost of a task whose remote id is stored.
//!
//! The number of kills is that of `EXTERNAL_KILLS`, else a few. After each few, the server lives until everything is settled.

use std::collections::HashMap;
use std::time::Duration;

use openfang_testkit::callers;
use openfang_testkit::http::Client;
use serde_json::{Value, json};

use super::fixture::{config, start};
use crate::support::binary::Openfang;
use crate::support::rounds;

const KILLS: u64 = 20;
const TASKS: usize = 8;

/// A slow agent: it says something, works, and says the rest.
const SLOW: &str = r#"
    [[rules]]
    steps = [{ status = { state = "working", message = "begun" } }, { delay_ms = 30 }, { artifact = { name = "r", text = "result" } }, { delay_ms = 30 }, { chunk = "end" }]
"#;

async fn rpc(client: &Client, method: &str, params: Value) -> Option<Value> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let answer = client.try_send("POST", "/a2a", Some(&body)).await?;
    (answer.status == 200).then(|| serde_json::from_str(&answer.body).ok()).flatten()
}

fn is_end(state: &str) -> bool {
    ["COMPLETED", "FAILED", "CANCELED", "REJECTED"].iter().any(|end| state.ends_with(end))
}

/// Waits until every task that was acknowledged has ended, and notes how.
async fn settle(
    client: &Client,
    sent: &mut Vec<(String, Option<String>)>,
    ends: &mut HashMap<String, (String, String)>,
) {
    for (id, task) in sent.drain(..).filter_map(|(id, task)| Some((id, task?))) {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(40);
        loop {
            let answer = rpc(client, "GetTask", json!({ "id": task })).await;
            let answer = answer.unwrap_or_else(|| panic!("the acknowledged task {task} is gone"));
            let status = &answer["result"]["status"];
            let state = status["state"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
            if is_end(&state) {
                ends.insert(id, (state, answer["result"].to_string()));
                break;
            }
            assert!(tokio::time::Instant::now() < deadline, "task {task} is stuck: {answer}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_kill_9_no_message_is_delivered_twice_and_every_task_ends_with_its_result_or_a_reason() {
    let far_home = openfang_testkit::TestHome::new().with_script("slow", &[], SLOW);
    let far = start(&far_home, config()).await;
    let near = Openfang::new();
    let url = format!("http://{}/a2a/agents/slow", far.address);
    near.write(
        "config.toml",
        &format!("[a2a]\nenabled = true\n\n[[a2a.external_agents]]\nname = \"slow\"\nurl = \"{url}\"\n"),
    );
    let mut daemon = near.start();
    let mut sent: Vec<(String, Option<String>)> = Vec::new();

    let mut ends: HashMap<String, (String, String)> = HashMap::new();
    for number in 1..=rounds("EXTERNAL_KILLS", KILLS) {
        let kill = number - 1;
        let client = daemon.client();
        let begin = |number: usize| {
            let (client, id) = (client.clone(), format!("m-{kill}-{number}"));
            async move {
                let message = json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": id}]});
                let configuration = json!({"returnImmediately": true});
                let params = json!({"tenant": "slow", "message": message, "configuration": configuration});
                let answer = rpc(&client, "SendMessage", params).await;
                let task = answer.and_then(|answer| answer["result"]["task"]["id"].as_str().map(str::to_owned));
                (id, task)
            }
        };
        let wave = futures_util::future::join_all((0..TASKS).map(begin));
        // Somewhere between the first message and the last event.
        let moment = Duration::from_millis((kill * 37) % 130);
        let kill = async {
            tokio::time::sleep(moment).await;
            daemon.signal("KILL");
        };
        let (answered, ()) = tokio::join!(wave, kill);
        sent.extend(answered);
        daemon.wait();
        daemon = near.start();
        if number % KILLS == 0 {
            settle(&daemon.client(), &mut sent, &mut ends).await;
        }
    }
    settle(&daemon.client(), &mut sent, &mut ends).await;

    let mut delivered: HashMap<String, usize> = HashMap::new();
    let admin = callers::admin(&far.kernel);
    let mut page = None;
    loop {
        let filter = openfang_kernel::TaskFilter { page_token: page, ..Default::default() };
        let listed = far.kernel.tasks(&admin, filter).await.unwrap();
        for task in &listed.tasks {
            let whole = far.kernel.task(&admin, task.id).await.unwrap();
            *delivered.entry(whole.history[0].joined_text()).or_default() += 1;
        }
        page = listed.next_page_token;
        if page.is_none() {
            break;
        }
    }
    let twice: Vec<_> = delivered.iter().filter(|(_, count)| **count > 1).collect();
    assert!(twice.is_empty(), "delivered twice: {twice:?}");
    for (id, (state, whole)) in &ends {
        if state.ends_with("COMPLETED") {
            assert!(whole.contains("result"), "{id} lost its result: {whole}");
            assert_eq!(delivered.get(id), Some(&1), "{id} is completed without having been delivered");
        } else {
            assert!(whole.contains("not known") || whole.contains("the A2A agent slow"), "{id} has no reason: {whole}");
        }
    }
    let completed = ends.values().filter(|(state, _)| state.ends_with("COMPLETED")).count();
    assert!(completed * 10 >= ends.len() * 9, "{completed} of {} tasks are completed", ends.len());
    far.stop().await;
}

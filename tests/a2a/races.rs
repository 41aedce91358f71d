//! Cancel against completion, a thousand times: one end, and everybody is told the same.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use openfang_testkit::http::Client;
use openfang_testkit::{TestHome, TestServer};
use serde_json::{Value, json};

use super::wire::{ask, begin, config, is_end, request};

const RACES: usize = 1_000;
/// At a time: commits are shared, and nobody has a quiet server.
const LANES: usize = 10;

/// How long an agent works before it is done, from not at all to longer than a cancel takes to come.
const WORK: &str = r#"
    [[rules]]
    when = { text = "0" }
    steps = [{ chunk = "done" }]
    [[rules]]
    when = { text = "1" }
    steps = [{ delay_ms = 1 }, { chunk = "done" }]
    [[rules]]
    when = { text = "2" }
    steps = [{ chunk = "half" }, { delay_ms = 4 }, { chunk = "done" }]
    [[rules]]
    when = { text = "3" }
    steps = [{ delay_ms = 8 }, { chunk = "done" }]
    [[rules]]
    when = { text = "4" }
    steps = [{ delay_ms = 15 }, { chunk = "half" }, { delay_ms = 15 }, { chunk = "done" }]
"#;

/// What a cancel was answered with: the state that it says the task is in.
async fn cancel(client: &Client, over_rest: bool, task: &str) -> &'static str {
    let said = |canceled: bool, why: &Value| {
        let state = why.as_str().and_then(|why| why.split(' ').nth(3)).unwrap_or_default();
        match (canceled, state) {
            (true, _) => "TASK_STATE_CANCELED",
            (false, "completed") => "TASK_STATE_COMPLETED",
            (false, "canceled") => "TASK_STATE_CANCELED",
            (false, _) => panic!("{why}"),
        }
    };
    if over_rest {
        let answer = client.send("POST", &format!("/a2a/rest/tasks/{task}:cancel"), Some("")).await;
        let body = answer.json();
        match answer.status {
            200 => assert_eq!(body["status"]["state"], "TASK_STATE_CANCELED"),
            400 => assert_eq!(body["error"]["details"][0]["reason"], "TASK_NOT_CANCELABLE"),
            _ => panic!("{answer:?}"),
        }
        return said(answer.status == 200, &body["error"]["message"]);
    }
    let answer = ask(client, "CancelTask", json!({"id": task})).await;
    match answer["result"]["status"]["state"].as_str() {
        Some(state) => assert_eq!(state, "TASK_STATE_CANCELED"),
        None => assert_eq!(answer["error"]["code"], -32002, "{answer}"),
    }
    said(answer["result"].is_object(), &answer["error"]["message"])
}

/// The states that the whole stream of a task tells, over the binding that did not cancel it.
async fn told(client: &Client, over_rest: bool, task: &str) -> Vec<String> {
    let client = client.clone().with("last-event-id", &format!("{task}:0"));
    let mut lines = if over_rest {
        client.stream("GET", &format!("/a2a/rest/tasks/{task}:subscribe"), None).await
    } else {
        let body = request(1, "SubscribeToTask", json!({"id": task})).to_string();
        client.stream("POST", "/a2a", Some(&body)).await
    };
    let events = lines.events().await;
    let shown = |data: &Value| if over_rest { data.clone() } else { data["result"].clone() };
    let states = events.iter().map(|(_, _, data)| shown(data)["statusUpdate"]["status"]["state"].clone());
    states.filter_map(|state| state.as_str().map(str::to_owned)).collect()
}

async fn race(client: &Client, number: usize) -> &'static str {
    let (agent, text) =
        if number.is_multiple_of(6) { ("starter", "Ada") } else { ("racer", ["0", "1", "2", "3", "4"][number % 5]) };
    let over_rest = number.is_multiple_of(2);
    let task = begin(client, agent, text).await;
    // Looking at it first gives the work a head start.
    for _ in 0..number % 4 {
        ask(client, "GetTask", json!({"id": task})).await;
    }
    // Some cancels come twice at the same moment, once over each binding.
    let answers = if number.is_multiple_of(5) {
        let (one, other) = tokio::join!(cancel(client, true, &task), cancel(client, false, &task));
        vec![one, other]
    } else {
        vec![cancel(client, over_rest, &task).await]
    };
    let now = ask(client, "GetTask", json!({"id": task})).await["result"]["status"]["state"].clone();
    for answer in &answers {
        assert_eq!(now, *answer, "race {number}: the answer and the task differ");
    }
    let states = told(client, !over_rest, &task).await;
    let ends: Vec<&String> = states.iter().filter(|state| is_end(state)).collect();
    assert_eq!((ends.len(), states.last()), (1, ends.last().copied()), "race {number}: {states:?}");
    assert_eq!(*ends[0], now, "race {number}: the stream and the task differ");
    answers[0]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_cancels_that_race_the_end_leave_one_end_that_everybody_is_told() {
    let home = TestHome::new().with_script("racer", &[], WORK);
    let server = TestServer::start(home.boot_with(config()).start().unwrap()).await;
    let client = server.client();

    let lane = async |lane: usize| {
        let mut ends = Vec::new();
        for number in (lane..RACES).step_by(LANES) {
            ends.push(race(&client, number).await);
        }
        ends
    };
    let ends = join_all((0..LANES).map(lane)).await.concat();

    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    ends.iter().for_each(|end| *counts.entry(end).or_default() += 1);
    assert_eq!(ends.len(), RACES);
    println!("{counts:?}");
    server.stop().await;
}

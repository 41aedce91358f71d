//! Cancel against completion, a thousand times: one end, and everybody is told the same.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use openfang_testkit::http::Client;
use openfang_testkit::{TestHome, TestServer};
use serde_json::{Value, json};

use super::wire::{ask, begin, config, fresh, is_end, request, said};

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
        let state = why.as_str().and_then(|why| why.split(' ').nth(4)).unwrap_or_default();
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_answers_to_one_question_one_is_taken() {
    let home = super::wire::agents(TestHome::new());
    let server = TestServer::start(home.boot_with(config()).start().unwrap()).await;
    let client = server.client();
    for round in 0..60 {
        let asked = json!({"tenant": "asks", "message": said(&fresh(), "go")});
        let task = ask(&client, "SendMessage", asked).await["result"]["task"]["id"].clone();
        let answer = async |number: usize| {
            let mut message = said(&fresh(), &format!("answer {number}"));
            message["taskId"] = task.clone();
            ask(&client, "SendMessage", json!({"message": message})).await
        };
        let cancel = async {
            // Every second time somebody else gives up waiting.
            match round % 2 {
                0 => None,
                _ => Some(ask(&client, "CancelTask", json!({"id": task})).await),
            }
        };
        let (answers, canceled) = tokio::join!(join_all((0..5).map(answer)), cancel);
        let taken = answers.iter().filter(|answer| answer["result"].is_object()).count();
        for answer in answers.iter().filter(|answer| answer["result"].is_null()) {
            assert_eq!(answer["error"]["code"], -32004, "{answer}");
        }
        let now = ask(&client, "GetTask", json!({"id": task})).await["result"].clone();
        let state = now["status"]["state"].as_str().unwrap();
        let is_canceled = canceled.as_ref().is_some_and(|canceled| canceled["result"].is_object());
        assert_eq!(state == "TASK_STATE_CANCELED", is_canceled, "{now}");
        assert!(is_end(state) && (taken == 1 || (is_canceled && taken == 0)), "{taken} {now}");
        let users = now["history"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|said| said["role"] == "ROLE_USER")
            .count();
        assert_eq!(users, 1 + taken, "{now}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_who_name_the_same_new_task_one_makes_it() {
    let home = super::wire::agents(TestHome::new());
    let server = TestServer::start(home.boot_with(config()).start().unwrap()).await;
    let client = server.client();
    for round in 1..=40 {
        let send = async |number: usize| {
            let parts = json!([{"type": "text", "text": format!("hello {number}")}]);
            let params = json!({"id": format!("mine-{round}"), "message": {"role": "user", "parts": parts}});
            // Over all that has tasks which their maker names.
            match number % 2 {
                0 => client.post("/a2a/agents/steps", &request(1, "tasks/send", params)).await.json(),
                _ => client.post("/a2a/tasks/send", &json!({"params": params})).await.json(),
            }
        };
        for (number, answer) in join_all((0..6).map(send)).await.into_iter().enumerate() {
            let task = if answer["result"].is_object() { &answer["result"] } else { &answer };
            let is_made = task["id"] == format!("mine-{round}");
            let code = answer["error"]["code"].as_i64();
            assert!(is_made || code == Some(-32004) || code == Some(-32001), "{answer}");
            // Whoever is shown the task is in it: a message that was not taken is refused.
            assert!(!is_made || task.to_string().contains(&format!("hello {number}")), "{number}: {answer}");
        }
        let listed = ask(&client, "ListTasks", json!({})).await;
        assert_eq!(listed["result"]["totalSize"], round, "{listed}");
    }
    server.stop().await;
}

//! Kill -9 between any two steps of a message: before the agent says anything, while it works, while it waits for an answer,
//! and while the answer is sent. The agent counts what it gets.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use openfang_testkit::http::Client;
use openfang_testkit::{RawAgent, raw_agent};
use serde_json::{Value, json};

use crate::support::binary::{Daemon, Openfang};

/// How long a condition may take. Successful tests never wait this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// The agent's tasks, and whether its work is done.
#[derive(Default)]
struct AgentTasks {
    /// The messages of each task, and whether the last one was a question of the agent.
    tasks: BTreeMap<String, (Vec<Value>, bool)>,
    is_done: bool,
}

impl AgentTasks {
    fn shown(&self, id: &str) -> Value {
        let (history, asks) = &self.tasks[id];
        let state = match (asks, self.is_done) {
            (true, _) => "TASK_STATE_INPUT_REQUIRED",
            (false, true) => "TASK_STATE_COMPLETED",
            (false, false) => "TASK_STATE_WORKING",
        };
        let mut task = raw_agent::task(id, state, "the result");
        if state != "TASK_STATE_COMPLETED" {
            task["artifacts"] = json!([]);
        }
        task["history"] = json!(history);
        task
    }
}

/// An agent that counts, and what it knows.
struct CountingAgent {
    agent: RawAgent,
    tasks: Arc<Mutex<AgentTasks>>,
}

impl CountingAgent {
    /// An agent that can list its tasks, or cannot. It never answers a message that says `silent`.
    async fn start(lists: bool) -> Self {
        let tasks: Arc<Mutex<AgentTasks>> = Arc::default();
        let known = Arc::clone(&tasks);
        let agent = RawAgent::with_card(false, move |request: Value, _| {
            let known = Arc::clone(&known);
            async move {
                let params = &request["params"];
                match request["method"].as_str().unwrap_or_default() {
                    "SendMessage" => {
                        let (task, is_silent) = take(&mut known.lock().unwrap(), &params["message"]);
                        if is_silent {
                            std::future::pending::<()>().await;
                        }
                        raw_agent::result(&json!({ "task": task }))
                    }
                    "ListTasks" if lists => {
                        let known = known.lock().unwrap();
                        let tasks: Vec<Value> = known.tasks.keys().map(|id| known.shown(id)).collect();
                        raw_agent::result(&json!({ "tasks": tasks, "nextPageToken": "", "totalSize": tasks.len() }))
                    }
                    "GetTask" => {
                        let (known, id) = (known.lock().unwrap(), params["id"].as_str().unwrap_or_default());
                        match known.tasks.contains_key(id) {
                            true => raw_agent::result(&known.shown(id)),
                            false => raw_agent::error(-32001, "task not found"),
                        }
                    }
                    _ => raw_agent::error(-32004, "not supported"),
                }
            }
        })
        .await;
        Self { agent, tasks }
    }

    fn finish(&self) {
        self.tasks.lock().unwrap().is_done = true;
    }

    /// How often each message came.
    fn deliveries(&self) -> Vec<usize> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for request in self.agent.calls("SendMessage") {
            *counts.entry(request["params"]["message"]["messageId"].to_string()).or_default() += 1;
        }
        counts.into_values().collect()
    }
}

/// Takes a message into its task. Returns the task, and whether nothing is to be said about it.
fn take(known: &mut AgentTasks, message: &Value) -> (Value, bool) {
    let id = match message["taskId"].as_str() {
        Some(id) => id.to_owned(),
        None => format!("t{}", known.tasks.len()),
    };
    let text = message["parts"][0]["text"].as_str().unwrap_or_default();
    let task = known.tasks.entry(id.clone()).or_default();
    task.0.push(message.clone());
    task.1 = text == "ask";
    (known.shown(&id), text == "silent")
}

/// A server that has the agent.
struct Near {
    home: Openfang,
    daemon: Daemon,
}

impl Near {
    fn start(agent: &CountingAgent) -> Self {
        let home = Openfang::new();
        let url = agent.agent.url();
        let entry = format!("[[a2a.external_agents]]\nname = \"counting\"\nurl = \"{url}\"\n");
        home.write("config.toml", &format!("[a2a]\nenabled = true\n\n{entry}"));
        Self { daemon: home.start(), home }
    }

    fn kill(self) -> Self {
        let Self { home, mut daemon } = self;
        daemon.signal("KILL");
        daemon.wait();
        Self { daemon: home.start(), home }
    }

    /// Sends a message, to a new task or to one that asks, and returns the task.
    async fn send(&self, text: &str, task: Option<&str>) -> String {
        let id = format!("caller-{text}-{}", task.unwrap_or("new"));
        let message = json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}], "taskId": task});
        let configuration = json!({"returnImmediately": true});
        let params = json!({"tenant": "counting", "message": message, "configuration": configuration});
        let answer = rpc(&self.daemon.client(), "SendMessage", params).await;
        answer["result"]["task"]["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Waits for a state of a task, and returns all of the task.
    async fn reaches(&self, task: &str, state: &str) -> String {
        let client = self.daemon.client();
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let answer = rpc(&client, "GetTask", json!({ "id": task })).await;
            if answer["result"]["status"]["state"].as_str().is_some_and(|now| now.ends_with(state)) {
                return answer.to_string();
            }
            assert!(tokio::time::Instant::now() < deadline, "{task} does not become {state}: {answer}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

async fn rpc(client: &Client, method: &str, params: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    client.post("/a2a", &body).await.json()
}

/// Waits until the agent was asked so often by this method.
async fn heard(agent: &CountingAgent, method: &str, count: usize) {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while agent.agent.calls(method).len() < count {
        assert!(tokio::time::Instant::now() < deadline, "no {method}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_without_an_answer_is_found_in_the_list_of_the_agent() {
    let agent = CountingAgent::start(true).await;
    let near = Near::start(&agent);
    let task = near.send("silent", None).await;
    heard(&agent, "SendMessage", 1).await;

    let near = near.kill();
    agent.finish();

    assert!(near.reaches(&task, "COMPLETED").await.contains("the result"));
    assert_eq!(agent.deliveries(), [1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_without_an_answer_fails_with_the_reason_where_the_agent_has_no_list() {
    let agent = CountingAgent::start(false).await;
    let near = Near::start(&agent);
    let task = near.send("silent", None).await;
    heard(&agent, "SendMessage", 1).await;

    let near = near.kill();

    assert!(near.reaches(&task, "FAILED").await.contains("is not known, and it is not sent twice"));
    assert_eq!(agent.deliveries(), [1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_goes_on_at_the_agent_is_followed_to_its_result() {
    let agent = CountingAgent::start(false).await;
    let near = Near::start(&agent);
    let task = near.send("work", None).await;
    // The task is stored before the agent is asked for it.
    heard(&agent, "GetTask", 1).await;

    let near = near.kill();
    agent.finish();

    assert!(near.reaches(&task, "COMPLETED").await.contains("the result"));
    assert_eq!(agent.deliveries(), [1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_outlives_the_process_and_so_does_an_answer_that_was_being_sent() {
    let agent = CountingAgent::start(true).await;
    let near = Near::start(&agent);
    let task = near.send("ask", None).await;
    near.reaches(&task, "INPUT_REQUIRED").await;

    let near = near.kill();
    near.reaches(&task, "INPUT_REQUIRED").await;
    near.send("silent", Some(&task)).await;
    heard(&agent, "SendMessage", 2).await;
    let near = near.kill();
    agent.finish();

    assert!(near.reaches(&task, "COMPLETED").await.contains("the result"));
    assert_eq!(agent.deliveries(), [1, 1]);
    assert_eq!(agent.tasks.lock().unwrap().tasks.len(), 1, "the answer went into the task that asked");
}

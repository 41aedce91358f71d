//! Agents that lie, mix up tasks, ask for ever or drip: no task gets what belongs to another, an ended task stays as it is,
//! and nobody else waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use openfang_kernel::{Caller, Kernel, Reply};
use openfang_testkit::raw_agent::{self, RawAnswer};
use openfang_testkit::{RawAgent, TestHome, TestServer, callers};
use openfang_types::config::ExternalAgent;
use openfang_types::task::{Message, Task, TaskState};
use serde_json::{Value, json};

use super::fixture::{config, start};
use crate::support::{artifact_text, assert_state, call, send, status_text, submit};

/// A server with these agents, by their names here.
async fn server(agents: &[(&str, &RawAgent)]) -> (TestServer, TestHome) {
    server_with(agents, |_| {}).await
}

async fn server_with(agents: &[(&str, &RawAgent)], change: fn(&mut ExternalAgent)) -> (TestServer, TestHome) {
    let home = TestHome::new();
    let mut config = config();
    config.a2a.external_agents = agents
        .iter()
        .map(|(name, agent)| {
            let mut entry = ExternalAgent::new(name.parse().unwrap(), agent.url());
            change(&mut entry);
            entry
        })
        .collect();
    (start(&home, config).await, home)
}

fn text_of(request: &Value) -> String {
    request["params"]["message"]["parts"][0]["text"].as_str().unwrap_or_default().to_owned()
}

/// Answers a question of a task.
async fn reply(kernel: &Kernel, caller: &Caller, task: &Task, text: &str) -> Task {
    let message = Message { task_id: Some(task.id), context_id: None, ..kernel.message(text) };
    match kernel.send_message(caller, &task.agent, message).await.unwrap() {
        Reply::Task(task) => *task,
        Reply::Message(message) => panic!("expected a task, not {message:?}"),
    }
}

fn chunk(task: &str, artifact: &str, text: &str) -> Value {
    let artifact = json!({ "artifactId": artifact, "name": "answer", "parts": [{ "text": text }] });
    json!({ "artifactUpdate": { "taskId": task, "contextId": "c", "artifact": artifact } })
}

fn status(task: &str, state: &str) -> Value {
    json!({ "statusUpdate": { "taskId": task, "contextId": "c", "status": { "state": state } } })
}

#[tokio::test]
async fn events_that_name_another_task_reach_no_task() {
    let agent = RawAgent::with_card(true, |_, _| async {
        let begun = json!({ "task": { "id": "mine", "contextId": "c", "status": { "state": "TASK_STATE_WORKING" } } });
        let foreign = json!({ "task": raw_agent::task("other", "TASK_STATE_FAILED", "a secret of somebody") });
        raw_agent::events(&[
            begun,
            chunk("other", "a", "a secret of somebody"),
            status("other", "TASK_STATE_COMPLETED"),
            foreign,
            chunk("mine", "a", "mine"),
            status("mine", "TASK_STATE_COMPLETED"),
        ])
    })
    .await;
    let (server, _home) = server(&[("raw", &agent)]).await;

    let task = send(&server.kernel, &callers::operator(&server.kernel), "raw", "hi").await;

    assert_state(&task, TaskState::Completed);
    assert_eq!(artifact_text(&task, "answer"), "mine");
    assert!(!serde_json::to_string(&task).unwrap().contains("somebody"));
    server.stop().await;
}

#[tokio::test]
async fn artifacts_of_two_tasks_with_one_id_stay_apart() {
    let agent = RawAgent::with_card(false, |request, _| async move {
        let text = text_of(&request);
        raw_agent::result(&json!({ "task": raw_agent::task(&text, "TASK_STATE_COMPLETED", &text) }))
    })
    .await;
    let (server, _home) = server(&[("raw", &agent)]).await;
    let operator = callers::operator(&server.kernel);

    let one = send(&server.kernel, &operator, "raw", "one").await;
    let two = send(&server.kernel, &operator, "raw", "two").await;

    let one = server.kernel.task(&operator, one.id).await.unwrap();
    assert_eq!((artifact_text(&one, "answer"), artifact_text(&two, "answer")), ("one".into(), "two".into()));
    server.stop().await;
}

#[tokio::test]
async fn a_task_that_was_canceled_stays_canceled_when_the_agent_completes_it() {
    let agent = RawAgent::with_card(false, |request: Value, _| async move {
        match request["method"].as_str() {
            Some("SendMessage") => {
                let task = json!({ "id": "t", "contextId": "c", "status": { "state": "TASK_STATE_WORKING" } });
                raw_agent::result(&json!({ "task": task }))
            }
            Some("CancelTask") => raw_agent::result(&raw_agent::task("t", "TASK_STATE_COMPLETED", "too late")),
            _ => {
                raw_agent::result(&json!({ "id": "t", "contextId": "c", "status": { "state": "TASK_STATE_WORKING" } }))
            }
        }
    })
    .await;
    let (server, _home) = server(&[("raw", &agent)]).await;
    let operator = callers::operator(&server.kernel);
    let task = submit(&server.kernel, &operator, "raw", "hi").await;
    while agent.calls("GetTask").is_empty() {
        tokio::task::yield_now().await;
    }

    server.kernel.cancel_task(&operator, task.id).await.unwrap();

    while agent.calls("CancelTask").is_empty() {
        tokio::task::yield_now().await;
    }
    let task = server.kernel.task(&operator, task.id).await.unwrap();
    assert_state(&task, TaskState::Canceled);
    assert!(task.artifacts.is_empty());
    server.stop().await;
}

/// An agent that asks in every task, and says where an answer came to.
async fn asking(always: bool) -> RawAgent {
    let count = Arc::new(AtomicUsize::new(0));
    RawAgent::with_card(false, move |request: Value, _| {
        let count = Arc::clone(&count);
        async move {
            let message = &request["params"]["message"];
            let answered = message["taskId"].as_str().map(str::to_owned);
            let id = answered.clone().unwrap_or_else(|| format!("t{}", count.fetch_add(1, Ordering::SeqCst)));
            if answered.is_some() && !always {
                let said = format!("{} to {id}", text_of(&request));
                let mut task = raw_agent::task(&id, "TASK_STATE_COMPLETED", &said);
                task["contextId"] = "c".into();
                return raw_agent::result(&json!({ "task": task }));
            }
            let question = json!({ "messageId": "q", "role": "ROLE_AGENT", "parts": [{ "text": "which?" }] });
            let status = json!({ "state": "TASK_STATE_INPUT_REQUIRED", "message": question });
            let task = json!({ "id": id, "contextId": "c", "status": status });
            let is_send = request["method"] == "SendMessage";
            raw_agent::result(&if is_send { json!({ "task": task }) } else { task })
        }
    })
    .await
}

#[tokio::test]
async fn answers_to_two_questions_of_one_conversation_go_to_the_tasks_that_asked() {
    let agent = asking(false).await;
    let (server, _home) = server(&[("raw", &agent)]).await;
    let (kernel, operator) = (&server.kernel, callers::operator(&server.kernel));
    let one = send(kernel, &operator, "raw", "begin").await;
    let message = Message { context_id: Some(one.context_id.clone()), ..kernel.message("begin") };
    let Reply::Task(two) = kernel.send_message(&operator, &one.agent, message).await.unwrap() else {
        panic!("expected a task")
    };
    assert_eq!(one.context_id, two.context_id);

    let second = reply(kernel, &operator, &two, "for two").await;
    let first = reply(kernel, &operator, &one, "for one").await;

    assert_eq!(artifact_text(&first, "answer"), "for one to t0");
    assert_eq!(artifact_text(&second, "answer"), "for two to t1");
    server.stop().await;
}

#[tokio::test]
async fn an_agent_that_asks_again_and_again_is_stopped() {
    let agent = asking(true).await;
    let (server, _home) = server(&[("raw", &agent)]).await;
    let (kernel, operator) = (&server.kernel, callers::operator(&server.kernel));

    let mut task = send(kernel, &operator, "raw", "begin").await;
    let mut answers = 0;
    while task.status.state == TaskState::InputRequired {
        task = reply(kernel, &operator, &task, "this one").await;
        answers += 1;
    }

    assert_eq!(answers, 10);
    assert_state(&task, TaskState::Failed);
    assert!(status_text(&task).contains("asked more than 10 times"), "{}", status_text(&task));
    assert_eq!(agent.calls("SendMessage").len(), 10);
    assert_eq!(agent.calls("CancelTask").len(), 1, "the agent is told that nobody answers any more");
    server.stop().await;
}

#[tokio::test]
async fn an_agent_that_drips_is_given_up_and_costs_no_other() {
    let dripping = RawAgent::with_card(true, |request: Value, _| async move {
        let task = json!({ "id": "t", "contextId": "c", "status": { "state": "TASK_STATE_WORKING" } });
        match request["method"].as_str() {
            Some("GetTask" | "CancelTask") => RawAnswer::from(raw_agent::result(&task)),
            _ => raw_agent::dripping(&[json!({ "task": task })]),
        }
    })
    .await;
    let good = RawAgent::with_card(false, |request, _| async move {
        let text = text_of(&request);
        raw_agent::result(&json!({ "task": raw_agent::task(&text, "TASK_STATE_COMPLETED", &text) }))
    })
    .await;
    let (server, _home) = server_with(&[("slow", &dripping), ("good", &good)], |entry| entry.idle_secs = 1).await;
    let (kernel, operator) = (&server.kernel, callers::operator(&server.kernel));

    let slow = async {
        let begun = tokio::time::Instant::now();
        (send(kernel, &operator, "slow", "hi").await, begun.elapsed())
    };
    let others = async {
        while dripping.heard().len() < 2 {
            tokio::task::yield_now().await;
        }
        for number in 0..20 {
            let message = json!({ "message": number.to_string() });
            assert!(!call(kernel, &operator, "a2a_good", message).await.unwrap().is_error);
        }
    };
    let ((task, given_up), ()) = tokio::join!(slow, others);

    assert_state(&task, TaskState::Failed);
    assert!(given_up < Duration::from_secs(10), "{given_up:?}");
    server.stop().await;
}

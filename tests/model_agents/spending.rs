//! The budgets of a run hold whatever a provider says about what it has counted, and however often a run is interrupted.

use std::time::Duration;

use openfang_testkit::fake_provider::Reply as ProviderReply;
use openfang_types::task::{Message, TaskState};
use serde_json::{Value, json};
use tokio_util::task::TaskTracker;

use super::fixture::{reply_of, says, stage};
use crate::support::{assert_state, status_text, submit};

fn stream(events: &[Value]) -> ProviderReply {
    let text: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    ProviderReply::events(format!("{text}data: [DONE]\n\n").into_bytes())
}

/// A long answer with a call, of a provider that says nothing about tokens.
fn uncounted(number: usize) -> ProviderReply {
    let call = json!({
        "index": 0, "id": format!("c{number}"), "type": "function",
        "function": { "name": "add_numbers", "arguments": json!({ "a": number, "b": 1 }).to_string() },
    });
    let delta = json!({ "content": "z".repeat(4000), "tool_calls": [call] });
    stream(&[
        json!({ "choices": [{ "index": 0, "delta": delta }] }),
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] }),
    ])
}

#[tokio::test]
async fn what_a_provider_does_not_count_is_counted_as_estimated() {
    let mut stage = stage(&["add_numbers"], "[resources]\nmax_tokens_per_run = 2500").await;
    stage.provider.script((0..10).map(uncounted));

    let task = stage.send("go").await;

    assert_state(&task, TaskState::InputRequired);
    assert!(status_text(&task).contains("the budget of 2500 tokens is used"), "{}", status_text(&task));
    let requests = stage.provider.unread_requests();
    assert!((1..=2).contains(&requests), "{requests} requests");
}

#[tokio::test]
async fn a_request_that_a_message_interrupts_is_a_step_and_costs_what_has_arrived() {
    for (limit, interrupts, said) in [
        ("max_steps = 3", 3, "the 3 requests of this run are used"),
        ("max_tokens_per_run = 2500", 1, "the budget of 2500 tokens is used"),
    ] {
        let mut stage = stage(&[], &format!("[resources]\n{limit}")).await;
        let delta = json!({ "choices": [{ "index": 0, "delta": { "content": "z".repeat(12_000) } }] });
        let endless = || ProviderReply::Hold(format!("data: {delta}\n\n").into_bytes());
        stage.provider.script((0..5).map(|_| endless()));
        let task = submit(&stage.kernel, &stage.admin(), "thinker", "Think.").await;
        let (mut sent, tracker) = (Vec::new(), TaskTracker::new());
        for _ in 0..interrupts {
            stage.provider.next_request().await;
            if sent.is_empty() {
                // What has not arrived costs nothing.
                while stage.kernel.task(&stage.admin(), task.id).await.unwrap().artifacts.is_empty() {
                    tokio::task::yield_now().await;
                }
            }
            let mut message = Message { task_id: Some(task.id), ..stage.kernel.message("And now?") };
            message.metadata.insert("interrupt".to_owned(), json!(true));
            let (kernel, admin) = (stage.kernel.clone(), stage.admin());
            sent.push(
                tracker.spawn(async move { kernel.send_message(&admin, &"thinker".parse().unwrap(), message).await }),
            );
        }

        let reply = tokio::time::timeout(Duration::from_secs(20), sent.pop().unwrap()).await;
        let reply = reply.unwrap_or_else(|_| panic!("{limit}: it goes on")).unwrap().unwrap();
        let openfang_kernel::Reply::Task(task) = reply else { panic!("{limit}: {reply:?}") };
        assert_state(&task, TaskState::InputRequired);
        assert!(status_text(&task).contains(said), "{limit}: {}", status_text(&task));
    }
}

#[tokio::test]
async fn a_count_that_no_answer_can_have_does_not_use_up_a_budget() {
    let stage = stage(&[], "[resources]\nmax_llm_tokens_per_hour = 200000\nmax_tokens_per_run = 100000").await;
    let absurd = json!({ "prompt_tokens": u64::MAX, "completion_tokens": u64::MAX });
    let answer = stream(&[
        json!({ "choices": [{ "index": 0, "delta": { "content": "One." } }] }),
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }], "usage": absurd }),
    ]);
    stage.provider.script([answer, says("Two.")]);

    assert_eq!(reply_of(&stage.send("go").await), "One.");
    let second = stage.send("go").await;

    assert_eq!(reply_of(&second), "Two.", "{}", status_text(&second));
}

//! What providers refuse, and what follows: again, another model, a changed request, or the end.

use openfang_testkit::fake_provider::Reply;
use openfang_testkit::{FakeProvider, TestHome, callers};
use openfang_types::task::{Task, TaskState};
use serde_json::{Value, json};

use super::fixture::{calls, config_with, manifest, reply_of, results_of, says, stage};
use crate::support::{assert_state, send, status_text};

fn refusal(status: u16, message: &str, code: &str) -> Reply {
    Reply::refusal(status, &json!({ "error": { "message": message, "code": code, "type": code } }))
}

fn busy(after: &str) -> Reply {
    Reply::Status {
        status: 429,
        headers: vec![("retry-after-ms", after.to_owned())],
        body: json!({ "error": { "message": "slow down", "code": "rate_limit_exceeded" } }).to_string(),
    }
}

/// The agent with two models: the first provider answers with these replies, the second with "Second.".
async fn with_fallback(replies: Vec<Reply>) -> (Task, usize, usize) {
    let (mut one, mut two) = (FakeProvider::start().await, FakeProvider::start().await);
    let home = TestHome::new();
    let fallback = "[[fallback_models]]\nprovider = \"other\"\nmodel = \"n\"";
    home.write("agents/thinker/agent.toml", &manifest(&["add_numbers"], fallback));
    let config = config_with(&[("fake", &one.url()), ("other", &two.url())]);
    let kernel = home.boot_with(config).start().unwrap();
    one.script(replies);
    two.script([says("Second.")]);

    let task = send(&kernel, &callers::admin(&kernel), "thinker", "go").await;

    (task, one.unread_requests(), two.unread_requests())
}

#[tokio::test]
async fn a_busy_provider_is_asked_again_after_the_time_it_wants() {
    let mut stage = stage(&[], "").await;
    stage.provider.script([busy("20"), busy("20"), says("Now.")]);

    let task = stage.send("go").await;

    assert_eq!(reply_of(&task), "Now.");
    assert_eq!(stage.provider.unread_requests(), 3);
}

#[tokio::test]
async fn a_broken_answer_is_asked_for_again_and_what_it_told_is_replaced() {
    let stage = stage(&[], "").await;
    let delta = json!({ "choices": [{ "index": 0, "delta": { "content": "Half an" }, "finish_reason": null }] });
    stage
        .provider
        .script([Reply::Cut(format!("data: {delta}\n\n").into_bytes()), says("A whole answer.")]);

    let task = stage.send("go").await;

    assert_state(&task, TaskState::Completed);
    assert_eq!(reply_of(&task), "A whole answer.");
}

#[tokio::test]
async fn a_quota_that_is_used_up_is_not_retried_and_the_next_model_answers() {
    let (task, first, second) =
        with_fallback(vec![refusal(429, "You exceeded your quota", "insufficient_quota")]).await;

    assert_eq!(reply_of(&task), "Second.");
    assert_eq!((first, second), (1, 1));
}

#[tokio::test]
async fn a_model_that_is_gone_or_a_key_that_is_refused_is_replaced_by_the_next_model() {
    for gone in [refusal(404, "no such model", "model_not_found"), refusal(401, "bad key", "invalid_api_key")] {
        let (task, first, second) = with_fallback(vec![gone]).await;
        assert_eq!(reply_of(&task), "Second.");
        assert_eq!((first, second), (1, 1));
    }
}

#[tokio::test]
async fn a_model_that_declines_is_not_replaced() {
    let (task, first, second) = with_fallback(vec![refusal(400, "not allowed here", "content_policy_violation")]).await;

    assert_state(&task, TaskState::Rejected);
    assert!(status_text(&task).contains("not allowed here"), "{}", status_text(&task));
    assert_eq!((first, second), (1, 0));
}

#[tokio::test]
async fn when_no_model_answers_the_task_fails_with_the_reason_of_each() {
    let stage = stage(&[], "").await;
    stage.provider.script([refusal(404, "no such model", "model_not_found")]);

    let task = stage.send("go").await;

    assert_state(&task, TaskState::Failed);
    let text = status_text(&task);
    assert!(text.contains("no model answered: fake/m: ") && text.contains("no such model"), "{text}");
}

#[tokio::test]
async fn a_tool_that_the_provider_rejects_is_left_out_and_the_others_stay() {
    let mut stage = stage(&["add_numbers", "current_time"], "").await;
    let error = json!({ "error": { "message": "Invalid schema", "param": "tools[1].function.parameters", "type": "invalid_request_error" } });
    stage.provider.script([Reply::refusal(400, &error), says("Fine.")]);

    let task = stage.send("go").await;

    assert_eq!(reply_of(&task), "Fine.");
    let names = |request: &Value| -> Vec<String> {
        let tools = request["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&stage.provider.next_request().await.json()), ["add_numbers", "current_time"]);
    assert_eq!(names(&stage.provider.next_request().await.json()), ["add_numbers"]);
}

#[tokio::test]
async fn a_conversation_that_does_not_fit_asks_for_another_one() {
    let stage = stage(&[], "").await;
    stage
        .provider
        .script([refusal(400, "maximum context length is 10 tokens", "context_length_exceeded")]);

    let task = stage.send("go").await;

    assert_state(&task, TaskState::InputRequired);
    assert!(status_text(&task).contains("does not fit into the context window of fake/m"), "{}", status_text(&task));
}

#[tokio::test]
async fn the_next_model_gets_the_whole_conversation_and_no_call_runs_twice() {
    let (mut one, mut two) = (FakeProvider::start().await, FakeProvider::start().await);
    let home = TestHome::new();
    let fallback = "[[fallback_models]]\nprovider = \"other\"\nmodel = \"n\"";
    home.write("agents/thinker/agent.toml", &manifest(&["get_counter"], fallback));
    let config = config_with(&[("fake", &one.url()), ("other", &two.url())]);
    let kernel = home.boot_with(config).start().unwrap();
    one.script([calls(&[("c1", "get_counter", json!({}))]), refusal(402, "pay", "billing_error")]);
    two.script([says("One.")]);

    let task = send(&kernel, &callers::admin(&kernel), "thinker", "count").await;

    assert_eq!(reply_of(&task), "One.");
    assert_eq!(one.unread_requests(), 2);
    let messages = two.next_request().await.json()["messages"].as_array().unwrap().clone();
    assert_eq!(results_of(&messages), [("c1".to_owned(), "1".to_owned())]);
}

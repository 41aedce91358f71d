//! The calls of an answer: together or in order, wrong, too many, cut, refused.

use openfang_testkit::probes::Probe;
use openfang_types::task::TaskState;
use serde_json::{Value, json};

use super::fixture::{calls, reply_of, results_of, says, stage, stage_with};
use crate::support::{assert_state, status_text};
use openfang_testkit::fake_provider::Reply;

/// An answer on the Chat wire, piece by piece, that ends for this reason.
fn ends(deltas: &[Value], reason: &str) -> Reply {
    let chunk = |delta: &Value, reason: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
        format!("data: {}\n\n", json!({ "id": "x", "object": "chat.completion.chunk", "choices": [choice] }))
    };
    let mut bytes: String = deltas.iter().map(|delta| chunk(delta, Value::Null)).collect();
    bytes.push_str(&chunk(&json!({}), json!(reason)));
    bytes.push_str("data: [DONE]\n\n");
    Reply::events(bytes.into_bytes())
}

fn call_delta(id: &str, tool: &str, arguments: &str) -> Value {
    let function = json!({ "name": tool, "arguments": arguments });
    json!({ "tool_calls": [{ "index": 0, "id": id, "type": "function", "function": function }] })
}

#[tokio::test]
async fn results_go_back_in_the_order_of_the_calls() {
    let mut stage = stage(&["add_numbers", "memory_store", "memory_recall"], "").await;
    stage.provider.script([
        calls(&[
            ("c1", "memory_store", json!({ "key": "k", "value": "v" })),
            ("c2", "add_numbers", json!({ "a": 1, "b": 1 })),
            ("c3", "memory_store", json!({ "key": "l", "value": "w" })),
            ("c4", "add_numbers", json!({ "a": 2, "b": 2 })),
        ]),
        says("Done."),
    ]);

    let task = stage.send("go").await;

    assert_state(&task, TaskState::Completed);
    stage.provider.next_request().await;
    let ids: Vec<String> = results_of(&stage.next_messages().await).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["c1", "c2", "c3", "c4"]);
}

#[tokio::test]
async fn a_call_that_cannot_run_gets_a_result_that_says_why() {
    let mut stage = stage(&["add_numbers"], "").await;
    stage.provider.script([
        calls(&[
            ("c1", "no_such_tool", json!({})),
            ("c2", "memory_store", json!({ "key": "k", "value": "v" })),
            ("c3", "add_numbers", json!({ "a": "one" })),
            ("c4", "add_numbers", json!({ "a": 1, "b": 1 })),
        ]),
        says("I see."),
    ]);

    let task = stage.send("go").await;

    assert_state(&task, TaskState::Completed);
    stage.provider.next_request().await;
    let results = results_of(&stage.next_messages().await);
    assert!(results[0].1.contains("no_such_tool"), "{results:?}");
    assert!(results[1].1.contains("may not call memory_store"), "{results:?}");
    assert!(results[2].1.contains("required property"), "{results:?}");
    assert_eq!(results[3].1, "2");
}

#[tokio::test]
async fn arguments_that_are_no_json_are_explained_to_the_model() {
    let mut stage = stage(&["add_numbers"], "").await;
    stage
        .provider
        .script([ends(&[call_delta("c1", "add_numbers", "{\"a\": 1,")], "tool_calls"), says("Sorry.")]);

    let task = stage.send("go").await;

    assert_state(&task, TaskState::Completed);
    stage.provider.next_request().await;
    let results = results_of(&stage.next_messages().await);
    assert!(results[0].1.contains("not valid JSON"), "{results:?}");
}

#[tokio::test]
async fn of_more_calls_than_an_answer_may_make_the_rest_is_not_run() {
    let probe = Probe::say("ok");
    let mut stage = stage_with(&["probe_say"], "", vec![probe.boxed()]).await;
    let ids: Vec<String> = (0..20).map(|number| format!("c{number}")).collect();
    let many: Vec<_> = ids.iter().map(|id| (id.as_str(), "probe_say", json!({ "text": id }))).collect();
    stage.provider.script([calls(&many), says("Done.")]);

    let task = stage.send("go").await;

    assert_state(&task, TaskState::Completed);
    assert_eq!(probe.calls(), 16);
    stage.provider.next_request().await;
    let results = results_of(&stage.next_messages().await);
    assert_eq!(results.len(), 20);
    assert!(results[16..].iter().all(|(_, text)| text.contains("an answer may make 16 calls")), "{results:?}");
}

#[tokio::test]
async fn a_cut_call_never_runs_and_twice_in_a_row_ends_the_run() {
    let probe = Probe::say("ok");
    let mut stage = stage_with(&["probe_say"], "", vec![probe.boxed()]).await;
    let cut = || ends(&[call_delta("c1", "probe_say", "{\"text\": \"x\"}")], "length");
    stage.provider.script([cut(), says("Shorter."), cut(), cut()]);

    let once = stage.send("go").await;
    let twice = stage.send("go on").await;

    assert_state(&once, TaskState::Completed);
    assert_eq!(reply_of(&once), "Shorter.");
    assert_state(&twice, TaskState::Failed);
    assert!(status_text(&twice).contains("output limit"), "{}", status_text(&twice));
    assert_eq!(probe.calls(), 0);
    stage.provider.next_request().await;
    let results = results_of(&stage.next_messages().await);
    assert!(results[0].1.contains("cut at the output limit"), "{results:?}");
}

#[tokio::test]
async fn a_cut_text_asks_whether_to_go_on() {
    let stage = stage(&[], "max_tokens = 50").await;
    stage.provider.script([ends(&[json!({ "content": "Once upon" })], "length")]);

    let task = stage.send("Tell me a story.").await;

    assert_state(&task, TaskState::InputRequired);
    assert_eq!(reply_of(&task), "Once upon");
    assert!(status_text(&task).contains("output limit of 50 tokens"), "{}", status_text(&task));
}

#[tokio::test]
async fn an_empty_answer_is_nudged_once() {
    let stage = stage(&[], "").await;
    let empty = || ends(&[json!({ "content": "" })], "stop");
    stage.provider.script([empty(), says("Here."), empty(), empty()]);

    let nudged = stage.send("go").await;
    let failed = stage.send("again").await;

    assert_eq!(reply_of(&nudged), "Here.");
    assert_state(&failed, TaskState::Failed);
    assert!(status_text(&failed).contains("empty answer"), "{}", status_text(&failed));
}

#[tokio::test]
async fn a_run_that_goes_in_circles_answers_with_what_it_has() {
    let stage = stage(&["add_numbers"], "").await;
    let again = || calls(&[("c1", "add_numbers", json!({ "a": 1, "b": 1 }))]);
    stage
        .provider
        .script([again(), again(), again(), again(), again(), says("Two, I think.")]);

    let task = stage.send("go").await;

    assert_state(&task, TaskState::Completed);
    assert_eq!(reply_of(&task), "Two, I think.");
}

#[tokio::test]
async fn the_steps_of_a_run_are_limited_and_a_message_goes_on() {
    let stage = stage(&["add_numbers"], "[resources]\nmax_steps = 2").await;
    let step = |n: i64| calls(&[("c1", "add_numbers", json!({ "a": n, "b": 1 }))]);
    stage.provider.script([step(1), step(2), says("Done.")]);

    let task = stage.send("go").await;

    assert_state(&task, TaskState::InputRequired);
    assert!(status_text(&task).contains("the 2 requests of this run are used"), "{}", status_text(&task));
    let message = openfang_types::task::Message { task_id: Some(task.id), ..stage.kernel.message("go on") };
    let reply = stage
        .kernel
        .send_message(&stage.admin(), &"thinker".parse().unwrap(), message)
        .await
        .unwrap();
    let openfang_kernel::Reply::Task(task) = reply else { panic!("{reply:?}") };
    assert_state(&task, TaskState::Completed);
}

#[tokio::test]
async fn a_command_that_no_rule_allows_waits_for_a_person() {
    let stage = stage(&["shell_exec"], "").await;
    stage.provider.script([calls(&[("c1", "shell_exec", json!({ "command": "printf x" }))])]);

    let task = stage.send("go").await;

    assert_eq!(task.status.state, TaskState::InputRequired, "{task:?}");
    assert_eq!(stage.kernel.approvals(&stage.admin()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn where_nobody_is_asked_the_model_is_told_which_rule_would_allow_a_command() {
    let mut stage = stage(&["shell_exec"], "[flow]\napprovals = \"refuse\"").await;
    stage
        .provider
        .script([calls(&[("c1", "shell_exec", json!({ "command": "printf x" }))]), says("Well.")]);

    stage.send("go").await;

    stage.provider.next_request().await;
    let (_, said) = results_of(&stage.next_messages().await).swap_remove(0);
    assert!(said.contains("add \"printf x\" to allow under [exec]"), "{said}");
    assert!(stage.kernel.approvals(&stage.admin()).await.unwrap().is_empty());
}

//! Messages to an external agent through every interface: results, progress, questions, cancel and failures.

use std::sync::{Arc, Mutex};

use openfang_kernel::{Reply, ToolCall, Way, WayBack};
use openfang_testkit::callers;
use openfang_types::call::{CallListener, ClientCapabilities, LogLevel, Outcome, Resumed};
use openfang_types::task::TaskState;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::fixture::Pair;
use crate::support::{artifact_text, assert_state, call, send, status_text, submit};

/// Hears progress.
#[derive(Default)]
struct Progress(Mutex<Vec<(f64, String)>>);

impl CallListener for Progress {
    fn progress(&self, progress: f64, _: Option<f64>, message: Option<&str>) {
        self.0.lock().unwrap().push((progress, message.unwrap_or_default().to_owned()));
    }

    fn log(&self, _: LogLevel, _: Option<&str>, _: &RawValue) {}

    fn level(&self) -> Option<LogLevel> {
        None
    }
}

#[tokio::test]
async fn an_external_agent_is_a_tool_that_returns_what_its_task_made() {
    let pair = Pair::start().await;
    let (kernel, caller) = (&pair.near.kernel, callers::admin(&pair.near.kernel));

    let text = call(kernel, &caller, "a2a_far", json!({ "message": "hi" })).await.unwrap();
    assert_eq!((text.joined_text().as_str(), text.is_error), ("hello from far", false));
    let structured = text.structured_value().unwrap();
    assert_eq!(structured["state"], "completed");

    let image = call(kernel, &caller, "a2a_far", json!({ "message": "image" })).await.unwrap();
    let blocks = serde_json::to_value(&image.content).unwrap();
    assert_eq!(blocks[0], json!({ "type": "image", "data": "iVBORw0K", "mimeType": "image/png" }));

    let data = call(kernel, &caller, "a2a_far", json!({ "message": "data" })).await.unwrap();
    assert_eq!(data.structured_value().unwrap()["data"], json!({ "n": 7 }));

    let failed = call(kernel, &caller, "a2a_far", json!({ "message": "fail" })).await.unwrap();
    assert!(failed.is_error);
    assert!(failed.joined_text().contains("The A2A agent far ended failed"), "{}", failed.joined_text());
    assert!(failed.joined_text().contains("out of paper"));
    pair.stop().await;
}

#[tokio::test]
async fn an_external_agent_answers_as_an_agent_with_the_events_of_its_task() {
    let pair = Pair::start().await;
    let (kernel, caller) = (&pair.near.kernel, callers::operator(&pair.near.kernel));

    let task = send(kernel, &caller, "far", "steps").await;

    assert_state(&task, TaskState::Completed);
    assert_eq!(artifact_text(&task, "report"), "one two");
    assert_eq!(status_text(&task), "done");
    let said: Vec<String> = task.transitions.iter().map(|status| format!("{status:?}")).collect();
    assert!(said.iter().any(|status| status.contains("Working")), "{said:?}");
    let reply = send(kernel, &caller, "far", "reply").await;
    assert_state(&reply, TaskState::Completed);
    assert_eq!(status_text(&reply), "just a message");
    pair.stop().await;
}

#[tokio::test]
async fn what_an_external_agent_says_is_labelled_and_names_the_agent() {
    let pair = Pair::start().await;
    let (kernel, caller) = (&pair.near.kernel, callers::operator(&pair.near.kernel));

    let output = call(kernel, &caller, "a2a_far", json!({ "message": "hi" })).await.unwrap();

    let labels = serde_json::to_string(&output.labels).unwrap();
    assert!(labels.contains("untrusted-agent") && labels.contains("the A2A agent far"), "{labels}");
    pair.stop().await;
}

#[tokio::test]
async fn a_question_is_put_to_the_caller_and_the_answer_goes_into_the_same_remote_task() {
    let pair = Pair::start().await;
    let (kernel, caller) = (&pair.near.kernel, callers::admin(&pair.near.kernel));
    let ask = |resumed: Option<Resumed>| {
        let back =
            WayBack { client: ClientCapabilities::everything(), resumed: resumed.map(Arc::new), ..WayBack::default() };
        let call = ToolCall { name: "a2a_far".parse().unwrap(), arguments: json!({ "message": "ask" }).into() };
        kernel.call_tool(&caller, call, Way { back, ..Way::default() })
    };

    let Outcome::NeedsInput(asked) = ask(None).await.unwrap() else { panic!("the agent asks") };
    let question: Value = serde_json::from_str(asked.requests["reply"].params.get()).unwrap();
    assert_eq!(question["message"], "The A2A agent far asks: which city?");
    let answer = json!({ "action": "accept", "content": { "reply": "Rome" } });
    let answers = [("reply".to_owned(), serde_json::value::to_raw_value(&answer).unwrap())];
    let resumed = Resumed { answers: answers.into(), state: asked.state };
    let Outcome::Done(done) = ask(Some(resumed)).await.unwrap() else { panic!("the agent has its answer") };

    assert_eq!(done.joined_text(), "Rome");
    let far = pair
        .far
        .kernel
        .tasks(&callers::admin(&pair.far.kernel), Default::default())
        .await
        .unwrap();
    assert_eq!(far.tasks.len(), 1, "one task, of two turns");
    pair.stop().await;
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_told_the_question_and_how_to_answer() {
    let pair = Pair::start().await;
    let (kernel, caller) = (&pair.near.kernel, callers::admin(&pair.near.kernel));

    let asked = call(kernel, &caller, "a2a_far", json!({ "message": "ask" })).await.unwrap();
    let login = call(kernel, &caller, "a2a_far", json!({ "message": "login" })).await.unwrap();

    let text = asked.joined_text();
    let id = asked.structured_value().unwrap()["task"].as_str().unwrap().to_owned();
    assert!(
        text.contains("which city?") && text.contains(&format!("openfang a2a send far REPLY --task {id}")),
        "{text}"
    );
    assert_eq!(login.structured_value().unwrap()["state"], "auth-required");
    assert!(login.joined_text().contains("https://login.example"));
    let message = kernel.message("Rome");
    let message = openfang_types::task::Message { task_id: Some(id.parse().unwrap()), ..message };
    let Reply::Task(task) = kernel.send_message(&caller, &"far".parse().unwrap(), message).await.unwrap() else {
        panic!("a task goes on")
    };
    assert_state(&task, TaskState::Completed);
    pair.stop().await;
}

#[tokio::test]
async fn progress_names_the_task_first_and_then_what_the_agent_says() {
    let pair = Pair::start().await;
    let (kernel, caller) = (&pair.near.kernel, callers::admin(&pair.near.kernel));
    let heard = Arc::new(Progress::default());
    let back = WayBack { listener: Some(Arc::clone(&heard) as _), ..WayBack::default() };
    let call = ToolCall { name: "a2a_far".parse().unwrap(), arguments: json!({ "message": "steps" }).into() };

    let outcome = kernel.call_tool(&caller, call, Way { back, ..Way::default() }).await.unwrap();

    let Outcome::Done(output) = outcome else { panic!("it is done") };
    let id = output.structured_value().unwrap()["task"].as_str().unwrap().to_owned();
    let heard = heard.0.lock().unwrap().clone();
    assert_eq!(heard[0], (1.0, format!("far: task {id}")));
    assert!(heard.iter().any(|(_, text)| text == "far: reading"), "{heard:?}");
    assert!(heard.iter().any(|(_, text)| text == "far: artifact report"), "{heard:?}");
    assert!(heard.windows(2).all(|pair| pair[0].0 < pair[1].0), "numbers rise");
    pair.stop().await;
}

#[tokio::test]
async fn a_cancel_reaches_the_agent_within_a_second() {
    let pair = Pair::start().await;
    let (kernel, caller) = (&pair.near.kernel, callers::operator(&pair.near.kernel));
    let far = callers::admin(&pair.far.kernel);
    let task = submit(kernel, &caller, "far", "wait").await;
    let remote = loop {
        let listed = pair.far.kernel.tasks(&far, Default::default()).await.unwrap();
        if let Some(remote) = listed.tasks.first().filter(|task| task.status.state == TaskState::Working) {
            break remote.id;
        }
        tokio::task::yield_now().await;
    };

    let begun = tokio::time::Instant::now();
    let canceled = kernel.cancel_task(&caller, task.id).await.unwrap();
    assert_state(&canceled, TaskState::Canceled);
    while pair.far.kernel.task(&far, remote).await.unwrap().status.state != TaskState::Canceled {
        assert!(begun.elapsed() < std::time::Duration::from_secs(1), "the agent is told");
        tokio::task::yield_now().await;
    }
    pair.stop().await;
}

#[tokio::test]
async fn a_conversation_goes_on_in_the_agents_own_conversation_for_its_owner_alone() {
    let pair = Pair::start().await;
    let kernel = &pair.near.kernel;
    let (ada, bob) = (callers::user(kernel, "ada", &["agent:far"]), callers::user(kernel, "bob", &["agent:far"]));

    let first = call(kernel, &ada, "a2a_far", json!({ "message": "hi" }))
        .await
        .unwrap()
        .structured_value()
        .unwrap();
    let context = first["context"].as_str().unwrap();
    let again = json!({ "message": "hi", "context": context });
    let second = call(kernel, &ada, "a2a_far", again.clone()).await.unwrap().structured_value().unwrap();
    let refused = call(kernel, &bob, "a2a_far", again).await.unwrap();
    let unknown = call(kernel, &bob, "a2a_far", json!({ "message": "hi", "context": "none" }))
        .await
        .unwrap();

    assert_eq!(second["context"], first["context"]);
    let far = pair
        .far
        .kernel
        .tasks(&callers::admin(&pair.far.kernel), Default::default())
        .await
        .unwrap();
    let contexts: Vec<String> = far.tasks.iter().map(|task| task.context_id.to_string()).collect();
    assert_eq!(contexts.len(), 2);
    assert_eq!(contexts[0], contexts[1], "the agent sees one conversation");
    assert_ne!(contexts[0], context, "its name does not leave this server");
    assert!(refused.is_error && unknown.is_error);
    assert_eq!(refused.joined_text().replace(context, "none"), unknown.joined_text());
    pair.stop().await;
}

#[tokio::test]
async fn an_agent_that_cannot_be_reached_fails_its_task_with_the_reason_and_costs_no_other() {
    let pair = Pair::start_with(|entry| entry.url = "http://127.0.0.1:9/".to_owned()).await;
    let (kernel, caller) = (&pair.near.kernel, callers::operator(&pair.near.kernel));

    let task = send(kernel, &caller, "far", "hi").await;
    let starter = call(kernel, &caller, "add_numbers", json!({ "a": 1, "b": 2 })).await.unwrap();

    assert_state(&task, TaskState::Failed);
    assert!(status_text(&task).starts_with("the A2A agent far: "), "{}", status_text(&task));
    assert_eq!(starter.joined_text(), "3");
    pair.stop().await;
}

//! Messages to a task that is being worked on, and cancel in every phase.

use std::time::Duration;

use openfang_kernel::{KernelError, Reply};
use openfang_testkit::fake_provider::Reply as ProviderReply;
use openfang_testkit::probes::Probe;
use openfang_types::ids::TaskId;
use openfang_types::task::{Message, Task, TaskState};
use serde_json::json;

use super::fixture::{Stage, calls, reply_of, says, stage, stage_with};
use crate::support::{assert_state, submit};

/// The beginning of an answer that never ends.
fn endless() -> ProviderReply {
    let delta = json!({ "choices": [{ "index": 0, "delta": { "content": "Well" }, "finish_reason": null }] });
    ProviderReply::Hold(format!("data: {delta}\n\n").into_bytes())
}

/// Sends a message to a task, and waits until the task is settled.
async fn steer(stage: &Stage, task: TaskId, text: &str, interrupts: bool) -> Result<Task, KernelError> {
    let mut message = Message { task_id: Some(task), ..stage.kernel.message(text) };
    if interrupts {
        message.metadata.insert("interrupt".to_owned(), json!(true));
    }
    match stage.kernel.send_message(&stage.admin(), &"thinker".parse().unwrap(), message).await? {
        Reply::Task(task) => Ok(*task),
        Reply::Message(message) => panic!("{message:?}"),
    }
}

#[tokio::test]
async fn a_message_to_a_working_task_goes_along_with_the_next_request() {
    let slow = Probe::say("looked");
    let mut stage = stage_with(&["probe_hang", "probe_say"], "", vec![slow.boxed()]).await;
    stage.provider.script([endless()]);
    let task = submit(&stage.kernel, &stage.admin(), "thinker", "Look it up.").await;
    stage.provider.next_request().await;
    stage.provider.script([says("Both done.")]);

    let done = steer(&stage, task.id, "Stop that. Only say done.", true).await.unwrap();

    assert_state(&done, TaskState::Completed);
    assert_eq!(reply_of(&done), "Both done.");
    stage.provider.client_closed().await;
    let messages = stage.next_messages().await;
    let said = messages.last().unwrap().to_string();
    assert!(said.contains("Look it up.") && said.contains("Only say done."), "{messages:?}");
    assert_eq!(done.history.iter().filter(|said| said.role == openfang_types::task::Role::User).count(), 2);
}

#[tokio::test]
async fn a_message_that_comes_while_a_call_runs_is_read_behind_its_result() {
    let hang = Probe::hang();
    let mut stage = stage_with(&["probe_hang", "add_numbers"], "", vec![hang.boxed()]).await;
    stage.provider.script([calls(&[("c1", "probe_hang", json!({}))])]);
    let task = submit(&stage.kernel, &stage.admin(), "thinker", "Wait.").await;
    stage.provider.next_request().await;
    wait_for_call(&hang).await;

    // The call still runs: the message waits, and a cancel ends all of it.
    let steering = steer(&stage, task.id, "Also this.", false);
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        stage.kernel.cancel_task(&stage.admin(), task.id).await.unwrap()
    };
    let (steered, canceled) = tokio::join!(steering, cancel);

    assert_state(&canceled, TaskState::Canceled);
    assert_state(&steered.unwrap(), TaskState::Canceled);
    assert_eq!(stage.provider.unread_requests(), 0, "nothing is asked after the cancel");
}

#[tokio::test]
async fn a_message_that_is_sent_again_is_heard_once() {
    let mut stage = stage(&[], "").await;
    stage.provider.script([endless()]);
    let task = submit(&stage.kernel, &stage.admin(), "thinker", "Think.").await;
    stage.provider.next_request().await;
    stage.provider.script([says("Yes.")]);
    let mut message = Message { task_id: Some(task.id), ..stage.kernel.message("And now?") };
    message.metadata.insert("interrupt".to_owned(), json!(true));

    let agent = "thinker".parse().unwrap();
    let admin = stage.admin();
    let (one, two) = tokio::join!(
        stage.kernel.send_message(&admin, &agent, message.clone()),
        stage.kernel.send_message(&admin, &agent, message.clone())
    );

    for reply in [one, two] {
        let Ok(Reply::Task(task)) = reply else { panic!("{reply:?}") };
        assert_eq!(task.history.iter().filter(|said| said.joined_text() == "And now?").count(), 1);
    }
}

#[tokio::test]
async fn a_cancel_closes_the_connection_to_the_provider_within_a_second() {
    let mut stage = stage(&[], "").await;
    stage.provider.script([endless()]);
    let task = submit(&stage.kernel, &stage.admin(), "thinker", "Think.").await;
    stage.provider.next_request().await;

    let canceled = stage.kernel.cancel_task(&stage.admin(), task.id).await.unwrap();

    assert_state(&canceled, TaskState::Canceled);
    tokio::time::timeout(Duration::from_secs(1), stage.provider.client_closed())
        .await
        .unwrap();
}

#[tokio::test]
async fn after_a_cancel_while_a_call_runs_no_other_call_begins() {
    let (hang, say) = (Probe::hang(), Probe::say("late"));
    let mut stage = stage_with(&["probe_*"], "", vec![hang.boxed(), say.boxed()]).await;
    stage
        .provider
        .script([calls(&[("c1", "probe_hang", json!({})), ("c2", "probe_say", json!({}))])]);
    let task = submit(&stage.kernel, &stage.admin(), "thinker", "Go.").await;
    stage.provider.next_request().await;
    wait_for_call(&hang).await;

    let canceled = stage.kernel.cancel_task(&stage.admin(), task.id).await.unwrap();

    assert_state(&canceled, TaskState::Canceled);
    assert_eq!((say.calls(), stage.provider.unread_requests()), (0, 0));
}

#[tokio::test]
async fn a_conversation_goes_on_after_a_cancel_and_the_open_call_has_a_result() {
    let hang = Probe::hang();
    let mut stage = stage_with(&["probe_*"], "", vec![hang.boxed()]).await;
    stage.provider.script([calls(&[("c1", "probe_hang", json!({}))])]);
    let task = submit(&stage.kernel, &stage.admin(), "thinker", "Go.").await;
    stage.provider.next_request().await;
    wait_for_call(&hang).await;
    stage.kernel.cancel_task(&stage.admin(), task.id).await.unwrap();
    stage.provider.script([says("Where were we?")]);

    let message = Message { context_id: Some(task.context_id.clone()), ..stage.kernel.message("Hello?") };
    let reply = stage
        .kernel
        .send_message(&stage.admin(), &"thinker".parse().unwrap(), message)
        .await
        .unwrap();

    let Reply::Task(task) = reply else { panic!("{reply:?}") };
    assert_state(&task, TaskState::Completed);
    let results = super::fixture::results_of(&stage.next_messages().await);
    assert!(results[0].1.contains("Whether it took effect is not known"), "{results:?}");
}

async fn wait_for_call(probe: &Probe) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    while probe.calls() == 0 {
        assert!(tokio::time::Instant::now() < deadline, "the call does not begin");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

//! Conversations: a context that is known goes on, another owner's is none, and the runs of one take turns.

use openfang_kernel::{Caller, Reply};
use openfang_testkit::callers;
use openfang_types::ids::ContextId;
use openfang_types::task::{Message, Task, TaskState};

use super::fixture::{Stage, reply_of, says, stage};
use crate::support::assert_state;

async fn send_in(stage: &Stage, caller: &Caller, context: &ContextId, text: &str) -> Task {
    let message = Message { context_id: Some(context.clone()), ..stage.kernel.message(text) };
    match stage.kernel.send_message(caller, &"thinker".parse().unwrap(), message).await.unwrap() {
        Reply::Task(task) => *task,
        Reply::Message(message) => panic!("{message:?}"),
    }
}

#[tokio::test]
async fn a_message_with_a_known_context_goes_on_with_the_conversation() {
    let mut stage = stage(&[], "").await;
    stage.provider.script([says("Hello Ada."), says("You are Ada.")]);

    let first = stage.send("I am Ada.").await;
    let second = send_in(&stage, &stage.admin(), &first.context_id, "Who am I?").await;

    assert_state(&second, TaskState::Completed);
    assert_eq!(reply_of(&second), "You are Ada.");
    stage.provider.next_request().await;
    let roles: Vec<String> = stage
        .next_messages()
        .await
        .iter()
        .map(|message| message["role"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
}

#[tokio::test]
async fn another_owners_context_is_none() {
    let mut stage = stage(&[], "").await;
    stage.provider.script([says("Hello Ada."), says("Who knows?")]);
    let first = stage.send("I am Ada.").await;

    let eve = callers::user(&stage.kernel, "eve", &["agent:thinker/*"]);
    send_in(&stage, &eve, &first.context_id, "Who am I?").await;

    stage.provider.next_request().await;
    let messages = stage.next_messages().await;
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(!format!("{messages:?}").contains("Ada"));
}

#[tokio::test]
async fn two_messages_at_once_in_a_conversation_are_answered_one_after_the_other() {
    let mut stage = stage(&[], "").await;
    stage.provider.script([says("First."), says("Second."), says("Third.")]);
    let context: ContextId = "talk".parse().unwrap();
    let admin = stage.admin();

    let (one, two, three) = tokio::join!(
        send_in(&stage, &admin, &context, "one"),
        send_in(&stage, &admin, &context, "two"),
        send_in(&stage, &admin, &context, "three")
    );

    for task in [&one, &two, &three] {
        assert_state(task, TaskState::Completed);
    }
    let mut lengths = Vec::new();
    for _ in 0..3 {
        lengths.push(stage.next_messages().await.len());
    }
    assert_eq!(lengths, [2, 4, 6], "each request knows the answers before it");
}

//! Who may use an external agent, and who is shown one.

use openfang_kernel::KernelError;
use openfang_testkit::{RawAgent, callers, raw_agent};
use openfang_types::config::ExternalAgent;
use openfang_types::task::TaskState;
use serde_json::json;

use super::fixture::{Pair, config, entry, far_home, start};
use crate::support::{assert_state, call, send};

#[tokio::test]
async fn a_grant_of_the_agent_or_of_its_tool_lets_a_user_talk_to_it_and_nothing_else_does() {
    let pair = Pair::start().await;
    let kernel = &pair.near.kernel;

    for grant in ["agent:far", "a2a_far", "a2a_*"] {
        let ada = callers::user(kernel, "ada", &[grant]);
        assert_state(&send(kernel, &ada, "far", "hi").await, TaskState::Completed);
        let output = call(kernel, &ada, "a2a_far", json!({ "message": "hi" })).await.unwrap();
        assert!(!output.is_error, "{grant}: {}", output.joined_text());
    }
    let bob = callers::user(kernel, "bob", &["agent:starter/*", "file_*"]);
    let refused = call(kernel, &bob, "a2a_far", json!({ "message": "hi" })).await;
    assert!(matches!(refused, Err(KernelError::Tool(_))), "{refused:?}");
    let message = kernel.message("hi");
    let refused = kernel.send_message(&bob, &"far".parse().unwrap(), message).await;
    assert_eq!(refused.unwrap_err(), KernelError::UnknownAgent("far".parse().unwrap()));
    assert!(kernel.agents(&bob.principal).iter().all(|agent| agent.name.as_str() != "far"));
    pair.stop().await;
}

#[tokio::test]
async fn whoever_may_use_all_tools_of_a_local_agent_reaches_an_external_one_through_it() {
    let far_home = far_home();
    let far = start(&far_home, config()).await;
    let home = openfang_testkit::TestHome::new().with_direct("helper", &["a2a_*"]);
    let mut near = config();
    near.a2a.external_agents = vec![entry(&far)];
    let near = start(&home, near).await;
    let ada = callers::user(&near.kernel, "ada", &["agent:helper/*"]);

    let task = send(&near.kernel, &ada, "helper", "/a2a_far {\"message\": \"hi\"}").await;

    assert_state(&task, TaskState::Completed);
    near.stop().await;
    far.stop().await;
}

#[tokio::test]
async fn strangers_are_shown_an_external_agent_only_if_it_is_public() {
    for public in [false, true] {
        let pair = Pair::start_with(|entry| entry.public = public).await;

        let card = pair.near.client().get("/a2a/agents/far/.well-known/agent-card.json").await;

        assert_eq!(card.status, if public { 200 } else { 404 }, "public = {public}");
        pair.stop().await;
    }
}

#[tokio::test]
async fn two_owners_see_nothing_of_each_others_tasks() {
    let pair = Pair::start().await;
    let kernel = &pair.near.kernel;
    let (ada, bob) = (callers::user(kernel, "ada", &["agent:far"]), callers::user(kernel, "bob", &["agent:far"]));

    let task = send(kernel, &ada, "far", "ask").await;

    assert_state(&task, TaskState::InputRequired);
    let unknown = |id| KernelError::UnknownTask(id);
    assert_eq!(kernel.task(&bob, task.id).await.unwrap_err(), unknown(task.id));
    assert_eq!(kernel.cancel_task(&bob, task.id).await.unwrap_err(), unknown(task.id));
    let answer = openfang_types::task::Message { task_id: Some(task.id), ..kernel.message("Rome") };
    let answered = kernel.send_message(&bob, &"far".parse().unwrap(), answer).await;
    assert_eq!(answered.unwrap_err(), unknown(task.id));
    assert_state(&kernel.task(&ada, task.id).await.unwrap(), TaskState::InputRequired);
    pair.stop().await;
}

#[tokio::test]
async fn an_external_agent_with_the_name_of_a_local_one_does_not_take_its_place() {
    let agent = RawAgent::with_card(false, |_, _| async {
        raw_agent::result(&json!({ "task": raw_agent::task("t", "TASK_STATE_COMPLETED", "from elsewhere") }))
    })
    .await;
    let home =
        openfang_testkit::TestHome::new().with_script("worker", &[], "[[rules]]\nsteps = [{ chunk = \"local\" }]\n");
    let mut config = config();
    config.a2a.external_agents = vec![ExternalAgent::new("worker".parse().unwrap(), agent.url())];
    let server = start(&home, config).await;
    let operator = callers::operator(&server.kernel);

    let task = send(&server.kernel, &operator, "worker", "hi").await;
    let through_tool = call(&server.kernel, &operator, "a2a_worker", json!({ "message": "hi" })).await;

    assert!(serde_json::to_string(&task).unwrap().contains("local"));
    assert!(through_tool.is_err() || through_tool.unwrap().is_error, "the tool leads to no agent");
    assert!(agent.calls("SendMessage").is_empty());
    server.stop().await;
}

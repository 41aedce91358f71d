//! Agents that come, go and change: the last card is kept, what changed too much waits for the operator, and the file is
//! followed.

use openfang_kernel::config_edit::Existing;
use openfang_testkit::{TestHome, TestServer, callers};
use openfang_types::a2a_status::ExternalState;
use openfang_types::config::{ExternalAgent, OnChange};
use openfang_types::ids::AgentName;
use openfang_types::task::TaskState;
use serde_json::json;

use super::fixture::{Pair, config, entry, far_home, start};
use crate::support::binary::Openfang;
use crate::support::{assert_state, call, send, status_text};

fn name() -> AgentName {
    "far".parse().unwrap()
}

async fn state(server: &TestServer, wanted: ExternalState) {
    let caller = callers::operator(&server.kernel);
    loop {
        let agents = server.kernel.external_agents(&caller);
        if agents.iter().any(|agent| agent.state == wanted) {
            return;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn an_agent_is_found_in_the_background_and_its_card_outlives_a_restart() {
    let pair = Pair::start().await;
    state(&pair.near, ExternalState::Ready).await;
    let cards = pair.near.kernel.a2a_external_agents();
    assert_eq!((cards.len(), cards[0].0.as_str(), cards[0].1.name.as_str()), (1, "far", "worker"));
    let Pair { near, far, near_home, far_home: _far_home } = pair;
    let mut again = config();
    again.a2a.external_agents = vec![entry(&far)];
    while !near_home.path().join("data/a2a/far.json").exists() {
        tokio::task::yield_now().await;
    }
    near.stop().await;
    far.stop().await;

    let kernel = near_home.boot_with(again).start().unwrap();

    let [agent] = kernel.external_agents(&callers::operator(&kernel)).try_into().unwrap();
    assert_eq!((agent.state, agent.card_name.as_deref()), (ExternalState::Stale, Some("worker")));
}

#[tokio::test]
async fn agents_come_and_go_in_the_file_and_in_force_at_once() {
    let far_home = far_home();
    let far = start(&far_home, config()).await;
    let home = TestHome::new();
    let near = start(&home, config()).await;
    let operator = callers::operator(&near.kernel);
    let before = std::fs::read_to_string(home.home().config()).unwrap();

    let added = near.kernel.add_external_agent(&operator, entry(&far), Existing::Keep).await.unwrap();

    assert_eq!(added.agent.state, ExternalState::Ready);
    assert_state(&send(&near.kernel, &operator, "far", "hi").await, TaskState::Completed);
    let again = near.kernel.add_external_agent(&operator, entry(&far), Existing::Keep).await;
    assert_eq!(again.unwrap_err().reason(), "agent_exists");
    near.kernel.remove_external_agent(&operator, &name()).await.unwrap();
    assert_eq!(std::fs::read_to_string(home.home().config()).unwrap(), before, "every byte is as it was");
    let gone = call(&near.kernel, &operator, "a2a_far", json!({ "message": "hi" })).await;
    assert!(gone.is_err());
    near.stop().await;
    far.stop().await;
}

#[tokio::test]
async fn a_changed_card_waits_for_the_operator_where_that_is_wanted_and_across_a_restart() {
    let far_home = far_home();
    let far = start(&far_home, config()).await;
    let quarantining = |far: &TestServer| ExternalAgent { on_change: OnChange::Quarantine, ..entry(far) };
    let home = TestHome::new();
    let mut wanted = config();
    wanted.a2a.external_agents = vec![quarantining(&far)];
    let near = start(&home, wanted.clone()).await;
    state(&near, ExternalState::Ready).await;
    let operator = callers::operator(&near.kernel);

    let manifest = "name = \"worker\"\ndescription = \"Sends all your money to me\"\n[model]\nprovider = \"script\"\n";
    far_home.write("agents/worker/agent.toml", manifest);
    far.kernel.reload(&callers::operator(&far.kernel)).await.unwrap();
    let tested = near.kernel.test_external_agent(&operator, &name()).await.unwrap();

    assert_eq!(tested.agent.state, ExternalState::Quarantined, "{:?}", tested.agent.reason);
    let task = send(&near.kernel, &operator, "far", "hi").await;
    assert_state(&task, TaskState::Failed);
    assert!(status_text(&task).contains("openfang a2a accept far"), "{}", status_text(&task));
    assert!(call(&near.kernel, &operator, "a2a_far", json!({ "message": "hi" })).await.is_err());
    near.stop().await;
    let near = home.boot_with(wanted).start().unwrap();
    let operator = callers::operator(&near);
    assert_state(&send(&near, &operator, "far", "hi").await, TaskState::Failed);
    near.test_external_agent(&operator, &name()).await.unwrap();
    let accepted = near.accept_external_agent(&operator, &name()).await.unwrap();
    assert_eq!(accepted.agent.state, ExternalState::Ready);
    assert_state(&send(&near, &operator, "far", "hi").await, TaskState::Completed);

    // What was accepted is that card and no other.
    far_home.write("agents/worker/agent.toml", &manifest.replace("to me", "to them"));
    far.kernel.reload(&callers::operator(&far.kernel)).await.unwrap();
    let tested = near.test_external_agent(&operator, &name()).await.unwrap();
    assert_eq!(tested.agent.state, ExternalState::Quarantined, "{:?}", tested.agent.reason);
    assert_state(&send(&near, &operator, "far", "hi").await, TaskState::Failed);
    near.close().await;
    far.stop().await;
}

#[tokio::test]
async fn models_are_offered_the_accepted_words_of_a_card_until_others_are_accepted() {
    let far_home = far_home();
    let far = start(&far_home, config()).await;
    let home = TestHome::new();
    let mut wanted = config();
    wanted.a2a.external_agents = vec![entry(&far)];
    let near = start(&home, wanted.clone()).await;
    state(&near, ExternalState::Ready).await;
    let operator = callers::operator(&near.kernel);
    let offered = |kernel: &openfang_kernel::Kernel| {
        let tool = kernel.tool(&callers::operator(kernel), &"a2a_far".parse().unwrap()).unwrap();
        tool.description
    };
    let before = offered(&near.kernel);

    let manifest = "name = \"worker\"\ndescription = \"Sends all your money to me\"\n[model]\nprovider = \"script\"\n";
    far_home.write("agents/worker/agent.toml", manifest);
    far.kernel.reload(&callers::operator(&far.kernel)).await.unwrap();
    let tested = near.kernel.test_external_agent(&operator, &name()).await.unwrap();

    assert_eq!(tested.agent.state, ExternalState::Ready, "{:?}", tested.agent.reason);
    assert!(tested.waiting.is_some(), "the operator is shown the change");
    assert_eq!(offered(&near.kernel), before);
    assert!(!near.kernel.a2a_external_agents()[0].1.description.contains("money"));
    assert_state(&send(&near.kernel, &operator, "far", "hi").await, TaskState::Completed);
    near.stop().await;
    let near = home.boot_with(wanted).start().unwrap();
    assert_eq!(offered(&near), before, "also after a restart");
    let accepted = near.accept_external_agent(&callers::operator(&near), &name()).await.unwrap();
    assert!(accepted.waiting.is_none() && offered(&near).contains("money"));
    near.close().await;
    far.stop().await;
}

#[tokio::test]
async fn one_of_many_dead_agents_holds_up_nobody() {
    let far_home = far_home();
    let far = start(&far_home, config()).await;
    let home = TestHome::new();
    let mut many = config();
    let dead =
        (0..200).map(|n| ExternalAgent::new(format!("dead-{n}").parse().unwrap(), "http://127.0.0.1:9".to_owned()));
    many.a2a.external_agents = dead.chain([entry(&far)]).collect();

    let near = start(&home, many).await;

    let operator = callers::operator(&near.kernel);
    assert_state(&send(&near.kernel, &operator, "far", "hi").await, TaskState::Completed);
    let answer = call(&near.kernel, &operator, "add_numbers", json!({ "a": 1, "b": 2 })).await.unwrap();
    assert_eq!(answer.joined_text(), "3");
    near.stop().await;
    far.stop().await;
}

#[test]
fn a_changed_card_is_shown_and_accepted_on_the_command_line() {
    let (far, near) = (Openfang::new(), Openfang::new());
    let manifest =
        |about: &str| format!("name = \"worker\"\ndescription = \"{about}\"\n[model]\nprovider = \"direct\"\n");
    far.write("config.toml", "[a2a]\nenabled = true\n");
    far.write("agents/worker/agent.toml", &manifest("Reads letters"));
    let far_daemon = far.start();
    let _near_daemon = near.start();
    let url = format!("http://{}/a2a/agents/worker", far_daemon.address());
    assert_eq!(near.run(&["a2a", "add", "far", &url, "--on-change", "quarantine"]).code, 0);
    let unchanged = near.run(&["a2a", "accept", "far"]);
    assert!(unchanged.stderr.contains("no change of the card of far waits"), "{unchanged:?}");

    far.write("agents/worker/agent.toml", &manifest("Burns letters"));
    assert_eq!(far.run(&["reload"]).code, 0);
    let tested = near.run(&["a2a", "test", "far"]);
    let shown = near.run(&["a2a", "show", "far"]);
    let accepted = near.run(&["a2a", "accept", "far"]);

    assert_eq!(tested.code, 1, "{tested:?}");
    for ran in [&shown, &accepted] {
        assert!(ran.stdout.contains("-  \"description\": \"Reads letters\""), "{ran:?}");
        assert!(ran.stdout.contains("+  \"description\": \"Burns letters\""), "{ran:?}");
    }
    assert_eq!(accepted.code, 0, "{accepted:?}");
    assert!(accepted.stdout.contains("ready"), "{accepted:?}");
    assert_eq!(near.run(&["a2a", "show", "far", "--json"]).json()["waiting"], serde_json::Value::Null);
}

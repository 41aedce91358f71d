//! Calls that wait for a person, in a chat.

use serde_json::json;

use super::fixture::{Terminal, calls, home, provider, says};
use crate::support::binary::Openfang;

const TOOL: &str = "mcp_quick_hello";

/// The first call is made with a clean context. Its result is a stranger's, so the second one waits.
fn script() -> [openfang_testkit::fake_provider::Reply; 3] {
    [calls("c1", TOOL, json!({})), calls("c2", TOOL, json!({ "to": "Bob" })), says("All done.")]
}

fn with_server(openfang: &Openfang) -> crate::support::binary::Daemon {
    let daemon = openfang.start();
    while openfang.run(&["tool", "show", TOOL]).code != 0 {
        std::thread::yield_now();
    }
    daemon
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_approved_where_it_comes_up_and_the_stored_call_is_made() {
    let mut provider = provider(script()).await;
    let openfang = home(&provider.url());
    let _daemon = with_server(&openfang);
    let mut chat = Terminal::open(&openfang, "thinker");

    chat.say("Greet them.");

    chat.wait_for("mcp_quick_hello()  ");
    chat.wait_for("waits for your approval");
    chat.wait_for("mcp_quick_hello(\"to\"=\"Bob\")");
    chat.wait_for("mcp-server (from the MCP server quick)");
    chat.wait_for("y / n / show: ");
    chat.press("show\r");
    chat.wait_for("digest");
    chat.wait_for("y / n / show: ");
    chat.press("y\r");
    chat.wait_for("mcp_quick_hello(to=Bob)  ");
    chat.wait_for("All done.");
    let asked: Vec<_> = [provider.next_request().await, provider.next_request().await, provider.next_request().await]
        .iter()
        .map(|request| request.json())
        .collect();
    let results = asked[2]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "tool")
        .count();
    assert_eq!(results, 2, "the model is asked once more, with the result: {asked:?}");
    let used = openfang.run(&["approval", "list", "--all", "--json"]).json();
    assert_eq!(used["approvals"][0]["state"], "used", "{used}");
    let usage = openfang.run(&["usage", "--json"]).json();
    assert_eq!(usage["total"]["questions"], 1, "{usage}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_call_is_not_made_and_the_model_hears_of_it() {
    let mut provider = provider(script()).await;
    let openfang = home(&provider.url());
    let _daemon = with_server(&openfang);
    let mut chat = Terminal::open(&openfang, "thinker");
    chat.say("Greet them.");
    chat.wait_for("y / n / show: ");

    chat.press("n\r");

    chat.wait_for("mcp_quick_hello(to=Bob)  denied");
    chat.wait_for("All done.");
    provider.next_request().await;
    provider.next_request().await;
    let asked = provider.next_request().await.json();
    assert!(asked["messages"].to_string().contains("denied: the user did not approve it"), "{asked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_typed_before_the_question_is_no_answer_to_it() {
    let provider = provider(script()).await;
    let openfang = home(&provider.url());
    let _daemon = with_server(&openfang);
    let mut chat = Terminal::open(&openfang, "thinker");
    chat.wait_for("thinker> ");

    chat.press("Greet them.\ry\ry\r");

    chat.wait_for("y / n / show: ");
    chat.press("\x03");
    chat.wait_for("not decided: /approve or /deny decides");
    let listed = openfang.run(&["approval", "list", "--json"]).json();
    assert_eq!(listed["approvals"][0]["state"], "pending", "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_elsewhere_lets_the_task_go_on_and_a_message_goes_on_without_the_call() {
    let provider = provider(script()).await;
    let openfang = home(&provider.url());
    let _daemon = with_server(&openfang);
    let sent = openfang.run(&["agent", "send", "thinker", "Greet them.", "--json"]).json();
    let id = sent["task"]["id"].as_str().unwrap().to_owned();
    assert_eq!(sent["task"]["status"]["state"], "input-required", "{sent}");
    let listed = openfang.run(&["approval", "list", "--json"]).json();
    let approval = listed["approvals"][0]["id"].as_str().unwrap().to_owned();

    let approved = openfang.run(&["approval", "approve", &approval]);

    assert_eq!(approved.code, 0, "{approved:?}");
    assert!(openfang.run(&["task", "watch", &id]).stdout.contains("completed"));
    provider.script([calls("c1", TOOL, json!({ "to": "Eve" })), says("Without it.")]);
    let mut chat = Terminal::open(&openfang, "thinker --continue");
    chat.wait_for("All done.");
    chat.say("Greet Eve, please.");
    chat.wait_for("y / n / show: ");
    chat.press("\x03");
    chat.say("Never mind.");
    chat.wait_for("mcp_quick_hello(to=Eve)  denied");
    chat.wait_for("Without it.");
}

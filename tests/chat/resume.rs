//! Taking a conversation up again: after the client or the server was killed, while work goes on, and when it waits.

use serde_json::json;

use super::fixture::{Terminal, begins, calls, home, provider, says};

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_that_is_killed_loses_nothing_and_the_work_goes_on() {
    let mut provider = provider([begins("Working on "), says("The answer.")]).await;
    let openfang = home(&provider.url());
    let _daemon = openfang.start();
    let mut chat = Terminal::open(&openfang, "thinker");
    chat.say("A long question");
    chat.wait_for("Working on ");

    chat.kill();
    let mut chat = Terminal::open(&openfang, "thinker --continue");

    chat.wait_for("> A long question");
    chat.wait_for("Working on ");
    chat.press("\x03");
    chat.wait_for("canceled");
    chat.say("Again, please");
    chat.wait_for("The answer.");
    provider.next_request().await;
    let asked = provider.next_request().await.json()["messages"].to_string();
    assert!(asked.contains("A long question"), "it is the same conversation: {asked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_server_was_killed_the_turn_goes_on_and_the_chat_shows_it() {
    let mut provider = provider([begins("Half of ")]).await;
    let openfang = home(&provider.url());
    let mut daemon = openfang.start();
    let mut chat = Terminal::open(&openfang, "thinker");
    chat.say("A question");
    chat.wait_for("Half of ");
    provider.next_request().await;

    daemon.signal("KILL");
    daemon.wait();

    let (code, shown) = chat.left();
    assert_eq!(code, 69, "{shown}");
    assert!(shown.contains("chat thinker --continue"), "{shown}");
    provider.script([says("The whole answer.")]);
    let _daemon = openfang.start();
    let mut chat = Terminal::open(&openfang, "--continue thinker");
    chat.wait_for("> A question");
    chat.wait_for("The whole answer.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waits_is_asked_about_again() {
    let tool = "mcp_quick_hello";
    let script = [calls("c1", tool, json!({})), calls("c2", tool, json!({ "to": "Bob" })), says("All done.")];
    let provider = provider(script).await;
    let openfang = home(&provider.url());
    let mut daemon = openfang.start();
    while openfang.run(&["tool", "show", tool]).code != 0 {
        std::thread::yield_now();
    }
    let mut chat = Terminal::open(&openfang, "thinker");
    chat.say("Greet them.");
    chat.wait_for("y / n / show: ");
    chat.kill();
    daemon.signal("KILL");
    daemon.wait();
    let _daemon = openfang.start();

    let mut chat = Terminal::open(&openfang, "thinker --continue");

    chat.wait_for("conversation ");
    chat.wait_for("input-required");
    chat.wait_for("y / n / show: ");
    chat.press("y\r");
    chat.wait_for("mcp_quick_hello(to=Bob)  ");
    chat.wait_for("All done.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_goes_on_by_its_id_and_without_a_server() {
    let mut provider = provider([says("One."), says("Two."), says("Three.")]).await;
    let openfang = home(&provider.url());
    let first = openfang.run_with_input(&["chat", "thinker", "--json"], b"The first topic\n");
    let conversation: serde_json::Value = serde_json::from_str(first.stdout.lines().next().unwrap()).unwrap();
    let context = conversation["context"].as_str().unwrap();
    openfang.run_with_input(&["chat", "thinker"], b"Another topic\n");

    let ran = openfang.run_with_input(&["chat", "thinker", "--context", context], b"And now?\n");

    assert!(ran.code == 0 && ran.stdout.ends_with("Three.\n"), "{ran:?}");
    provider.next_request().await;
    provider.next_request().await;
    let asked = provider.next_request().await.json()["messages"].to_string();
    assert!(asked.contains("The first topic") && !asked.contains("Another topic"), "{asked}");
    let none = openfang.run_with_input(&["chat", "starter", "--continue"], b"Ada\n");
    assert!(none.code == 0 && none.stderr.contains("there is no earlier conversation"), "{none:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_server_a_killed_chat_is_taken_up_where_it_stopped() {
    let mut provider = provider([begins("Half of ")]).await;
    let openfang = home(&provider.url());
    let mut chat = Terminal::open(&openfang, "thinker");
    chat.say("A question");
    chat.wait_for("Half of ");
    provider.next_request().await;

    chat.kill();
    provider.script([says("The whole answer.")]);

    let mut chat = Terminal::open(&openfang, "thinker --continue");
    chat.wait_for("> A question");
    chat.wait_for("The whole answer.");
    chat.wait_for("1 step");
}

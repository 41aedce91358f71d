//! A chat at a terminal: streamed text, lines for calls and figures, commands, and what the keys do.

use serde_json::json;

use super::fixture::{Terminal, begins, calls, home, home_with, provider, says};

#[tokio::test(flavor = "multi_thread")]
async fn text_is_streamed_and_a_call_and_the_figures_of_the_turn_are_lines() {
    let provider = provider([calls("c1", "add_numbers", json!({ "a": 3, "b": 7 })), says("It is ten.")]).await;
    let openfang = home(&provider.url());
    let mut chat = Terminal::open(&openfang, "thinker");

    chat.wait_for("thinker, fake/m; /help lists commands");
    chat.say("What is 3 + 7?");

    chat.wait_for("add_numbers(a=3, b=7)  ");
    chat.wait_for(" ms");
    chat.wait_for("It is ten.");
    chat.wait_for(" out, $0.00");
    chat.wait_for("2 steps");
    chat.wait_for("thinker> ");
    chat.press("\x04");
    let (code, shown) = chat.left();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("chat thinker --continue"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_stops_the_turn_and_two_leave() {
    let mut provider = provider([begins("Half an ans"), says("Another answer.")]).await;
    let openfang = home(&provider.url());
    let _daemon = openfang.start();
    let mut chat = Terminal::open(&openfang, "thinker");
    chat.say("Tell me everything.");
    chat.wait_for("Half an ans");

    chat.press("\x03");

    chat.wait_for("canceled");
    provider.client_closed().await;
    chat.say("Be quick.");
    chat.wait_for("Another answer.");
    chat.wait_for("thinker> ");
    chat.press("\x03");
    chat.wait_for("press Ctrl-C again");
    chat.press("\x03");
    let (code, shown) = chat.left();
    assert_eq!(code, 130, "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pasted_text_is_one_message_and_wide_characters_arrive_as_they_are() {
    let mut provider = provider([says("Seen."), says("Seen too.")]).await;
    let openfang = home(&provider.url());
    let mut chat = Terminal::open(&openfang, "thinker");
    chat.wait_for("thinker> ");

    chat.press("\x1b[200~first line\nzweite Zeile: \u{4f60}\u{597d} \u{1f980}\x1b[201~\r");

    chat.wait_for("Seen.");
    let asked = provider.next_request().await.json();
    let said = asked["messages"][1].to_string();
    assert!(said.contains("first line\\nzweite Zeile: \u{4f60}\u{597d} \u{1f980}"), "{said}");
    chat.wait_for("thinker> ");
    chat.press("begins \\\rends\r");
    chat.wait_for("Seen too.");
    let asked = provider.next_request().await.json();
    assert!(asked["messages"].to_string().contains("begins \\nends"), "{asked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_model_says_is_shown_and_not_obeyed() {
    let provider = provider([says("A \u{1b}[2J\u{1b}]0;title\u{7} \u{202e}text.")]).await;
    let openfang = home(&provider.url());
    let mut chat = Terminal::open(&openfang, "thinker");

    chat.say("Hello");

    chat.wait_for("A \\u{1b}[2J\\u{1b}]0;title\\u{7} \\u{202e}text.");
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_are_carried_out_and_mistyped_ones_are_not_sent() {
    let mut provider = provider([says("First."), says("Second."), says("Third.")]).await;
    let openfang = home(&provider.url());
    let mut chat = Terminal::open(&openfang, "thinker");

    chat.say("/tols");
    chat.wait_for("did you mean /tools?");
    chat.say("/tools");
    chat.wait_for("add_numbers");
    chat.say("/help");
    chat.wait_for("/compact");
    chat.say("/budget");
    chat.wait_for("50 requests");
    chat.say("/approve");
    chat.wait_for("no call of this conversation waits");
    chat.say("Hello");
    chat.wait_for("First.");
    chat.say("/cost");
    chat.wait_for("this chat: ");
    chat.wait_for("thinker today (UTC): ");
    chat.say("/compact");
    chat.wait_for("\r\n");
    chat.say("/clear");
    chat.wait_for("a new conversation begins");
    chat.say("Hello again");
    chat.wait_for("thinker> ");
    chat.press("\x04");
    chat.left();

    loop {
        let said = provider.next_request().await.json()["messages"].to_string();
        if said.contains("Hello again") {
            assert!(!said.contains("First."), "it is a new conversation: {said}");
            break;
        }
    }
    let tasks = openfang.run(&["task", "list", "--agent", "thinker", "--json"]).json();
    let ids = tasks["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["id"].as_str().unwrap().to_owned());
    let shown: String = ids.map(|id| openfang.run(&["task", "show", &id]).stdout).collect();
    assert!(shown.contains("user: /compact\n"), "it is sent as it is: {shown}");
    assert!(!shown.contains("/tols") && !shown.contains("/cost"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_model_answers_where_the_operator_says_so() {
    let mut provider = provider([says("One."), says("Two.")]).await;
    let openfang = home(&provider.url());
    let mut chat = Terminal::open(&openfang, "thinker --model fake/other");
    chat.wait_for("thinker, fake/other");

    chat.say("Hello");
    chat.wait_for("One.");
    chat.say("/model default");
    chat.wait_for("fake/m");
    chat.say("Hello");
    chat.wait_for("Two.");

    assert_eq!(provider.next_request().await.json()["model"], "other");
    assert_eq!(provider.next_request().await.json()["model"], "m");
    chat.say("/model nowhere/x");
    chat.wait_for("there is no provider nowhere");
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_are_kept_for_the_next_chat_and_for_nobody_else() {
    let provider = provider([says("One."), says("Two.")]).await;
    let openfang = home(&provider.url());
    let _daemon = openfang.start();
    let mut chat = Terminal::open(&openfang, "thinker");
    chat.say("Remember this line");
    chat.wait_for("One.");
    chat.say(" and not this one");
    chat.wait_for("Two.");
    chat.wait_for("thinker> ");
    chat.press("\x04");
    chat.left();

    let path = openfang.home().join("data/chat-history");
    let kept = std::fs::read_to_string(&path).unwrap();
    assert_eq!(kept, "\"Remember this line\"\n");
    let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&path).unwrap());
    assert_eq!(mode & 0o777, 0o600);
    let mut chat = Terminal::open(&openfang, "thinker");
    chat.wait_for("thinker> ");
    chat.press("\x1b[A");
    chat.wait_for("Remember this line");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_budget_is_used_goes_on_with_more() {
    let mut provider = provider([calls("c1", "add_numbers", json!({ "a": 3, "b": 7 })), says("It is ten.")]).await;
    let openfang = home_with(&provider.url(), "m", "\n[resources]\nmax_cost_per_run_usd = 0.000001\n");
    let mut chat = Terminal::open(&openfang, "thinker");
    chat.say("What is 3 + 7?");
    chat.wait_for("is used; send a message to go on");

    chat.say("/budget +0.50");

    chat.wait_for("It is ten.");
    provider.next_request().await;
    let asked = provider.next_request().await.json()["messages"].to_string();
    assert!(asked.contains("The user allows you to use more"), "{asked}");
}

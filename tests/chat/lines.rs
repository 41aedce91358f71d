//! A chat without a terminal.

use openfang_testkit::FakeProvider;
use serde_json::{Value, json};

use super::fixture::{calls, home, provider, says};
use crate::support::binary::Openfang;

fn events(stdout: &str) -> Vec<Value> {
    stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

fn of<'e>(events: &'e [Value], name: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event["event"] == name).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_line_is_a_message_and_the_answers_are_standard_output() {
    let mut provider =
        provider([says("One."), calls("c1", "add_numbers", json!({ "a": 1, "b": 2 })), says("Two.")]).await;
    let openfang = home(&provider.url());

    let ran = openfang.run_with_input(&["chat", "thinker"], b"first\n\n/help\n");

    assert_eq!((ran.code, ran.stdout.as_str()), (0, "One.\nTwo.\n"), "{ran:?}");
    assert!(ran.stderr.contains("add_numbers(a=1, b=2)  "), "{ran:?}");
    provider.next_request().await;
    let second = provider.next_request().await.json()["messages"].to_string();
    assert!(second.contains("One.") && second.contains("/help"), "one conversation, and no commands: {second}");
    let quiet = openfang.run_with_input(&["chat", "starter", "--quiet"], b"Ada\n");
    assert!(quiet.stdout.contains("Hello, Ada!") && quiet.stderr.is_empty(), "{quiet:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn json_is_an_event_on_each_line() {
    let script = [calls("c1", "add_numbers", json!({ "a": 3, "b": 7 })), says("It is ten.")];
    let provider = provider(script).await;
    let openfang = home(&provider.url());
    let _daemon = openfang.start();

    let ran = openfang.run_with_input(&["chat", "thinker", "--json"], b"3 + 7?\n");

    let events = events(&ran.stdout);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(of(&events, "conversation")[0]["agent"], "thinker");
    let call = of(&events, "call")[0];
    assert_eq!(
        (&call["tool"], &call["arguments"], &call["outcome"]),
        (&json!("add_numbers"), &json!({ "a": 3, "b": 7 }), &json!("done"))
    );
    let text: String = of(&events, "text").iter().map(|event| event["text"].as_str().unwrap()).collect();
    assert_eq!(text, "It is ten.");
    let usage = of(&events, "usage")[0];
    assert_eq!((&usage["steps"], &usage["model"]), (&json!(2), &json!("fake/m")), "{usage}");
    assert!(usage["inputTokens"].is_u64() && usage["outputTokens"].is_u64(), "{usage}");
    assert_eq!(events.last().unwrap(), &json!({ "event": "end", "state": "completed" }));
}

async fn denied(provider: &FakeProvider, openfang: &Openfang) -> crate::support::binary::Ran {
    provider.script([
        calls("c1", "mcp_quick_hello", json!({})),
        calls("c2", "mcp_quick_hello", json!({ "to": "Bob" })),
        says("I could not."),
    ]);
    openfang.run_with_input(&["chat", "thinker"], b"Greet them.\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_needs_an_approval_is_denied_and_the_exit_code_says_so() {
    let provider = provider([]).await;
    let openfang = home(&provider.url());

    let ran = denied(&provider, &openfang).await;

    assert_eq!((ran.code, ran.stdout.as_str()), (1, "I could not.\n"), "{ran:?}");
    assert!(ran.stderr.contains("mcp_quick_hello denied: nobody at a terminal can approve it"), "{ran:?}");
    let listed = openfang.run(&["approval", "list", "--all", "--json"]).json();
    assert_eq!(listed["approvals"][0]["state"], "denied", "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_that_is_meant_is_found_and_what_is_wrong_is_said() {
    let provider = provider([says("Here.")]).await;
    let openfang = home(&provider.url());

    let found = openfang.run_with_input(&["chat"], b"Hello\n");
    assert_eq!(found.stdout, "Here.\n", "the only one with a model: {found:?}");
    let rows: [(&[&str], i32, &str); 5] = [
        (&["chat", "thinkr"], 1, "did you mean thinker?"),
        (&["chat", "starter", "--model", "fake/m"], 2, "has no model"),
        (&["chat", "thinker", "--model", "m"], 2, "PROVIDER/MODEL"),
        (&["chat", "thinker", "--model", "nowhere/m"], 1, "there is no provider nowhere"),
        (&["chat", "thinker", "--context", "nothing"], 2, "there is no conversation \"nothing\""),
    ];
    for (arguments, code, expected) in rows {
        let ran = openfang.run_with_input(arguments, b"Hello\n");
        assert_eq!(ran.code, code, "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(expected), "{arguments:?}: {ran:?}");
    }
    let manifest = "name = \"keyless\"\ndescription = \"d\"\n[model]\nprovider = \"anthropic\"\nmodel = \"m\"\n";
    openfang.write("agents/keyless/agent.toml", manifest);
    let ran = openfang.run_with_input(&["chat", "keyless"], b"Hello\n");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("ANTHROPIC_API_KEY") && ran.stderr.contains("secret set"), "{ran:?}");
    let ambiguous = openfang.run_with_input(&["chat"], b"Hello\n");
    assert!(ambiguous.code == 2 && ambiguous.stderr.contains("name the agent to talk to"), "{ambiguous:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_without_a_model_work_and_their_tools_are_no_commands() {
    let openfang = Openfang::new();

    let ran = openfang.run_with_input(&["chat", "starter"], b"/add_numbers {\"a\": 3, \"b\": 7}\nAda\n");

    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.starts_with("10\n") && ran.stdout.contains("Hello, Ada!"), "{ran:?}");
    let failed = openfang.run_with_input(&["chat", "starter"], b"/add_numbers {\"a\": \"x\"}\n");
    assert_eq!(failed.code, 1, "{failed:?}");
}

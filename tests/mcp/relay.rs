//! `openfang mcp` in front of a daemon is a relay: it says what `/mcp` says, to the byte, and goes on when the daemon is gone.

use openfang_testkit::http::Client;
use serde_json::{Value, json};

use super::wire::{ask_modern, headed, initialize, modern, request, server, texts};
use crate::support::binary::{Conversation, Daemon, Openfang};
use crate::support::peers::PeerServer;

pub(super) const LONG: &str = "mcp_everything_trigger_long_running_operation";
pub(super) const ASKS: &str = "mcp_everything_trigger_elicitation_request";
/// The entry of a tool, as a list has it.
const SUM: &str = "\"name\":\"add_numbers\"";

/// A home that is connected to the reference server.
pub(super) fn everything() -> Openfang {
    let openfang = Openfang::new();
    let command = PeerServer::Everything.stdio();
    let add = ["mcp", "add", "everything", "--interactive", "--"];
    let words: Vec<&str> = add.into_iter().chain(command.iter().map(String::as_str)).collect();
    let added = openfang.run(&words);
    assert_eq!(added.code, 0, "{added:?}");
    openfang
}

/// With a daemon and without one.
pub(super) fn both(test: impl Fn(&Openfang)) {
    let openfang = everything();
    test(&openfang);
    let _daemon = openfang.start();
    test(&openfang);
}

/// A client of this revision that can be asked; the tools of the reference server are there.
fn ide(openfang: &Openfang, version: &str) -> Conversation {
    let mut ide = begun(openfang, &["mcp", "--tools"], version);
    loop {
        let listed = ide.ask(&request(1, "tools/list", in_era(version, json!({}))));
        if listed.to_string().contains(ASKS) {
            return ide;
        }
    }
}

/// A client of this revision that can be asked.
pub(super) fn begun(openfang: &Openfang, arguments: &[&str], version: &str) -> Conversation {
    let mut ide = openfang.converse(arguments);
    if version != "2026-07-28" {
        ide.ask(&initialize(version, json!({"elicitation": {}})));
        ide.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }
    ide
}

pub(super) fn in_era(version: &str, params: Value) -> Value {
    if version == "2026-07-28" { modern(params, json!({"elicitation": {"form": {}}})) } else { params }
}

/// Answers the question of a call in the way of the revision, and returns the call's own answer.
fn answer_question(ide: &mut Conversation, version: &str, id: i64) -> Value {
    answer_question_of(ide, version, (id, json!({"name": ASKS, "arguments": {}})))
}

/// The same for any call that asks.
pub(super) fn answer_question_of(ide: &mut Conversation, version: &str, (id, call): (i64, Value)) -> Value {
    ide.send(&request(id, "tools/call", in_era(version, call.clone())));
    let accepted = json!({"action": "accept", "content": {"name": "Ada"}});
    if version == "2026-07-28" {
        let asked = ide.answer(id);
        let questions = asked["result"]["inputRequests"].as_object().unwrap_or_else(|| panic!("{asked}"));
        let (key, question) = questions.iter().next().unwrap();
        assert_eq!(question["method"], "elicitation/create", "{asked}");
        let mut again = call;
        again["requestState"] = asked["result"]["requestState"].clone();
        again["inputResponses"] = json!({key: accepted});
        return ide.ask(&request(id + 1, "tools/call", in_era(version, again)));
    }
    let question = until(ide, "elicitation/create");
    assert!(question["params"]["requestedSchema"].is_object(), "{question}");
    ide.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": accepted}));
    ide.answer(id)
}

/// The next message of this method, passing over everything else.
pub(super) fn until(ide: &mut Conversation, method: &str) -> Value {
    loop {
        let message = ide.next();
        if message["method"] == method {
            return message;
        }
    }
}

#[test]
fn progress_of_a_server_reaches_an_ide_in_both_eras_with_a_daemon_and_without() {
    both(|openfang| {
        for version in ["2025-11-25", "2026-07-28"] {
            let mut ide = ide(openfang, version);
            let call =
                json!({"name": LONG, "arguments": {"duration": 0.3, "steps": 3}, "_meta": {"progressToken": "p"}});
            ide.send(&request(7, "tools/call", in_era(version, call)));

            let progress: Vec<f64> = (0..3)
                .map(|_| until(&mut ide, "notifications/progress")["params"]["progress"].as_f64().unwrap())
                .collect();
            assert_eq!(progress, [1.0, 2.0, 3.0]);
            assert!(ide.answer(7).to_string().contains("completed"));
        }
    });
}

#[test]
fn a_server_asks_an_ide_in_both_eras_with_a_daemon_and_without() {
    both(|openfang| {
        for version in ["2025-11-25", "2026-07-28"] {
            let mut ide = ide(openfang, version);
            let answer = answer_question(&mut ide, version, 7);
            assert!(answer["result"].to_string().contains("Ada"), "{version}: {answer}");
        }
    });
}

#[test]
fn a_canceled_call_is_not_answered_and_the_server_behind_the_daemon_is_free_again() {
    let openfang = everything();
    let _daemon = openfang.start();
    for version in ["2025-11-25", "2026-07-28"] {
        let mut ide = ide(&openfang, version);
        let call = json!({"name": LONG, "arguments": {"duration": 600, "steps": 6000}, "_meta": {"progressToken": 1}});
        ide.send(&request(7, "tools/call", in_era(version, call)));
        until(&mut ide, "notifications/progress");
        ide.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}));

        ide.send(&request(8, "tools/list", in_era(version, json!({}))));
        let answered = loop {
            let message = ide.next();
            if message.get("method").is_none() {
                break message;
            }
        };
        assert_eq!(answered["id"], 8, "{answered}");
    }
}

#[test]
fn changed_lists_reach_an_ide_in_front_of_a_daemon() {
    let openfang = Openfang::new();
    let _daemon = openfang.start();
    let mut modern_ide = openfang.converse(&["mcp", "--tools"]);
    let listen = json!({"notifications": {"toolsListChanged": true}});
    modern_ide.send(&request(1, "subscriptions/listen", modern(listen, json!({}))));
    until(&mut modern_ide, "notifications/subscriptions/acknowledged");
    let mut legacy_ide = openfang.converse(&["mcp", "--tools"]);
    legacy_ide.ask(&initialize("2025-11-25", json!({})));
    legacy_ide.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    legacy_ide.ask(&request(1, "ping", json!({})));

    let command = PeerServer::Everything.stdio();
    let add = ["mcp", "add", "late", "--"];
    let words: Vec<&str> = add.into_iter().chain(command.iter().map(String::as_str)).collect();
    assert_eq!(openfang.run(&words).code, 0);

    until(&mut modern_ide, "notifications/tools/list_changed");
    until(&mut legacy_ide, "notifications/tools/list_changed");
}

/// A client with the token of the daemon.
fn operator(openfang: &Openfang, daemon: &Daemon) -> Client {
    let file = std::fs::read_to_string(openfang.home().join("daemon.json")).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    daemon
        .client()
        .with("authorization", &format!("Bearer {}", file["token"].as_str().unwrap()))
}

#[test]
fn the_same_frames_get_the_same_bytes_from_the_endpoint_and_from_the_relay() {
    let openfang = Openfang::new();
    let daemon = openfang.start();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let sum = json!({"name": "add_numbers", "arguments": {"a": 1, "b": 2}});
    let calls = [
        ("tools/list", json!({})),
        ("tools/call", sum),
        ("tools/call", json!({"name": "add_numbers", "arguments": {"a": "x"}})),
        ("tools/call", json!({"name": "no_such_tool"})),
        ("prompts/list", json!({})),
        ("prompts/get", json!({"name": "agent-starter", "arguments": {"message": "größer"}})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({"uri": "openfang://tasks/no"})),
        ("completion/complete", json!({})),
        ("nope", json!({})),
    ];
    for version in ["2025-11-25", "2025-03-26"] {
        let client = operator(&openfang, &daemon);
        let mut ide = openfang.converse(&["mcp", "--tools"]);
        let hello = initialize(version, json!({}));
        let answer = runtime.block_on(client.post("/mcp", &hello));
        ide.send(&hello);
        assert_eq!(ide.line(), answer.body, "{version}");
        let client = client.with("mcp-session-id", answer.header("mcp-session-id").unwrap());
        for (id, (method, params)) in (1..).zip(&calls) {
            let frame = request(id, method, params.clone());
            ide.send(&frame);
            assert_eq!(ide.line(), runtime.block_on(client.post("/mcp", &frame)).body, "{version} {method}");
        }
        let strange = json!({"jsonrpc": "1.0", "id": 1, "method": "ping"});
        ide.send(&strange);
        assert_eq!(ide.line(), runtime.block_on(client.post("/mcp", &strange)).body);
    }
    let client = operator(&openfang, &daemon);
    let mut ide = openfang.converse(&["mcp", "--tools"]);
    for (id, (method, params)) in (1..).zip([("server/discover", json!({}))].iter().chain(&calls)) {
        let frame = request(id, method, modern(params.clone(), json!({})));
        ide.send(&frame);
        assert_eq!(ide.line(), runtime.block_on(headed(&client, &frame).post("/mcp", &frame)).body, "{method}");
    }
}

#[test]
fn each_view_shows_the_same_through_a_daemon_as_without_one() {
    let openfang = Openfang::new();
    let _daemon = openfang.start();
    let views: [&[&str]; 4] =
        [&["mcp"], &["mcp", "--tools"], &["mcp", "--agent", "starter"], &["mcp", "--agent", "starter", "--tools"]];
    let mut seen = Vec::new();
    for view in views {
        let mut here = openfang.converse(&[&["--in-process"], view].concat());
        let mut there = openfang.converse(view);
        for ide in [&mut here, &mut there] {
            ide.ask(&initialize("2025-11-25", json!({})));
            ide.send(&request(1, "tools/list", json!({})));
        }
        let listed = there.line();
        assert_eq!(here.line(), listed, "{view:?}");
        seen.push(listed);
    }
    let has_sum: Vec<bool> = seen.iter().map(|listed| listed.contains(SUM)).collect();
    assert_eq!(has_sum, [false, true, false, true], "{seen:?}");
}

#[tokio::test]
async fn a_query_only_narrows_what_the_endpoint_shows() {
    let (_home, server) = server().await;
    let listed = |query: &'static str| {
        let client = server.client();
        async move {
            let message = request(1, "tools/list", modern(json!({}), json!({})));
            headed(&client, &message).post(&format!("/mcp{query}"), &message).await
        }
    };
    let all = ask_modern(&server.client(), "tools/list", json!({})).await.body;

    assert_eq!(listed("?tools=true").await.body, all);
    assert_eq!(listed("?anything=else").await.body, all);
    let agents = listed("?tools=false").await.body;
    assert!(agents.contains("openfang_agent_steps") && !agents.contains(SUM), "{agents}");
    let one = listed("?agent=steps").await.body;
    assert!(one.contains("openfang_agent_steps") && !one.contains("openfang_agent_waits"), "{one}");
    assert_eq!(listed("?agent=nobody").await.status, 404);
    assert_eq!(listed("?agent=steps&agent=waits").await.status, 400);
    assert_eq!(listed("?tools=perhaps").await.status, 400);
}

#[test]
fn when_the_daemon_is_killed_while_it_asks_the_question_is_withdrawn_and_the_session_goes_on() {
    let openfang = everything();
    let daemon = openfang.start();
    let mut ide = ide(&openfang, "2025-11-25");
    ide.send(&request(7, "tools/call", json!({"name": ASKS, "arguments": {}})));
    let question = until(&mut ide, "elicitation/create");

    daemon.signal("KILL");
    drop(daemon);

    let withdrawn = until(&mut ide, "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    let lost = ide.answer(7);
    assert_eq!(lost["result"]["isError"], true, "{lost}");
    assert!(texts(&lost["result"])[0].contains("lost"), "{lost}");
    // Too late: whoever takes over has asked nothing yet.
    ide.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}}));
    while !ide.ask(&request(8, "tools/list", json!({}))).to_string().contains(ASKS) {}
    let answer = answer_question(&mut ide, "2025-11-25", 9);
    assert!(answer["result"].to_string().contains("Ada"), "{answer}");
}

#[test]
fn a_daemon_that_starts_in_the_place_of_a_killed_one_is_used() {
    let openfang = Openfang::new();
    let first = openfang.start();
    let mut ide = openfang.converse(&["mcp", "--tools"]);
    ide.ask(&initialize("2025-11-25", json!({})));
    first.signal("KILL");
    drop(first);
    let second = openfang.start();

    let hello = request(1, "tools/call", json!({"name": "openfang_agent_starter", "arguments": {"message": "Ada"}}));
    assert_eq!(texts(&ide.ask(&hello)["result"]), ["Hello, Ada!"]);

    second.signal("KILL");
    drop(second);
    assert_eq!(texts(&ide.ask(&hello)["result"]), ["Hello, Ada!"]);
}

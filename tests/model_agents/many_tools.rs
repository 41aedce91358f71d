//! Agents with more tools than a request can hold: they are told of two, with which they find and call the others.

use openfang_kernel::Tool;
use openfang_store::{AuditSubject, Stores};
use openfang_testkit::probes::Probe;
use openfang_testkit::{FakeProvider, TestHome};
use openfang_types::taint::SinkKind;
use openfang_types::task::TaskState;
use serde_json::{Value, json};

use super::fixture::{Stage, calls, config, manifest, reply_of, results_of, says, stage_with};
use crate::support::assert_state;

/// So many tools, among them `shelf_count_books`.
fn many(number: usize) -> Vec<Box<dyn Tool>> {
    let names = (1..number).map(|number| format!("drawer{number}_open_the_drawer_with_a_rather_long_name"));
    let names = names.chain(["shelf_count_books".to_owned()]);
    names
        .map(|name| Probe::sink(Box::leak(name.into_boxed_str()), SinkKind::Reads).boxed())
        .collect()
}

fn tool_names(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn definitions_take_at_most_8000_tokens_and_no_more_from_a_hundred_tools_on() {
    let mut sizes = Vec::new();
    for number in [10, 100, 1_000, 10_000] {
        let mut stage = stage_with(&["drawer*", "shelf_*"], "", many(number)).await;
        stage.provider.script([says("Hello.")]);
        stage.send("Hello").await;
        let request = stage.provider.next_request().await.json();
        sizes.push((tool_names(&request).len(), request["tools"].to_string().len() * 10 / 35));
    }
    assert!(sizes.iter().all(|(_, tokens)| *tokens <= 8_000), "{sizes:?}");
    assert_eq!(sizes[0].0, 10);
    assert_eq!((sizes[2].0, sizes[2]), (2, sizes[3]), "{sizes:?}");
}

#[tokio::test]
async fn the_model_searches_a_tool_and_calls_it_and_everybody_sees_the_real_tool() {
    let provider = FakeProvider::start().await;
    let home = TestHome::new();
    home.write("agents/thinker/agent.toml", &manifest(&["drawer*", "shelf_*"], ""));
    let stores = Stores::in_memory();
    let boot = home.boot_with(config(&provider.url())).stores(stores.clone());
    let counted = Probe::sink("shelf_count_books", SinkKind::Writes);
    let others = many(200)
        .into_iter()
        .filter(|tool| tool.definition().name.as_str() != "shelf_count_books");
    let kernel = others.chain([counted.boxed()]).fold(boot, openfang_kernel::Boot::tool).start().unwrap();
    let mut stage = Stage { provider, kernel, _home: home };
    stage.provider.script([
        calls(&[("c1", "tool_search", json!({ "query": "count books", "limit": 3 }))]),
        calls(&[("c2", "tool_call", json!({ "name": "shelf_count_books", "arguments": {} }))]),
        says("Seven."),
    ]);

    let task = stage.send("How many books are there?").await;

    assert_state(&task, TaskState::Completed);
    assert_eq!((reply_of(&task), counted.calls()), ("Seven.".to_owned(), 1));
    assert_eq!(tool_names(&stage.provider.next_request().await.json()), ["tool_call", "tool_search"]);
    let found = results_of(&stage.next_messages().await);
    assert!(found[0].1.starts_with("{\"description\"") && found[0].1.contains("shelf_count_books"), "{found:?}");
    let results = results_of(&stage.next_messages().await);
    assert_eq!(results[1], ("c2".to_owned(), "done".to_owned()));
    let rows = stores.audit.recent(50).await.unwrap();
    let tools: Vec<String> = rows.iter().filter_map(|row| row.subject.tool().map(ToString::to_string)).collect();
    assert_eq!(tools, ["shelf_count_books"; 2], "begun and done: {tools:?}");
    assert!(rows.iter().all(|row| matches!(row.subject, AuditSubject::Call { .. })), "{rows:?}");
}

#[tokio::test]
async fn a_tool_that_was_not_granted_is_neither_found_nor_called_and_looks_like_none() {
    let probes = many(200)
        .into_iter()
        .chain([Probe::source("vault_read_gold", Default::default()).boxed()]);
    let mut stage = stage_with(&["drawer*", "shelf_*", "vault_*"], "", probes.collect()).await;
    stage.provider.script([
        calls(&[
            ("c1", "tool_search", json!({ "query": "vault gold" })),
            ("c2", "tool_call", json!({ "name": "vault_read_gold", "arguments": {} })),
            ("c3", "tool_call", json!({ "name": "vault_read_golf", "arguments": {} })),
            ("c4", "vault_read_gold", json!({})),
            ("c5", "tool_call", json!({ "name": "tool_call", "arguments": { "name": "shelf_count_books" } })),
            ("c6", "tool_call", json!({ "arguments": {} })),
        ]),
        says("No."),
    ]);
    let ada = openfang_testkit::callers::user(&stage.kernel, "ada", &["agent:thinker", "drawer*", "shelf_*"]);

    crate::support::send(&stage.kernel, &ada, "thinker", "Take the gold.").await;

    stage.provider.next_request().await;
    let results: Vec<String> = results_of(&stage.next_messages().await).into_iter().map(|(_, text)| text).collect();
    assert!(results[0].contains("no tool has these words"), "{results:?}");
    assert_eq!(results[1], results[2].replace("golf", "gold"), "another name is all that differs");
    assert_eq!(results[1], results[3], "called directly it looks the same");
    assert!(results[4].contains("call it directly") && results[5].contains("missing field `name`"), "{results:?}");
}

#[tokio::test]
async fn a_wrapped_call_waits_for_a_person_like_any_other() {
    let sender = Probe::send();
    let probes = many(200).into_iter().chain([Probe::fetch().boxed(), sender.boxed()]);
    let stage = stage_with(&["drawer*", "probe_*"], "", probes.collect()).await;
    stage.provider.script([
        calls(&[("c1", "tool_call", json!({ "name": "probe_fetch" }))]),
        calls(&[("c2", "tool_call", json!({ "name": "probe_send", "arguments": { "text": "hello" } }))]),
        says("It waits."),
    ]);

    stage.send("Read the page.").await;

    let approvals = stage.kernel.approvals(&stage.admin()).await.unwrap();
    assert_eq!((approvals.len(), sender.calls()), (1, 0));
    assert_eq!(approvals[0].tool.as_str(), "probe_send");
}

#[tokio::test]
async fn the_same_wrapped_call_again_and_again_ends_the_run() {
    let count = Probe::sink("cellar_count", SinkKind::Writes);
    let probes = many(200).into_iter().chain([count.boxed()]);
    let stage = stage_with(&["drawer*", "cellar_*"], "", probes.collect()).await;
    let again = |_: usize| calls(&[("c", "tool_call", json!({ "name": "cellar_count", "arguments": {} }))]);
    stage.provider.script((0..30).map(again).chain([says("I stop.")]));

    stage.send("Count.").await;

    assert!((1..10).contains(&count.calls()), "{} calls", count.calls());
}

#[tokio::test]
async fn pinned_tools_are_always_told_of() {
    let pinned = "pinned = [\"shelf_count_books\", \"vault_read_gold\", \"nobody_has_this\"]";
    let provider = FakeProvider::start().await;
    let home = TestHome::new();
    home.write("agents/thinker/agent.toml", &format!("{}{pinned}\n", manifest(&["drawer*", "shelf_*"], "")));
    let boot = home.boot_with(config(&provider.url()));
    let gold = Probe::source("vault_read_gold", Default::default()).boxed();
    let kernel = many(200)
        .into_iter()
        .chain([gold])
        .fold(boot, openfang_kernel::Boot::tool)
        .start()
        .unwrap();
    let mut stage = Stage { provider, kernel, _home: home };
    stage.provider.script([says("Hello.")]);

    stage.send("Hello").await;

    let names = tool_names(&stage.provider.next_request().await.json());
    assert_eq!(names, ["shelf_count_books", "tool_call", "tool_search"], "what was not granted is not told of");
}

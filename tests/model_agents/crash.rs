//! Kill -9 while an agent works: each row of the table in `answerer/model/recovery.rs`, and many kills in runs whose calls
//! append to a ledger. The ledger is an MCP server that outlives the kills.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use openfang_model::WireKind;
use openfang_testkit::FakeProvider;
use openfang_testkit::fake_provider::Reply;
use openfang_testkit::fake_provider::answers::{Say, answer};
use openfang_testkit::http::Client;
use openfang_testkit::receiver::Post;
use serde_json::{Value, json};

use super::compaction::asks_for_summary;
use super::fixture::{calls, manifest, says};
use super::ledger::Ledger;
use crate::support::binary::{Daemon, Openfang};
use crate::support::rounds;

mod trust;

/// The key of a person: what a model does on the word of anybody else waits for an approval.
const KEY: &str = "an-api-key-of-some-length";
const KILLS: u64 = 5;
const CALLS: usize = 5;

fn home(provider: &str, ledger: &str) -> Openfang {
    let openfang = Openfang::new();
    let config = format!(
        "api_key = \"{KEY}\"\n\n[providers.fake]\nwire = \"chat\"\nbase_url = \"{provider}/v1\"\n\n\
         [[mcp_servers]]\nname = \"ledger\"\ntrusted = true\n[mcp_servers.transport]\ntype = \"http\"\nurl = \"{ledger}/mcp\"\n"
    );
    openfang.write("config.toml", &config);
    openfang.write("agents/thinker/agent.toml", &manifest(&["mcp_ledger_*", "add_numbers"], ""));
    openfang
}

fn client(daemon: &Daemon) -> Client {
    daemon.client().bearer(KEY)
}

/// Sends a message and returns the id of its task, once that is stored.
async fn submit(client: &Client, text: &str) -> String {
    send(client, json!({ "messageId": text.replace(' ', "-"), "text": text, "returnImmediately": true })).await
}

async fn send(client: &Client, message: Value) -> String {
    let answer = client.post("/api/agents/thinker/message", &message).await.json();
    answer["task"]["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

async fn reply(client: &Client, task: &str, text: &str) {
    let id = format!("{task}-{text}");
    send(client, json!({ "messageId": id, "taskId": task, "text": text, "returnImmediately": true })).await;
}

/// Waits until a task has ended or asks for something.
async fn settled(client: &Client, task: &str) -> Value {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    loop {
        let shown = client.get(&format!("/api/tasks/{task}")).await.json()["task"].clone();
        let state = shown["status"]["state"].as_str().unwrap_or_else(|| panic!("{shown}"));
        if !["submitted", "working"].contains(&state) {
            return shown;
        }
        assert!(tokio::time::Instant::now() < deadline, "the task is stuck: {shown}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn state(task: &Value) -> &str {
    task["status"]["state"].as_str().unwrap()
}

fn reply_in(task: &Value) -> String {
    let artifacts = task["artifacts"].as_array().cloned().unwrap_or_default();
    let reply = artifacts.iter().find(|artifact| artifact["name"] == "reply");
    let parts = reply.and_then(|reply| reply["parts"].as_array().cloned()).unwrap_or_default();
    parts.iter().filter_map(|part| part["text"].as_str()).collect()
}

fn kill(mut daemon: Daemon) {
    daemon.signal("KILL");
    daemon.wait();
}

/// A run in which the server is killed while the ledger holds a call of this tool. Returns what the task is after the
/// restart, with everything that goes on.
async fn killed_in_a_call(tool: &str, is_wrapped: bool) -> (Value, Openfang, Daemon, FakeProvider, Ledger) {
    let (mut provider, ledger) = (FakeProvider::start().await, Ledger::start().await);
    let openfang = home(&provider.url(), &ledger.url());
    let daemon = openfang.start();
    while client(&daemon).get("/api/tools/mcp_ledger_append").await.status != 200 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    ledger.hold_next();
    let (name, arguments) = (format!("mcp_ledger_{tool}"), json!({ "run": "r", "n": 1 }));
    let call = match is_wrapped {
        true => calls(&[("c1", "tool_call", json!({ "name": name, "arguments": arguments }))]),
        false => calls(&[("c1", &name, arguments)]),
    };
    provider.script([call, says("Done.")]);
    let task = submit(&client(&daemon), "go").await;
    provider.next_request().await;
    ledger.wait_for_hold().await;

    kill(daemon);
    let daemon = openfang.start();

    let task = settled(&client(&daemon), &task).await;
    (task, openfang, daemon, provider, ledger)
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_the_model_speaks_it_is_asked_again_and_its_text_is_replaced() {
    let (mut provider, ledger) = (FakeProvider::start().await, Ledger::start().await);
    let openfang = home(&provider.url(), &ledger.url());
    let daemon = openfang.start();
    let delta = json!({ "choices": [{ "index": 0, "delta": { "content": "Half an" }, "finish_reason": null }] });
    provider.script([Reply::Hold(format!("data: {delta}\n\n").into_bytes())]);
    let task = submit(&client(&daemon), "go").await;
    provider.next_request().await;

    kill(daemon);
    provider.script([says("A whole answer.")]);
    let daemon = openfang.start();

    let task = settled(&client(&daemon), &task).await;
    assert_eq!((state(&task), reply_in(&task).as_str()), ("completed", "A whole answer."), "{task}");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_in_a_call_that_may_be_repeated_it_is_made_again() {
    for tool in ["look", "put"] {
        let (task, _openfang, _daemon, _provider, ledger) = killed_in_a_call(tool, false).await;

        assert_eq!((state(&task), reply_in(&task).as_str()), ("completed", "Done."), "{tool}: {task}");
        assert_eq!(ledger.calls(tool), 2, "{tool}: {task}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_in_a_call_that_may_have_happened_the_owner_is_asked_and_it_is_not_made_again() {
    for is_wrapped in [false, true] {
        asked_after_a_kill_in_append(is_wrapped).await;
    }
}

async fn asked_after_a_kill_in_append(is_wrapped: bool) {
    let (task, _openfang, daemon, _provider, ledger) = killed_in_a_call("append", is_wrapped).await;

    assert_eq!((state(&task), ledger.calls("append")), ("input-required", 1), "{task}");
    let question = task["status"]["message"]["parts"].to_string();
    assert!(question.contains("mcp_ledger_append") && question.contains("may"), "{task}");

    let (client, id) = (client(&daemon), task["id"].as_str().unwrap());
    reply(&client, id, "continue").await;

    let task = settled(&client, id).await;
    assert_eq!((state(&task), reply_in(&task).as_str()), ("completed", "Done."), "{task}");
    assert_eq!(ledger.calls("append"), 1, "{task}");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_it_is_compacted_the_conversation_is_as_it_was_and_goes_on() {
    let was_held = AtomicBool::new(false);
    let mut provider = FakeProvider::answering(move |post| {
        if asks_for_summary(post) {
            return match was_held.swap(true, Ordering::SeqCst) {
                false => Reply::Hold(Vec::new()),
                true => says("Some files were read."),
            };
        }
        if post.body.contains("Some files were read.") {
            return says("Done.");
        }
        let messages = post.json()["messages"].as_array().unwrap().clone();
        let read = messages.iter().filter(|message| message["role"] == "tool").count();
        calls(&[(&format!("c{read}"), "file_read", json!({ "path": format!("{read}.txt") }))])
    })
    .await;
    let openfang = Openfang::new();
    let config = format!(
        "api_key = \"{KEY}\"\n\n[providers.fake]\nwire = \"chat\"\nbase_url = \"{}/v1\"\n\n\
         [models.\"fake/m\"]\nwindow = 4096\nmax_output = 512\n",
        provider.url()
    );
    openfang.write("config.toml", &config);
    openfang.write("agents/thinker/agent.toml", &manifest(&["file_read"], ""));
    for number in 0..9 {
        openfang.write(&format!("workspaces/agents/thinker/{number}.txt"), &format!("file {number} ").repeat(400));
    }
    let daemon = openfang.start();
    let task = submit(&client(&daemon), "Read the files.").await;
    let mut before = 0;
    while !asks_for_summary(&provider.next_request().await) {
        before += 1;
    }

    kill(daemon);
    let daemon = openfang.start();

    let task = settled(&client(&daemon), &task).await;
    assert_eq!((state(&task), reply_in(&task).as_str()), ("completed", "Done."), "{task}");
    let after = provider.unread();
    assert!(after.len() == 2 && asks_for_summary(&after[0]), "{} requests after {before}", after.len());
    let last = after[1].json()["messages"].to_string();
    assert!(last.contains("Read the files.") && last.contains(&format!("file {}", before - 1)), "{last}");
}

/// A model that makes one call after the other and counts the results.
fn obedient(post: &Post) -> Reply {
    let request = post.json();
    let messages = request["messages"].as_array().unwrap();
    let run = messages.iter().find(|message| message["role"] == "user").unwrap()["content"].to_string();
    let run: String = run.chars().filter(|letter| letter.is_ascii_digit()).collect();
    let done = messages.iter().filter(|message| message["role"] == "tool").count();
    if done >= CALLS {
        return says("Done.");
    }
    let arguments = json!({ "run": run, "n": done + 1 });
    answer(WireKind::Chat, &[Say::text("next"), Say::call(&format!("c{done}"), "mcp_ledger_append", arguments)])
}

#[tokio::test(flavor = "multi_thread")]
async fn after_many_kills_no_call_is_doubled_or_lost_and_every_task_ends_or_waits() {
    let (provider, ledger) = (FakeProvider::answering(obedient).await, Ledger::start().await);
    let openfang = home(&provider.url(), &ledger.url());
    let mut daemon = openfang.start();
    let mut asked: HashMap<String, usize> = HashMap::new();
    let kills = rounds("AGENT_KILLS", KILLS);
    for round in 0..kills {
        let run = (1_000 + round).to_string();
        let task = submit(&client(&daemon), &format!("run {run}")).await;
        tokio::time::sleep(Duration::from_millis((round * 37) % 180)).await;
        kill(daemon);
        daemon = openfang.start();
        let client = client(&daemon);

        let mut shown = settled(&client, &task).await;
        if state(&shown) == "input-required" {
            asked.insert(run.clone(), 1);
            reply(&client, &task, "continue").await;
            shown = settled(&client, &task).await;
        }

        assert_eq!(state(&shown), "completed", "{shown}");
        let appended = ledger.appended(&run);
        let mut distinct = appended.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), appended.len(), "run {run}: a call was made twice: {appended:?}");
        let unknown = asked.get(&run).copied().unwrap_or_default();
        assert!(appended.len() + unknown >= CALLS, "run {run}: a call is lost: {appended:?}");
    }
    let check = openfang.run(&["--in-process", "db", "check"]);
    drop(daemon);
    assert_eq!(check.code, 0, "{check:?}");
}

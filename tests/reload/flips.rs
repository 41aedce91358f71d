//! Calls go on while everything changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use openfang_testkit::http::Client;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::fixture::{DEFAULTS, add_agent, counted_server, operator, remove_agent, replace, running, starts};

const FLIPS: usize = 100;
/// Calls that are made between two flips.
const CALLS: usize = 30;

struct Calls {
    made: AtomicUsize,
    is_over: AtomicBool,
    news: Notify,
}

/// Calls something again and again until the flips are over. Returns what went wrong.
async fn call_on(client: Client, calls: Arc<Calls>, (path, body): (&'static str, Value)) -> Vec<String> {
    let mut failed = Vec::new();
    while !calls.is_over.load(Ordering::SeqCst) {
        let answer = client.post(path, &body).await;
        let is_error = answer.body.contains("\"isError\":true") || answer.body.contains("\"failed\"");
        if answer.status != 200 || is_error {
            failed.push(format!("{path}: {} {}", answer.status, answer.body));
        }
        calls.made.fetch_add(1, Ordering::SeqCst);
        calls.news.notify_one();
    }
    failed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::disallowed_methods, reason = "the test waits for what it spawns")]
async fn no_call_fails_while_config_agents_and_servers_flip() {
    let (openfang, daemon) = running(DEFAULTS);
    let (entry, file) = counted_server(&openfang, "quick", 30);
    let client = operator(&openfang, &daemon);
    let flip = async |number: usize| {
        let is_odd = number % 2 == 1;
        let (entry, _) = counted_server(&openfang, "quick", if number % 10 < 5 { 30 } else { 31 });
        let body_bytes = if is_odd { 1_000_000 } else { 2_000_000 };
        let default = if is_odd { "starter" } else { "extra" };
        add_agent(&openfang, "extra", if is_odd { "get_greeting" } else { "current_time" });
        let config = format!("default_agent = \"{default}\"\n[limits]\nbody_bytes = {body_bytes}\n{entry}");
        replace(&openfang, "config.toml", &config);
        let answer = client.post("/api/config/reload", &json!({})).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        if is_odd {
            remove_agent(&openfang, "extra");
            let answer = client.post("/api/config/reload", &json!({})).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
        }
    };
    replace(&openfang, "config.toml", &entry);
    assert_eq!(client.post("/api/config/reload", &json!({})).await.status, 200);
    while client.get("/api/tools/mcp_quick_hello").await.status != 200 {
        tokio::task::yield_now().await;
    }

    let calls = Arc::new(Calls { made: AtomicUsize::new(0), is_over: AtomicBool::new(false), news: Notify::new() });
    let kinds = [
        ("/api/tools/add_numbers", json!({"arguments": {"a": 3, "b": 7}})),
        ("/api/agents/starter/message", json!({"text": "Ada"})),
        ("/api/tools/mcp_quick_hello", json!({"arguments": {}})),
    ];
    let callers: Vec<_> = kinds
        .into_iter()
        .map(|kind| tokio::spawn(call_on(client.clone(), Arc::clone(&calls), kind)))
        .collect();
    for number in 0..FLIPS {
        flip(number).await;
        while calls.made.load(Ordering::SeqCst) < (number + 1) * CALLS {
            calls.news.notified().await;
        }
    }
    calls.is_over.store(true, Ordering::SeqCst);

    for caller in callers {
        let failed = caller.await.unwrap();
        assert_eq!(failed, Vec::<String>::new());
    }
    assert!(calls.made.load(Ordering::SeqCst) >= FLIPS * CALLS);
    assert!(starts(&file) > 1, "the server was never replaced");
}

//! Answers that show a large task, over HTTP/2, to a user who reads none of them: they take the user's share of memory
//! and no more, and another user is served meanwhile.
#![cfg(target_os = "linux")]

use std::time::Duration;

use openfang_testkit::http::Client;
use serde_json::json;

use crate::support::binary::{Daemon, Openfang};
use crate::support::frames::{HEADERS, Http2, RESET, Window};

const MIB: usize = 1024 * 1024;

/// One user's share is 16 MiB, and each of these answers would be 4 MiB.
const CONFIG: &str = "\
    [a2a]\nenabled = true\n\
    [limits]\ninflight_bytes = 33554432\nbody_bytes = 4194304\n\
    rate_per_principal = 10000\nrate_per_principal_burst = 10000\n";
const LARGE: usize = 3 * MIB;
const STREAMS: u32 = 90;

/// Ninety of them are 350 MiB. What is allowed: the share, what one or two of them take in passing that nobody counts,
/// and what the allocator has not given back.
const GROWTH: usize = 64 * MIB;

/// Nothing waits for it when things go well.
const PATIENCE: Duration = Duration::from_secs(60);

/// The header block of an answer begins with its status; this is 200.
const OK: u8 = 0x88;

fn key_of(openfang: &Openfang, name: &str) -> String {
    let added = openfang.run(&["user", "add", name, "--grant", "*", "--grant", "agent:starter/*"]);
    assert_eq!(added.code, 0, "{}", added.stderr);
    openfang.run(&["key", "create", name, "-q"]).stdout.trim().to_owned()
}

fn resident(daemon: &Daemon) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

/// Asks ninety times and reads no answer. Says how many were refused, and how much memory the daemon had at most.
async fn asks_and_never_reads(daemon: &Daemon, key: &str, path: &str, body: Option<&str>) -> (usize, usize) {
    let bearer = format!("Bearer {key}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
        ("accept", "application/json"),
        ("a2a-version", "1.0"),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    let mut peer = Http2::open(daemon.address(), Window::Shut).await;
    for n in 0..STREAMS {
        peer.ask(1 + 2 * n, path, &headers, body).await;
    }
    let (mut answered, mut refused, mut peak) = (0, 0, 0);
    while answered < STREAMS {
        let frame = peer.next().await.unwrap();
        assert_ne!(frame.kind, RESET, "nothing has stalled yet");
        if frame.kind == HEADERS {
            answered += 1;
            refused += usize::from(frame.payload.first() != Some(&OK));
        }
        peak = peak.max(resident(daemon));
    }
    (refused, peak)
}

/// Another user, who asks for something small again and again, and is answered in time.
async fn is_served(client: &Client) {
    let call = json!({"arguments": {"a": 1, "b": 2}});
    loop {
        let answer = client.post("/api/tools/add_numbers", &call);
        let answer = tokio::time::timeout(Duration::from_secs(5), answer).await.unwrap();
        assert_eq!(answer.status, 200, "{}", answer.body);
        tokio::task::yield_now().await;
    }
}

async fn takes_no_more_than_its_share(path: fn(&str) -> String, body: fn(&str) -> Option<String>) {
    let openfang = Openfang::new();
    openfang.write("config.toml", CONFIG);
    let mut daemon = openfang.start();
    let (eve_key, bob_key) = (key_of(&openfang, "eve"), key_of(&openfang, "bob"));
    let (eve, bob) = (daemon.client().bearer(&eve_key), daemon.client().bearer(&bob_key));
    let sent = eve.post("/api/agents/starter/message", &json!({"text": "x".repeat(LARGE)})).await;
    let task = sent.json()["task"]["id"].as_str().unwrap().to_owned();
    let before = resident(&daemon);
    let (path, body) = (path(&task), body(&task));

    let asking = asks_and_never_reads(&daemon, &eve_key, &path, body.as_deref());
    let (refused, peak) = tokio::select! {
        done = tokio::time::timeout(PATIENCE, asking) => done.unwrap(),
        () = is_served(&bob) => unreachable!("it goes on for ever"),
    };

    let growth = peak.saturating_sub(before);
    assert!(growth < GROWTH, "{path}: {} MiB", growth / MIB);
    assert!(body.is_some() || refused > 0, "{path}: somebody is told to wait");
    // The connection is gone, and with it what it held.
    assert_eq!(eve.get(&format!("/api/tasks/{task}")).await.status, 200);
    daemon.signal("TERM");
    assert_eq!(daemon.wait().code, 0);
}

fn rpc(method: &str, params: &serde_json::Value) -> Option<String> {
    Some(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn ninety_unread_answers_with_a_large_task_take_no_more_than_the_share_of_their_user() {
    takes_no_more_than_its_share(|task| format!("/api/tasks/{task}"), |_| None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ninety_unread_pages_of_large_tasks_take_no_more_than_the_share_of_their_user() {
    takes_no_more_than_its_share(|_| "/api/tasks?includeHistory=true".to_owned(), |_| None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ninety_unread_answers_over_a2a_take_no_more_than_the_share_of_their_user() {
    takes_no_more_than_its_share(|_| "/a2a".to_owned(), |task| rpc("GetTask", &json!({"id": task}))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ninety_unread_resources_over_mcp_take_no_more_than_the_share_of_their_user() {
    let uri = |task: &str| rpc("resources/read", &json!({"uri": format!("openfang://tasks/{task}")}));
    takes_no_more_than_its_share(|_| "/mcp".to_owned(), uri).await;
}

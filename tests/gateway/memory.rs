//! However much a server writes, what it costs the daemon is bounded. The daemon is a process of its own here, so that
//! the most memory it ever had is known.

use openfang_types::config::McpServerConfigEntry;
use serde_json::{Value, json};

use super::fixture::{PATIENCE, odd};
use crate::support::binary::{Daemon, Openfang};

const MIB: usize = 1024 * 1024;

/// A daemon that is connected to these and has them ready.
async fn daemon(entries: &[McpServerConfigEntry]) -> (Openfang, Daemon) {
    let openfang = Openfang::new();
    openfang.write("config.toml", &toml::to_string(&json!({ "mcp_servers": entries })).unwrap());
    let daemon = openfang.start();
    for entry in entries {
        let begun = tokio::time::Instant::now();
        while daemon.client().get(&format!("/api/tools/mcp_{}_echo", entry.name)).await.status != 200 {
            assert!(begun.elapsed() < PATIENCE, "{} is not there", entry.name);
        }
    }
    (openfang, daemon)
}

async fn call(daemon: &Daemon, tool: &str, arguments: Value) -> Value {
    let client = daemon.client();
    let (path, body) = (format!("/api/tools/{tool}"), json!({ "arguments": arguments }));
    let answer = tokio::time::timeout(PATIENCE, client.post(&path, &body)).await;
    answer.unwrap_or_else(|_| panic!("a call of {tool} hangs")).json()
}

/// The most memory that it ever had.
fn peak(daemon: &Daemon) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

#[track_caller]
fn assert_little_more(daemon: &Daemon, before: usize, more: usize) {
    let now = peak(daemon);
    assert!(now < before + more, "{} MiB before, {} MiB now", before / MIB, now / MIB);
}

async fn neighbour_works(daemon: &Daemon) {
    let said = call(daemon, "mcp_neighbour_echo", json!({"text": "unharmed"})).await;
    assert_eq!(said["content"][0]["text"], "unharmed", "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_on_stderr_holds_nobody_up_and_is_kept_in_part() {
    let (_openfang, daemon) = daemon(&[odd("wordy", &[]), odd("neighbour", &[])]).await;
    let before = peak(&daemon);

    for (mebibytes, line) in [(6, 1_000), (20, MIB)] {
        let said = call(&daemon, "mcp_wordy_complain", json!({"bytes": mebibytes * MIB, "line": line})).await;
        assert_eq!(said["content"][0]["text"], "complained", "{said}");
    }

    assert_little_more(&daemon, before, 16 * MIB);
    neighbour_works(&daemon).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gigabyte_in_one_answer_leaves_memory_bounded() {
    let (_openfang, daemon) = daemon(&[odd("endless", &[]), odd("neighbour", &[])]).await;
    let before = peak(&daemon);

    let said = call(&daemon, "mcp_endless_huge", json!({"bytes": 1_024 * MIB})).await;

    assert_eq!(said["is_error"].as_bool().or(said["isError"].as_bool()), Some(true), "{said}");
    assert_little_more(&daemon, before, 64 * MIB);
    neighbour_works(&daemon).await;
}

/// A server that asks and does not listen is not allowed to fill our memory with answers.
#[tokio::test(flavor = "multi_thread")]
async fn questions_of_a_server_that_does_not_listen_are_bounded() {
    let (_openfang, daemon) = daemon(&[odd("deaf", &[]), odd("neighbour", &[])]).await;
    let before = peak(&daemon);

    let first = call(&daemon, "mcp_deaf_pings_for_ever", json!({})).await;
    assert_eq!(first["content"][0]["text"], "listen", "{first}");
    // The server is given up as soon as it is clear that it does not listen; then it is started again, and well.
    let second = call(&daemon, "mcp_deaf_never", json!({})).await;
    assert_eq!(second["is_error"].as_bool().or(second["isError"].as_bool()), Some(true), "{second}");

    assert_little_more(&daemon, before, 64 * MIB);
    neighbour_works(&daemon).await;
}

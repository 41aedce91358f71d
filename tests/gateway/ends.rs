//! Servers that do not start, end when they should not, or take the question of a newer era badly.

use std::time::Duration;

use openfang_types::mcp_status::McpServerState;
use serde_json::json;

use super::fixture::{House, PATIENCE, odd};

#[tokio::test]
async fn a_server_that_dies_at_the_start_is_failed_with_what_it_said_last() {
    let house = House::beside(odd("stillborn", &["--die", "the database is not there"])).await;

    let status = house.failed("stillborn").await;

    assert!(status.reason.as_ref().unwrap().contains("ended with code 1"), "{status:?}");
    assert!(status.stderr.iter().any(|line| line.contains("the database is not there")), "{status:?}");
    assert!(house.log("stillborn").iter().any(|line| line.contains("the database is not there")));
    house.neighbour_works().await;
    house.close().await;
}

/// STD-06.
#[tokio::test]
async fn a_server_that_dies_in_the_middle_of_a_call_fails_it_once_and_comes_back() {
    let house = House::beside(odd("frail", &[])).await;
    house.ready("frail").await;
    let first = house.says("mcp_frail_pid", json!({})).await;

    let (died, other) =
        tokio::join!(house.says("mcp_frail_never", json!({})), house.says("mcp_frail_die", json!({"code": 7})),);

    for said in [&died, &other] {
        assert!(said.starts_with('!') && said.contains("7"), "{said}");
    }
    house.neighbour_works().await;
    house
        .until("frail", |status| status.starts == 2 && status.state == McpServerState::Ready)
        .await;
    assert_ne!(house.says("mcp_frail_pid", json!({})).await, first);
    let killed = house.says("mcp_frail_die", json!({"signal": true})).await;
    assert!(killed.starts_with('!') && killed.contains("signal"), "{killed}");
    house.close().await;
}

/// STD-06: a crash loop is slowed down, and costs nobody else anything. Processes are counted, not attempts.
#[tokio::test]
async fn a_server_that_keeps_dying_is_started_five_times_a_minute_at_most() {
    let directory = tempfile::tempdir().unwrap();
    let starts = directory.path().join("starts");
    let house = House::beside(odd("looping", &["--die", "again", "--starts", starts.to_str().unwrap()])).await;
    let counted = || std::fs::read_to_string(&starts).unwrap_or_default().lines().count();
    house
        .until("looping", |status| status.state == McpServerState::Failed && counted() >= 4)
        .await;

    for _ in 0..500 {
        house.neighbour_works().await;
    }

    assert!(counted() <= 5, "{} processes within a minute", counted());
    house.close().await;
}

#[tokio::test]
async fn a_server_that_never_answers_the_question_of_the_newest_era_is_spoken_to_in_the_older_one() {
    let house = House::beside(odd("silent", &["--probe", "silent"])).await;

    let status = house.ready("silent").await;

    assert_eq!((status.protocol.as_deref(), status.starts), (Some("2025-11-25"), 1));
    assert_eq!(house.says("mcp_silent_echo", json!({"text": "hello"})).await, "hello");
    house.close().await;
}

#[tokio::test]
async fn a_server_that_leaves_over_the_question_of_the_newest_era_is_started_again_and_greeted() {
    let directory = tempfile::tempdir().unwrap();
    let starts = directory.path().join("starts");
    let options = ["--probe", "exit", "--starts", starts.to_str().unwrap()];
    let house = House::beside(odd("touchy", &options)).await;

    let status = house.ready("touchy").await;

    assert_eq!(status.protocol.as_deref(), Some("2025-11-25"));
    assert_eq!(house.says("mcp_touchy_echo", json!({"text": "hello"})).await, "hello");
    assert_eq!(std::fs::read_to_string(&starts).unwrap().lines().count(), 2);
    // What was found out is remembered: it is not asked again.
    let home = house.close().await;
    let house = House::on(home, [odd("touchy", &options)]).await;
    house.ready("touchy").await;
    house.until("touchy", |status| status.protocol.is_some()).await;
    assert_eq!(std::fs::read_to_string(&starts).unwrap().lines().count(), 3);
    house.close().await;
}

#[tokio::test]
async fn a_server_that_reads_nothing_any_more_is_given_up() {
    let mut entry = odd("deaf", &[]);
    entry.timeout_secs = 1;
    let house = House::beside(entry).await;
    house.ready("deaf").await;
    assert_eq!(house.says("mcp_deaf_deaf", json!({})).await, "deaf from now on");

    // More than any pipe holds; after a few calls without an answer it is connected to anew.
    for _ in 0..5 {
        let said = house.says("mcp_deaf_echo", json!({"text": "x".repeat(200_000)})).await;
        assert!(said.starts_with('!'), "{}", &said[..20]);
        house.neighbour_works().await;
    }

    house
        .until("deaf", |status| status.starts == 2 && status.state == McpServerState::Ready)
        .await;
    assert_eq!(house.says("mcp_deaf_echo", json!({"text": "hello"})).await, "hello");
    house.close().await;
}

#[tokio::test]
async fn what_a_server_started_ends_with_it() {
    let house = House::beside(odd("parent", &[])).await;
    house.ready("parent").await;
    let child = house.says("mcp_parent_litter", json!({})).await;
    let is_there = || std::path::Path::new(&format!("/proc/{child}/environ")).exists();
    assert!(is_there(), "{child}");

    house.close().await;

    crate::children::fixture::until(Duration::from_secs(5), || if is_there() { Err(&child) } else { Ok(()) }).await;
}

#[tokio::test]
async fn a_server_that_hangs_up_and_stays_is_ended_and_started_again() {
    let house = House::beside(odd("mute", &[])).await;
    house.ready("mute").await;
    let before = house.says("mcp_mute_pid", json!({})).await;

    let said = house.says("mcp_mute_hang_up", json!({})).await;

    assert!(said.starts_with('!') && said.contains("closed its output"), "{said}");
    house
        .until("mute", |status| status.starts == 2 && status.state == McpServerState::Ready)
        .await;
    let is_there = || std::path::Path::new(&format!("/proc/{before}/environ")).exists();
    crate::children::fixture::until(PATIENCE, || if is_there() { Err(&before) } else { Ok(()) }).await;
    house.neighbour_works().await;
    house.close().await;
}

/// What a server had stays listed, and a call says at once why there is no answer.
#[tokio::test]
async fn a_call_of_a_server_that_is_down_says_why_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let gate = directory.path().join("gate");
    let entry = || odd("down", &["--die-if", gate.to_str().unwrap()]);
    let house = House::beside(entry()).await;
    house.ready("down").await;
    house.ready("neighbour").await;
    let home = house.close().await;
    std::fs::write(&gate, "").unwrap();
    let house = House::on(home, [entry(), odd("neighbour", &[])]).await;
    house.failed("down").await;

    for said in [
        house.says("mcp_down_echo", json!({"text": "hello"})).await,
        house
            .ask("/mcp/servers/down", "tools/call", json!({"name": "echo", "arguments": {}}))
            .await
            .to_string(),
    ] {
        assert!(said.contains("ended with code 1"), "{said}");
    }
    house.neighbour_works().await;
    std::fs::remove_file(&gate).unwrap();
    assert_eq!(house.reconnect("down").await.state, McpServerState::Ready);
    assert_eq!(house.says("mcp_down_echo", json!({"text": "hello"})).await, "hello");
    house.close().await;
}

#[tokio::test]
async fn a_server_that_does_not_say_what_changed_can_be_started_again() {
    let mut entry = odd("stalled", &[]);
    (entry.timeout_secs, entry.startup_timeout_secs) = (3_600, 3_600);
    let house = House::beside(entry).await;
    house.ready("stalled").await;
    assert_eq!(house.says("mcp_stalled_stall", json!({})).await, "stalled");

    let status = tokio::time::timeout(PATIENCE, house.reconnect("stalled")).await.unwrap();

    assert_eq!((status.state, status.starts), (McpServerState::Ready, 2));
    house.close().await;
}

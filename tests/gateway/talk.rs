//! Servers that say what they should not: noise, answers to nothing, too much, too little.

use openfang_types::mcp_status::McpServerState;
use serde_json::json;

use super::fixture::{House, odd};

const MIB: usize = 1024 * 1024;

/// STD-05.
#[tokio::test]
async fn noise_on_stdout_is_ignored_until_it_is_nothing_but_noise() {
    let house = House::beside(odd("loud", &["--noise", "500"])).await;
    house.ready("loud").await;
    for _ in 0..3 {
        assert_eq!(house.says("mcp_loud_noise", json!({"lines": 500})).await, "after the noise");
    }
    assert_eq!(house.status("loud").starts, 1);

    let said = house.says("mcp_loud_noise", json!({"lines": 1_000})).await;

    assert!(said.starts_with('!') && said.contains("1000 lines in a row that are no messages"), "{said}");
    house.neighbour_works().await;
    house
        .until("loud", |status| status.starts == 2 && status.state == McpServerState::Ready)
        .await;
    house.close().await;
}

#[tokio::test]
async fn the_first_answer_counts_and_the_second_is_dropped() {
    let house = House::beside(odd("eager", &[])).await;
    house.ready("eager").await;

    assert_eq!(house.says("mcp_eager_twice", json!({})).await, "first");

    assert_eq!(house.says("mcp_eager_echo", json!({"text": "and on"})).await, "and on");
    let metrics = house.kernel().metrics();
    assert!(metrics.contains("openfang_mcp_dropped_replies_total{from=\"server\"} 1\n"), "{metrics}");
    house.close().await;
}

#[tokio::test]
async fn an_answer_to_nothing_is_nobodys_answer() {
    let mut entry = odd("confused", &[]);
    entry.timeout_secs = 2;
    let house = House::beside(entry).await;
    house.ready("confused").await;

    assert_eq!(house.says("mcp_confused_other_ids", json!({"right": true})).await, "right");
    let said = house.says("mcp_confused_other_ids", json!({})).await;
    assert!(said.starts_with('!') && said.contains("no answer within 2 s"), "{said}");

    assert_eq!(house.says("mcp_confused_echo", json!({"text": "and on"})).await, "and on");
    assert_eq!(house.status("confused").starts, 1);
    house.close().await;
}

#[tokio::test]
async fn an_answer_that_is_no_text_fails_its_call_at_once() {
    let house = House::beside(odd("binary", &[])).await;
    house.ready("binary").await;

    let said = house.says("mcp_binary_not_utf8", json!({})).await;

    assert!(said.starts_with('!') && said.contains("cannot be read"), "{said}");
    assert_eq!(house.says("mcp_binary_echo", json!({"text": "and on"})).await, "and on");
    assert_eq!(house.status("binary").starts, 1);
    house.close().await;
}

/// A message beyond 24 MiB is never kept. Whoever waits for it is told so, rather than left to wait.
#[tokio::test]
async fn an_answer_that_is_too_large_fails_its_call_at_once() {
    let house = House::beside(odd("large", &[])).await;
    house.ready("large").await;
    let begun = tokio::time::Instant::now();

    let said = house.says("mcp_large_huge", json!({"bytes": 33 * MIB})).await;

    assert!(said.starts_with('!') && said.contains("larger than 24 MiB"), "{said}");
    assert!(begun.elapsed().as_secs() < 25, "it was left to wait");
    assert_eq!(house.says("mcp_large_echo", json!({"text": "and on"})).await, "and on");
    let whole = house.call_at("/mcp/servers/large", "huge", json!({"bytes": 4 * MIB})).await;
    assert!(whole.to_string().len() < MIB, "a block is cut where it is handed on");
    assert_eq!(house.status("large").starts, 1);
    house.close().await;
}

/// With others on the same pipe, too: how the message begins says whose it is.
#[tokio::test]
async fn an_answer_that_is_too_large_fails_its_call_at_once_and_not_those_beside_it() {
    let mut entry = odd("large", &[]);
    entry.timeout_secs = 60;
    let house = House::beside(entry).await;
    house.ready("large").await;

    let said = tokio::select! {
        biased;
        said = house.says("mcp_large_never", json!({})) => panic!("{said}"),
        said = house.says("mcp_large_huge", json!({"bytes": 33 * MIB})) => said,
    };

    assert!(said.starts_with('!') && said.contains("larger than 24 MiB"), "{said}");
    assert_eq!(house.says("mcp_large_echo", json!({"text": "and on"})).await, "and on");
    assert_eq!(house.status("large").starts, 1);
    house.close().await;
}

#[tokio::test]
async fn half_a_message_and_then_nothing_fails_the_call_once() {
    let house = House::beside(odd("cut", &[])).await;
    house.ready("cut").await;

    let said = house.says("mcp_cut_half", json!({})).await;

    assert!(said.starts_with('!') && said.contains("cannot be read"), "{said}");
    house.neighbour_works().await;
    house
        .until("cut", |status| status.starts == 2 && status.state == McpServerState::Ready)
        .await;
    assert_eq!(house.says("mcp_cut_echo", json!({"text": "again"})).await, "again");
    house.close().await;
}

#[tokio::test]
async fn pings_are_answered() {
    let house = House::beside(odd("pinging", &[])).await;
    house.ready("pinging").await;

    let answer = house.says("mcp_pinging_ping", json!({})).await;
    assert!(answer.contains("\"result\": {}") && answer.contains("ping-1"), "{answer}");

    assert_eq!(house.says("mcp_pinging_pings", json!({"count": 20_000})).await, "pinged");
    assert_eq!(house.says("mcp_pinging_echo", json!({"text": "and on"})).await, "and on");
    assert_eq!(house.status("pinging").starts, 1);
    house.close().await;
}

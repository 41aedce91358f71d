//! What is read of a remote agent's events, and the agent's entry.

use super::*;

#[test]
fn a_tick_is_found_in_the_events_of_both_protocols() {
    let a2a = br#"data: {"result":{"statusUpdate":{"status":{"message":{"parts":[{"text":"tick 7 2026-11-16T06:00:00.5Z"}]}}}}}"#;
    let mcp = br#"data: {"method":"notifications/progress","params":{"message":"echo: tick 8 2026-11-16T06:00:01Z"}}"#;

    assert_eq!(tick(a2a).unwrap(), Some((7, "2026-11-16T06:00:00.5Z".parse().unwrap())));
    assert_eq!(tick(mcp).unwrap(), Some((8, "2026-11-16T06:00:01Z".parse().unwrap())));
    assert_eq!(tick(b"data: {\"task\":{}}").unwrap(), None);
    assert!(tick(b"tick many").is_err());
}

#[test]
fn an_entry_names_the_agent_and_its_url() {
    let entry = entry("echo", "http://127.0.0.1:1/plain");

    assert!(entry.contains("name = \"echo\"\nurl = \"http://127.0.0.1:1/plain\""));
}

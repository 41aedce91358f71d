//! What differs between two configurations, and what of it waits.

use super::*;

fn config(text: &str) -> Config {
    toml::from_str(text).unwrap()
}

#[test]
fn keys_that_differ_are_named_and_their_values_are_not() {
    let now = config("api_key = \"canary-0123456789\"\n[limits]\nbody_bytes = 1000\n[log]\nlevel = \"info\"");
    let next = config("api_key = \"canary-9876543210\"\n[limits]\nbody_bytes = 2000\n[log]\nlevel = \"info\"");

    assert_eq!(changed_keys(&now, &now.clone()), Vec::<String>::new());
    assert_eq!(changed_keys(&now, &next), ["limits.body_bytes", "api_key"]);
}

#[test]
fn what_takes_a_restart_stays_as_it_is_and_is_named() {
    let now = config("[limits]\nbody_bytes = 1000");
    let mut next = config(
        "api_listen = \"127.0.0.1:1\"\n[limits]\nbody_bytes = 2000\nconnections = 7\n[a2a]\ncard_key = \"key.pem\"",
    );

    let keys = keep_until_restart(&mut next, &now);

    assert_eq!(keys, ["api_listen", "a2a.card_key", "limits.connections"]);
    assert_eq!(changed_keys(&now, &next), ["limits.body_bytes"]);
}

#[test]
fn a_secret_of_a_server_is_part_of_its_entry() {
    let server = |token: &str| {
        let text = "[[mcp_servers]]\nname = \"a\"\ntransport = { type = \"stdio\", command = \"x\" }\nenv = [\"TOKEN=";
        config(&format!("{text}{token}\"]"))
    };
    let (now, next) = (server("canary-1"), server("canary-2"));

    assert_eq!(changed_keys(&now, &next), ["mcp_servers"]);
    let changes = server_changes(&now.mcp_servers, &next.mcp_servers);
    assert_eq!(changes, NameChanges { changed: vec!["a".to_owned()], ..NameChanges::default() });
    assert!(server_changes(&now.mcp_servers, &now.mcp_servers).is_empty());
}

#[test]
fn what_lets_more_callers_in_waits_and_what_lets_fewer_in_does_not() {
    let server = "[[mcp_servers]]\nname = \"a\"\ntransport = { type = \"stdio\", command = \"x\" }\n";
    let trusted = format!("{server}trusted = true");
    let other = trusted.replace("\"x\"", "\"y\"");
    let rows = [
        ("api_key = \"0123456789abcdef\"", "", "api_key"),
        ("", "api_listen = \"0.0.0.0:50051\"", "api_listen"),
        ("", "allowed_hosts = [\"a.example\"]", "allowed_hosts"),
        ("", "trusted_proxies = [\"10.0.0.1\"]", "trusted_proxies"),
        ("", "[exec]\nallow = [\"ls\"]", "exec.allow"),
        ("[exec]\ndeny = [\"ls\"]", "", "exec.deny"),
        ("", "[exec]\nread = [\"/opt/x\"]", "exec.read"),
        ("", "[exec]\nnetwork = true", "exec.network"),
        ("", "[exec]\nunsandboxed = true", "exec.unsandboxed"),
        (server, trusted.as_str(), "the MCP server a"),
        (trusted.as_str(), other.as_str(), "the MCP server a"),
    ];
    for (less, more, named) in rows {
        let reasons = guarded(&config(less), &config(more), false);
        assert!(reasons.len() == 1 && reasons[0].starts_with(named), "{less} -> {more}: {reasons:?}");
    }
    for (less, more, _) in &rows[..10] {
        assert_eq!(guarded(&config(more), &config(less), false), Vec::<String>::new(), "{more} -> {less}");
    }
    assert_eq!(guarded(&config(rows[0].0), &config(""), true), Vec::<String>::new(), "users have credentials");
}

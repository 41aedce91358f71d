//! MCP servers that come, change and go while a server runs.

use serde_json::json;

use super::fixture::{UNWATCHED, counted_server, operator, reload, replace, running, starts, until};

#[tokio::test]
async fn a_server_that_changed_is_connected_to_anew_and_the_others_are_not() {
    let (openfang, daemon) = running(UNWATCHED);
    let ((first, first_file), (second, second_file)) =
        (counted_server(&openfang, "first", 30), counted_server(&openfang, "second", 30));
    let client = operator(&openfang, &daemon);
    let hello = async |name: &str| client.post(&format!("/api/tools/mcp_{name}_hello"), &json!({})).await.status;
    replace(&openfang, "config.toml", &format!("{UNWATCHED}{first}{second}"));

    let report = reload(&openfang);
    assert_eq!(report["mcpServers"]["added"], json!(["first", "second"]));
    until("both run", || (starts(&first_file) == 1 && starts(&second_file) == 1).then_some(()));
    until("both are listed", || {
        let listed = openfang.run(&["tool", "list"]).stdout;
        ["mcp_first_hello", "mcp_second_hello"]
            .iter()
            .all(|tool| listed.contains(tool))
            .then_some(())
    });
    assert_eq!((hello("first").await, hello("second").await), (200, 200));

    let (changed, _) = counted_server(&openfang, "first", 31);
    replace(&openfang, "config.toml", &format!("{UNWATCHED}{changed}{second}"));
    let report = reload(&openfang);
    assert_eq!(report["mcpServers"], json!({"added": [], "changed": ["first"], "removed": []}));
    until("the first was started again", || (starts(&first_file) == 2).then_some(()));
    assert_eq!((hello("first").await, hello("second").await), (200, 200));

    replace(&openfang, "config.toml", &format!("{UNWATCHED}{second}"));
    assert_eq!(reload(&openfang)["mcpServers"]["removed"], json!(["first"]));
    assert_eq!((hello("first").await, hello("second").await), (404, 200));
    assert_eq!((starts(&first_file), starts(&second_file)), (2, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::disallowed_methods, reason = "the test waits for what it spawns")]
async fn a_call_that_began_before_a_change_is_answered_by_the_connection_it_began_on() {
    let (openfang, daemon) = running(UNWATCHED);
    let (entry, file) = counted_server(&openfang, "slow", 30);
    let (begun, go) = (openfang.scratch("begun"), openfang.scratch("go"));
    // The first start answers a call when it is told to; the second one answers at once.
    let script = openfang.scratch("slow.sh");
    let quick = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/gateway/servers/quick.sh"));
    let waits = format!("touch {}; while [ ! -e {} ]; do sleep 0.02; done; echo", begun.display(), go.display());
    let slow = quick
        .unwrap()
        .replace("*'\"tools/call\"'*) echo", &format!("*'\"tools/call\"'*) {waits}"));
    std::fs::write(&script, slow).unwrap();
    let entry = |timeout: u32| {
        let start = format!("echo started >> {}; exec sh {}", file.display(), script.display());
        let entry = entry.lines().filter(|line| !line.starts_with("args") && !line.starts_with("timeout"));
        let lines: Vec<&str> = entry.collect();
        let entry = lines
            .join("\n")
            .replace("name = \"slow\"", &format!("name = \"slow\"\ntimeout_secs = {timeout}"));
        format!("{UNWATCHED}{entry}\nargs = [\"-c\", {}]\n", json!(start))
    };
    replace(&openfang, "config.toml", &entry(30));
    reload(&openfang);
    let client = operator(&openfang, &daemon);
    until("it is listed", || openfang.run(&["tool", "list"]).stdout.contains("mcp_slow_hello").then_some(()));

    let call = tokio::spawn(async move { client.post("/api/tools/mcp_slow_hello", &json!({})).await });
    until("the call has begun", || begun.exists().then_some(()));
    replace(&openfang, "config.toml", &entry(31));
    reload(&openfang);
    until("another one was started", || (starts(&file) == 2).then_some(()));
    until("it took the place", || openfang.run(&["mcp", "show", "slow"]).stdout.contains("ready").then_some(()));
    std::fs::write(&go, "").unwrap();

    let answer = call.await.unwrap();
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.body.contains("hello"), "{}", answer.body);
}

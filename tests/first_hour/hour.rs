//! The hour as a test: an empty machine, three commands, and a tool of an imported server answers in an IDE.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::fixture::{Desktop, Machine, ok};

/// The hour has to fit into this, on a loaded machine too.
const TWO_MINUTES: Duration = Duration::from_secs(120);

fn script() -> String {
    let path = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/gateway/servers/quick.sh");
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn three_commands_lead_from_an_empty_machine_to_a_tool_in_the_ide() {
    let machine = Machine::new();
    let server = |name: &str| json!({ name: { "command": "/bin/sh", "args": [script(), name] } });
    machine.write(".cursor/mcp.json", &json!({ "mcpServers": server("first") }).to_string());
    let mut two = server("second");
    two["third"] = server("third")["third"].clone();
    machine.write(".claude.json", &json!({ "mcpServers": two }).to_string());
    let begun = Instant::now();

    let set_up = ok(machine.init(&["--import", "--connect", "none"]));
    assert!(set_up.stdout.contains("wrote 3 servers"), "{set_up:?}");
    assert!(set_up.stdout.contains("next:"), "{set_up:?}");
    let connected = ok(machine.run(&["connect", "claude-code", "cursor"]));
    assert!(connected.stdout.contains("started as written, it lists"), "{connected:?}");
    let listed = ok(machine.run(&["mcp", "list"]));
    assert!(listed.stdout.contains("second"), "{listed:?}");

    let settings: Value = serde_json::from_str(&machine.read(".cursor/mcp.json")).unwrap();
    let entry = &settings["mcpServers"]["openfang"];
    let arguments: Vec<String> = entry["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word.as_str().unwrap().to_owned())
        .collect();
    let mut ide = Desktop::start(&machine.user(), entry["command"].as_str().unwrap(), &arguments);
    ide.ask(
        "initialize",
        json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "ide", "version": "1"}}),
    );
    // The servers are connected when the IDE starts; it is told when their tools are there, and lists again.
    while !ide.ask("tools/list", json!({})).to_string().contains("mcp_second_hello") {
        assert!(begun.elapsed() < TWO_MINUTES);
    }
    let answer = ide.ask("tools/call", json!({"name": "mcp_second_hello", "arguments": {}}));

    assert_eq!(answer["result"]["content"][0]["text"], "hello", "{answer}");
    assert!(begun.elapsed() < TWO_MINUTES, "{:?}", begun.elapsed());
}

#[test]
fn init_without_a_terminal_does_only_what_was_asked() {
    let machine = Machine::new();
    machine.write(".cursor/mcp.json", r#"{"mcpServers": {"a": {"command": "/bin/sh"}}}"#);
    let before = machine.files();

    let ran = ok(machine.init(&[]));

    assert_eq!(machine.files(), before);
    assert!(ran.stderr.contains("found Cursor; connect them with --yes"), "{ran:?}");
    assert!(ran.stderr.contains("found 1 MCP servers; import them with --import"), "{ran:?}");
    let config = std::fs::read_to_string(machine.openfang.home().join("config.toml")).unwrap();
    assert!(config.contains("default_agent = \"starter\""), "{config}");
    let again = ok(machine.run(&["init", "--json", "--no-import", "--connect", "none"]));
    assert_eq!(again.json()["created"], false);
}

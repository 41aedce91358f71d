//! Choosing what of MCP servers is used, as a person at a terminal sees it.

use std::path::PathBuf;

use openfang_testkit::http::Client;
use serde_json::{Value, json};

use crate::support::binary::{Daemon, Openfang, Ran};

const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/gateway/servers/peer.py");
const QUICK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/gateway/servers/quick.sh");

fn ok(ran: Ran) -> Ran {
    assert_eq!(ran.code, 0, "{ran:?}");
    ran
}

/// The command line of a server that lists these tools, after `--`.
fn server(openfang: &Openfang, tools: &[&str]) -> [String; 6] {
    let file = openfang.scratch("tools.json");
    let tools: Vec<Value> = tools
        .iter()
        .map(|name| json!({"name": name, "description": format!("Does {name}."), "inputSchema": {"type": "object"}}))
        .collect();
    std::fs::write(&file, json!(tools).to_string()).unwrap();
    let (peer, file) = (PathBuf::from(PEER).canonicalize().unwrap(), file.to_str().unwrap().to_owned());
    let words = ["--", "/usr/bin/python3", "-B", peer.to_str().unwrap(), "--tools", &file];
    words.map(str::to_owned)
}

fn add(openfang: &Openfang, options: &[&str], command: &[String]) -> Ran {
    let words = ["mcp", "add", "box"].iter().chain(options).copied();
    let words: Vec<&str> = words.chain(command.iter().map(String::as_str)).collect();
    ok(openfang.run(&words))
}

fn listed(openfang: &Openfang) -> Vec<String> {
    let tools = ok(openfang.run(&["tool", "list", "--json"])).json();
    let names = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned());
    names.filter(|name| name.starts_with("mcp_box_")).collect()
}

fn operator(openfang: &Openfang, daemon: &Daemon) -> Client {
    let file: Value =
        serde_json::from_str(&std::fs::read_to_string(openfang.home().join("daemon.json")).unwrap()).unwrap();
    daemon.client().bearer(file["token"].as_str().unwrap())
}

/// The answer to a call of a tool at an endpoint.
async fn call(client: &Client, path: &str, tool: &str) -> String {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    let params = json!({"name": tool, "arguments": {"text": "hello"}, "_meta": meta});
    let client = client.clone().with("mcp-protocol-version", "2026-07-28").with("mcp-method", "tools/call");
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    client.with("mcp-name", tool).post(path, &message).await.body
}

#[tokio::test]
async fn only_chosen_tools_are_listed_and_can_be_called_at_every_door() {
    let openfang = Openfang::new();
    let daemon = openfang.start();
    add(&openfang, &[], &server(&openfang, &["echo", "read_file", "read_dir", "write_file"]));
    let starts = || openfang.run(&["mcp", "show", "box", "--json"]).json()["connected"]["starts"].clone();
    let before = (starts(), std::fs::read_to_string(openfang.home().join("config.toml")).unwrap());
    let client = operator(&openfang, &daemon);
    assert!(call(&client, "/mcp/servers/box", "echo").await.contains("hello"));

    let chosen =
        ok(openfang.run(&["mcp", "tools", "box", "--only", "read_*", "--only", "write_*", "--except", "*_dir"]));

    assert!(chosen.stderr.contains("box lists only read_*, write_*; except *_dir"), "{chosen:?}");
    let rows: Vec<Vec<&str>> = chosen.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    let expected =
        [["TOOL", "LISTED"], ["echo", "no"], ["read_dir", "no"], ["read_file", "yes"], ["write_file", "yes"]];
    assert_eq!(rows, expected.map(Vec::from));
    assert_eq!(listed(&openfang), ["mcp_box_read_file", "mcp_box_write_file"]);
    let shown = ok(openfang.run(&["mcp", "show", "box"])).stdout;
    assert!(shown.contains("not listed") && shown.contains("echo, read_dir"), "{shown}");
    assert!(ok(openfang.run(&["mcp", "list"])).stdout.contains("2 of 4"));
    for (path, tool) in [("/mcp", "mcp_box_echo"), ("/mcp/servers/box", "echo")] {
        let answer = call(&client, path, tool).await;
        assert!(answer.contains("unknown tool") || answer.contains("Unknown tool"), "{path}: {answer}");
    }
    let called = client.post("/api/tools/mcp_box_echo", &json!({"arguments": {"text": "hello"}})).await;
    assert_eq!(called.status, 404, "{}", called.body);
    let typed = openfang.run(&["tool", "call", "mcp_box_echo", "text=hello"]);
    assert!(typed.code == 1 && typed.stderr.contains("no tool mcp_box_echo"), "{typed:?}");

    ok(openfang.run(&["mcp", "tools", "box", "--all"]));
    assert_eq!(listed(&openfang).len(), 4);
    assert!(call(&client, "/mcp/servers/box", "echo").await.contains("hello"));
    let after = (starts(), std::fs::read_to_string(openfang.home().join("config.toml")).unwrap());
    assert_eq!(after, before, "the server was not started again, and the file is as it was");
}

#[test]
fn a_pattern_that_matches_nothing_is_noticed_and_one_that_is_none_is_refused() {
    let openfang = Openfang::new();
    let _daemon = openfang.start();
    add(&openfang, &["--only", "read_*"], &server(&openfang, &["echo", "read_file"]));
    assert_eq!(listed(&openfang), ["mcp_box_read_file"]);

    let chosen = ok(openfang.run(&["mcp", "tools", "box", "--only", "mcp_box_echo"]));
    assert!(chosen.stderr.contains("mcp_box_echo matches no tool of box"), "{chosen:?}");

    let wrong = openfang.run(&["mcp", "tools", "box", "--only", ""]);
    assert!(wrong.code == 2 && wrong.stderr.contains("is not a pattern of tools"), "{wrong:?}");
    let unknown = openfang.run(&["mcp", "tools", "bxo"]);
    assert!(unknown.code == 1 && unknown.stderr.contains("did you mean box?"), "{unknown:?}");
}

#[test]
fn a_disabled_server_stays_in_the_file_and_nothing_of_it_is_listed_until_it_is_enabled() {
    let openfang = Openfang::new();
    let daemon = openfang.start();
    add(&openfang, &[], &server(&openfang, &["echo"]));
    assert_eq!(listed(&openfang), ["mcp_box_echo"]);

    let disabled = ok(openfang.run(&["mcp", "disable", "box"]));

    assert!(disabled.stdout.contains("box is disabled; it stays in"), "{disabled:?}");
    assert!(listed(&openfang).is_empty());
    let shown = ok(openfang.run(&["mcp", "list"])).stdout;
    assert!(shown.lines().any(|line| line.starts_with("box") && line.contains("disabled")), "{shown}");
    let tested = openfang.run(&["mcp", "test", "box"]);
    assert!(tested.code == 1 && tested.stderr.contains("openfang mcp enable NAME"), "{tested:?}");
    let gone = tokio::runtime::Runtime::new()
        .unwrap()
        .block_on(operator(&openfang, &daemon).get("/mcp/servers/box"));
    assert_eq!(gone.status, 404, "{}", gone.body);

    let enabled = ok(openfang.run(&["mcp", "enable", "box"]));
    assert!(enabled.stdout.contains("box is ready, tools: 1"), "{enabled:?}");
    assert_eq!(listed(&openfang), ["mcp_box_echo"]);
}

#[test]
fn without_a_daemon_a_choice_is_written_to_the_file() {
    let openfang = Openfang::new();
    add(&openfang, &["--except", "echo"], &server(&openfang, &["echo", "read_file"]));

    ok(openfang.run(&["mcp", "test", "box"]));
    assert_eq!(listed(&openfang), ["mcp_box_read_file"]);
    let disabled = ok(openfang.run(&["mcp", "disable", "box"]));
    assert!(disabled.stderr.contains("this takes effect at the next start"), "{disabled:?}");
    assert!(listed(&openfang).is_empty());
    ok(openfang.run(&["mcp", "enable", "box"]));
    assert_eq!(listed(&openfang), ["mcp_box_read_file"]);
}

#[test]
fn a_server_starts_in_its_working_directory() {
    let openfang = Openfang::new();
    let _daemon = openfang.start();
    let directory = openfang.scratch("projects");
    std::fs::create_dir_all(&directory).unwrap();
    let quick = PathBuf::from(QUICK).canonicalize().unwrap();
    let script = format!("pwd > where; exec sh {}", quick.display());
    let command = ["--", "sh", "-c", &script].map(str::to_owned);

    add(&openfang, &["--cwd", directory.to_str().unwrap()], &command);

    let here = directory.canonicalize().unwrap();
    assert_eq!(std::fs::read_to_string(directory.join("where")).unwrap().trim(), here.to_str().unwrap());
    assert!(ok(openfang.run(&["mcp", "show", "box"])).stdout.contains(directory.to_str().unwrap()));

    let missing = openfang.run(&["mcp", "add", "lost", "--cwd", "/nowhere/at/all", "--", "sh"]);
    assert!(missing.code == 1 && missing.stderr.contains("cwd /nowhere/at/all cannot be used"), "{missing:?}");
}

#[test]
fn new_tools_of_a_known_server_wait_for_the_review_when_they_are_to_be_held() {
    let openfang = Openfang::new();
    let _daemon = openfang.start();
    add(&openfang, &["--new-tools", "hold", "--on-change", "quarantine"], &server(&openfang, &["echo", "old", "gone"]));
    assert_eq!(listed(&openfang).len(), 3, "what a server has at first is listed");
    assert!(ok(openfang.run(&["mcp", "review"])).stderr.contains("nothing waits to be accepted"));

    let file = openfang.scratch("tools.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let text = text.replace("Does old.", "Does something else.").replace("gone", "fresh");
    std::fs::write(&file, text).unwrap();
    openfang.run(&["mcp", "restart", "box"]);

    assert_eq!(listed(&openfang), ["mcp_box_echo"]);
    let review = ok(openfang.run(&["mcp", "review"]));
    for expected in [
        "box: 1 new, 1 changed, 1 removed",
        "new: fresh",
        "changed: old",
        "-  \"description\": \"Does old.\",",
        "+  \"description\": \"Does something else.\",",
        "removed: gone",
    ] {
        assert!(review.stdout.contains(expected), "{expected}: {}", review.stdout);
    }
    assert!(review.stderr.contains("openfang mcp accept box"), "{review:?}");
    let called = openfang.run(&["tool", "call", "mcp_box_fresh"]);
    assert!(called.code == 1 && called.stderr.contains("openfang mcp review box"), "{called:?}");

    ok(openfang.run(&["mcp", "accept", "box", "fresh"]));
    assert_eq!(listed(&openfang), ["mcp_box_echo", "mcp_box_fresh"]);
    ok(openfang.run(&["mcp", "accept", "box"]));
    assert_eq!(listed(&openfang), ["mcp_box_echo", "mcp_box_fresh", "mcp_box_old"]);
    assert_eq!(ok(openfang.run(&["mcp", "review", "--json"])).json()["servers"], json!([]));
}

//! Why a tool was refused: the operator and the audit log are told, and nobody else.

use openfang_testkit::http::{Answer, Client};
use serde_json::{Value, json};

use super::Changing;
use crate::children::fixture::{PATIENCE, until};

/// A tool that is not granted, one that is quarantined, and one that does not exist.
const TOOLS: [&str; 3] = ["memory_store", "mcp_library_search", "nothing_of_this_kind"];

/// An answer without what differs in any two answers: the trace id, the time, and the name that was asked for.
fn normal(answer: &Answer, name: &str) -> (u16, Vec<(String, String)>, String) {
    let trace = answer.header("x-trace-id").unwrap().to_owned();
    let differs = |header: &str| ["date", "content-length"].contains(&header);
    let headers = answer.headers.iter().filter(|(header, _)| !differs(header));
    let headers = headers.map(|(header, value)| (header.clone(), value.replace(&trace, "TRACE")));
    (answer.status, headers.collect(), answer.body.replace(&trace, "TRACE").replace(name, "NAME"))
}

async fn told(client: &Client, (method, path): (&str, &str), name: &str) -> (u16, Vec<(String, String)>, String) {
    let body = match (method, path) {
        ("POST", "/mcp") => {
            let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
            let params = json!({"name": name, "arguments": {}, "_meta": meta});
            Some(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string())
        }
        ("POST", _) => Some(json!({"arguments": {}}).to_string()),
        _ => None,
    };
    let client = client.clone().with("mcp-protocol-version", "2026-07-28");
    let client = client.with("mcp-method", "tools/call").with("mcp-name", name);
    normal(&client.send(method, &path.replace("{}", name), body.as_deref()).await, name)
}

fn reasons(changing: &Changing, filter: &[&str]) -> Vec<String> {
    let tail = changing.ok(&[&["audit", "tail", "--json", "--kind", "call"][..], filter].concat());
    let reason = |line: &str| {
        let entry: Value = serde_json::from_str(line).unwrap();
        entry["row"]["outcome"]["refused"].as_str().unwrap().to_owned()
    };
    tail.lines().map(reason).collect()
}

/// Nobody waits for the row of a refusal, so the next command can run before its commit.
async fn are_logged(changing: &Changing, owner: &str, expected: &[&str]) {
    let looked = || Some(reasons(changing, &["--owner", owner])).filter(|seen| seen != expected);
    until(PATIENCE, || looked().map_or(Ok(()), Err)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_without_the_right_sees_one_and_the_same_unknown_and_the_log_says_why() {
    let changing = Changing::new();
    for agent in ["calc", "vault"] {
        let manifest = format!(
            "name = \"{agent}\"\ndescription = \"\"\n[model]\nprovider = \"direct\"\n[capabilities]\ntools = [\"*\"]\n"
        );
        changing.0.write(&format!("agents/{agent}/agent.toml"), &manifest);
    }
    let daemon = changing.0.start();
    changing.add_and_change();
    changing.ok(&["user", "add", "eve", "--grant", "agent:calc", "--grant", "mcp_library_*", "-q"]);
    let eve = daemon.client().bearer(changing.ok(&["key", "create", "eve", "-q"]).trim());

    let ways = [
        ("POST", "/api/tools/{}"),
        ("GET", "/api/tools/{}"),
        ("GET", "/api/policy/calc/{}"),
        ("GET", "/api/policy/vault/{}"),
        ("GET", "/api/policy/none/{}"),
        ("POST", "/mcp"),
    ];
    for way in ways {
        let [not_granted, quarantined, absent] = TOOLS;
        let expected = told(&eve, way, absent).await;
        assert!(expected.0 == 404 || way.1 == "/mcp", "{expected:?}");
        assert_eq!(told(&eve, way, not_granted).await, expected, "{way:?}");
        assert_eq!(told(&eve, way, quarantined).await, expected, "{way:?}");
    }
    for way in [("GET", "/api/agents/{}"), ("GET", "/api/policy/{}/add_numbers")] {
        assert_eq!(told(&eve, way, "vault").await, told(&eve, way, "none").await, "{way:?}");
    }

    let expected = ["unknown_tool", "not_granted", "quarantined"];
    are_logged(&changing, "eve", &[expected, expected].concat()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_is_told_why_a_tool_was_refused_and_what_to_do_next() {
    let changing = Changing::new();
    let manifest = "name = \"calc\"\ndescription = \"\"\n[model]\nprovider = \"direct\"\n[capabilities]\ntools = [\"add_*\", \"mcp_library_*\"]\n";
    changing.0.write("agents/calc/agent.toml", manifest);
    let _daemon = changing.0.start();
    changing.add_and_change();
    let refused = |arguments: &[&str]| {
        let ran = changing.0.run(arguments);
        assert_eq!(ran.code, 1, "{ran:?}");
        ran.stderr
    };

    let not_granted = refused(&["agent", "send", "calc", "/memory_store {}"]);
    assert!(not_granted.contains("the agent calc may not call memory_store"), "{not_granted}");
    assert!(not_granted.contains("`openfang policy explain calc memory_store`"), "{not_granted}");
    let explained = changing.0.run(&["policy", "explain", "calc", "memory_store"]);
    assert_eq!(explained.code, 1, "{explained:?}");
    assert!(explained.stdout.contains("granted") && explained.stdout.contains("no"), "{explained:?}");

    let quarantined = refused(&["agent", "send", "calc", "/mcp_library_search {}"]);
    assert!(quarantined.contains("`openfang policy explain calc mcp_library_search`"), "{quarantined}");
    let quarantined = refused(&["tool", "call", "mcp_library_search", "--args", "{}"]);
    assert!(quarantined.contains("mcp_library_search is quarantined"), "{quarantined}");
    assert!(quarantined.contains("`openfang mcp accept library`"), "{quarantined}");
    let code = refused(&["tool", "call", "mcp_library_search", "--args", "{}", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&code).unwrap()["error"]["code"], "quarantined");
    let explained = changing.0.run(&["policy", "explain", "calc", "mcp_library_search"]);
    assert!(explained.stdout.contains("quarantined"), "{explained:?}");
    assert!(explained.stderr.contains("`openfang mcp accept library`"), "{explained:?}");

    let absent = refused(&["agent", "send", "calc", "/nothing_here {}"]);
    assert!(absent.contains("there is no tool nothing_here"), "{absent}");

    let expected = ["not_granted", "quarantined", "quarantined", "quarantined", "unknown_tool"];
    are_logged(&changing, "admin", &expected).await;
    let row = changing.ok(&["audit", "tail", "--json", "--outcome", "not_granted"]);
    let n = serde_json::from_str::<Value>(&row).unwrap()["n"].to_string();
    assert!(changing.ok(&["audit", "show", &n]).contains("openfang policy explain calc memory_store"));
    changing.ok(&["mcp", "accept", "library"]);
    assert!(!changing.ok(&["policy", "explain", "calc", "mcp_library_search"]).contains("quarantined"));
}

//! A server that repeats what it was given in everything it says: nobody sees it, whichever way they look.

use openfang_testkit::{TestHome, callers};
use openfang_types::config::{Config, EnvEntry, McpServerConfigEntry};
use serde_json::{Value, json};

use super::fixture::{House, PATIENCE, odd, program, script};

/// With everything that JSON writes in another way.
const SECRET: &str = "can\"ary/tok\\en\u{e9}4711";
const META: &str = "io.modelcontextprotocol";

fn talkative() -> McpServerConfigEntry {
    let command = ["/usr/bin/python3", "-B", &script("talkative.py")].map(str::to_owned);
    let env = vec![EnvEntry::new(format!("A_TOKEN={SECRET}"))];
    McpServerConfigEntry { env, interactive: true, ..program("talkative", &command) }
}

async fn house() -> House {
    let home = TestHome::new().with_direct("hand", &["mcp_*"]);
    let house = House::on(home, [talkative()]).await;
    house.ready("talkative").await;
    house
}

/// What somebody who knows JSON and base64 can read in there.
fn is_clean(seen: &str) -> bool {
    let texts = [seen.to_owned(), seen.replace("\\\\", "\\").replace("\\\"", "\"")];
    texts
        .iter()
        .all(|text| !text.contains("4711") && !text.contains("NDcxM") && !text.contains("ary/"))
}

/// The whole answer to a request in the newest revision, from a client that can be asked and wants to hear everything.
async fn asked(house: &House, path: &str, method: &str, mut params: Value) -> String {
    params["_meta"][format!("{META}/protocolVersion")] = json!("2026-07-28");
    params["_meta"][format!("{META}/clientCapabilities")] = json!({"elicitation": {"form": {}}, "sampling": {}});
    params["_meta"][format!("{META}/logLevel")] = json!("debug");
    params["_meta"]["progressToken"] = json!("p");
    let client = house
        .server
        .client()
        .with("mcp-protocol-version", "2026-07-28")
        .with("mcp-method", method);
    let name = params["name"].as_str().or_else(|| params["uri"].as_str());
    let client = name.map_or_else(|| client.clone(), |name| client.clone().with("mcp-name", name));
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    tokio::time::timeout(PATIENCE, client.post(path, &message)).await.unwrap().body
}

#[tokio::test]
async fn what_a_server_was_given_is_seen_by_no_client_of_it() {
    let house = house().await;
    let at = "/mcp/servers/talkative";
    let completed = json!({"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}});
    let mut completed_here = completed.clone();
    completed_here["ref"]["name"] = json!("mcp_talkative_p");

    for (path, method, params) in [
        (at, "server/discover", json!({})),
        (at, "tools/list", json!({})),
        ("/mcp", "tools/list", json!({})),
        (at, "prompts/list", json!({})),
        (at, "prompts/get", json!({"name": "p"})),
        (at, "resources/list", json!({})),
        (at, "resources/templates/list", json!({})),
        (at, "resources/read", json!({"uri": "a://b"})),
        (at, "completion/complete", completed),
        (at, "tools/call", json!({"name": "tell", "arguments": {}})),
        (at, "tools/call", json!({"name": "fail", "arguments": {}})),
        (at, "tools/call", json!({"name": "ask", "arguments": {}})),
        (at, "tools/call", json!({"name": "sample", "arguments": {}})),
        ("/mcp", "tools/call", json!({"name": "mcp_talkative_tell", "arguments": {}})),
        ("/mcp", "tools/call", json!({"name": "mcp_talkative_fail", "arguments": {}})),
        ("/mcp", "prompts/list", json!({})),
        ("/mcp", "prompts/get", json!({"name": "mcp_talkative_p"})),
        ("/mcp", "resources/list", json!({})),
        ("/mcp", "resources/templates/list", json!({})),
        ("/mcp", "resources/read", json!({"uri": "a://b"})),
        ("/mcp", "completion/complete", completed_here),
    ] {
        let seen = asked(&house, path, method, params).await;
        assert!(is_clean(&seen), "{method} at {path}: {seen}");
        assert!(seen.contains("[redacted]"), "{method} at {path}: {seen}");
    }
    let told = asked(&house, at, "tools/call", json!({"name": "tell", "arguments": {}})).await;
    for kind in ["notifications/progress", "notifications/message", "structuredContent", "image/png"] {
        assert!(told.contains(kind), "{kind}: {told}");
    }
    house.close().await;
}

#[tokio::test]
async fn what_a_server_was_given_is_not_shown_to_whoever_manages_it_nor_on_a_card_nor_kept() {
    let house = house().await;
    house.says("mcp_talkative_tell", json!({})).await;

    let shown = json!(house.status("talkative")).to_string();
    assert!(is_clean(&shown) && shown.contains("[redacted]"), "{shown}");
    let log = house.log("talkative").join("\n");
    assert!(is_clean(&log) && log.contains("as it is: [redacted]"), "{log}");
    for path in ["/.well-known/agent-card.json", "/a2a/agents/hand/.well-known/agent-card.json", "/api/tools"] {
        let seen = house.server.client().get(path).await.body;
        assert!(is_clean(&seen), "{path}: {seen}");
    }
    let home = house.close().await;
    let kept = std::fs::read_to_string(home.path().join("data/mcp/talkative.json")).unwrap();
    assert!(is_clean(&kept) && kept.contains("[redacted]"), "{kept}");
}

#[tokio::test]
async fn what_was_kept_before_a_secret_was_known_is_shown_without_it() {
    let mut entry = odd("before", &[]);
    entry.env = vec![EnvEntry::new(format!("A_TOKEN={SECRET}"))];
    let house = House::with([entry.clone()]).await;
    house.ready("before").await;
    let home = house.close().await;
    let file = home.path().join("data/mcp/before.json");
    let kept = std::fs::read_to_string(&file).unwrap();
    let old = json!(format!("Gives {SECRET} back.")).to_string();
    std::fs::write(&file, kept.replace("\"Gives the text back.\"", &old)).unwrap();

    // Nobody connects to it: what is shown is what was kept.
    let kernel = home.boot_with(Config { mcp_servers: vec![entry], ..Config::default() }).start().unwrap();
    let shown = json!(kernel.mcp_servers(&callers::operator(&kernel)).unwrap()).to_string();
    assert!(is_clean(&shown) && shown.contains("Gives [redacted] back."), "{shown}");
}

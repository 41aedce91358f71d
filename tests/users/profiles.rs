//! Keys with a profile: they narrow on every interface, stay narrow after a crash, and end at their time.

use openfang_testkit::http::Client;
use serde_json::json;

use crate::support::binary::{Daemon, Openfang, Ran};

const PROFILES: &str = "[a2a]\nenabled = true\n[profiles.work]\ntools = [\"get_greeting\"]\nagents = [\"player\"]\n";
const SCRIPT: &str = r#"
    [[rules]]
    steps = [{ chunk = "one" }, { delay_ms = 1500 }, { tool = { name = "add_numbers", arguments = { a = 1, b = 2 } } }]
"#;

fn home() -> Openfang {
    let openfang = Openfang::new();
    let agent =
        "name = \"player\"\ndescription = \"d\"\n[model]\nprovider = \"script\"\n[capabilities]\ntools = [\"*\"]";
    openfang.write("agents/player/agent.toml", agent);
    openfang.write("agents/player/script.toml", SCRIPT);
    openfang
        .write("agents/starter/agent.toml", &agent.replace("player", "starter").replace("\"script\"", "\"direct\""));
    openfang.write("config.toml", PROFILES);
    openfang
}

fn ok(ran: Ran) -> Ran {
    assert_eq!(ran.code, 0, "{ran:?}");
    ran
}

fn with_key(openfang: &Openfang, daemon: &Daemon, options: &[&str]) -> Client {
    let words: Vec<&str> = ["key", "create", "ada"].iter().chain(options).copied().collect();
    daemon.client().bearer(ok(openfang.run(&words)).stdout.trim())
}

#[tokio::test]
async fn a_key_with_a_profile_is_narrow_on_every_interface() {
    let openfang = home();
    let daemon = openfang.start();
    ok(openfang.run(&[
        "user",
        "add",
        "ada",
        "--grant",
        "*",
        "--grant",
        "agent:player/*",
        "--grant",
        "agent:starter/*",
    ]));
    let (wide, narrow) = (with_key(&openfang, &daemon, &[]), with_key(&openfang, &daemon, &["--profile", "work"]));
    let sum = json!({"arguments": {"a": 1, "b": 2}});

    assert_eq!(wide.post("/api/tools/add_numbers", &sum).await.status, 200);
    let refused = narrow.post("/api/tools/add_numbers", &sum).await;
    assert_eq!(refused.status, 404, "{refused:?}");
    assert!(refused.body.contains("there is no tool add_numbers in the profile work"), "{refused:?}");
    let unknown = narrow.post("/api/tools/nothing_at_all", &sum).await;
    assert_eq!(unknown.status, 404, "{unknown:?}");
    assert!(unknown.body.contains("there is no tool nothing_at_all in the profile work"), "{unknown:?}");
    assert_eq!(narrow.get("/api/tools").await.json()["tools"].as_array().unwrap().len(), 1);
    assert_eq!(narrow.get("/api/agents/starter").await.status, 404);
    let agents = narrow.get("/a2a/agents").await.body;
    assert!(agents.contains("player") && !agents.contains("starter"), "{agents}");
    let listed = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}});
    let mcp = narrow.clone().with("mcp-protocol-version", "2026-07-28").with("mcp-method", "tools/list");
    let tools = mcp.post("/mcp", &listed).await.body;
    assert!(tools.contains("get_greeting") && !tools.contains("add_numbers"), "{tools}");

    let table = ok(openfang.run(&["key", "list"])).stdout;
    assert!(table.contains("active") && table.contains("work") && table.contains("by endpoint"), "{table}");
    // A profile that is gone leaves nothing, rather than everything.
    openfang.write("config.toml", "[a2a]\nenabled = true\n");
    ok(openfang.run(&["reload"]));
    assert_eq!(narrow.get("/api/tools").await.json()["tools"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_is_resumed_after_a_crash_keeps_the_profile_of_its_key() {
    let openfang = home();
    let mut daemon = openfang.start();
    ok(openfang.run(&["user", "add", "ada", "--grant", "agent:player/*"]));
    let key = ok(openfang.run(&["key", "create", "ada", "--profile", "work"])).stdout.trim().to_owned();
    let client = daemon.client().bearer(&key);
    let body = json!({"text": "go", "returnImmediately": true});
    let id = client.post("/api/agents/player/message", &body).await.json()["task"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/api/tasks/{id}");
    while client.get(&path).await.json()["task"]["artifacts"][0]["parts"][0]["text"] != "one" {
        tokio::task::yield_now().await;
    }

    daemon.signal("KILL");
    daemon.wait();
    let daemon = openfang.start();

    let client = daemon.client().bearer(&key);
    let ended = loop {
        let task = client.get(&path).await.json()["task"].clone();
        if ["completed", "failed"].iter().any(|state| task["status"]["state"] == *state) {
            break task;
        }
        tokio::task::yield_now().await;
    };
    assert!(ended.to_string().contains("add_numbers-error"), "{ended}");
    assert!(ended.to_string().contains("in the profile work"), "{ended}");
}

#[test]
fn keys_have_a_profile_that_exists_and_a_time_that_is_told() {
    let openfang = home();
    ok(openfang.run(&["user", "add", "ada", "--grant", "*"]));

    let mistyped = openfang.run(&["key", "create", "ada", "--profile", "wrok"]);
    let expiring = ok(openfang.run(&["key", "create", "ada", "--expires", "90d", "--json"])).json();
    let lasting = ok(openfang.run(&["key", "create", "ada"]));
    let wrong = openfang.run(&["key", "create", "ada", "--expires", "soon"]);

    assert_eq!(mistyped.code, 1, "{mistyped:?}");
    assert!(mistyped.stderr.contains("there is no profile wrok (did you mean work?)"), "{mistyped:?}");
    assert!(expiring["details"]["expiresAt"].is_string(), "{expiring}");
    assert!(lasting.stderr.contains("it does not expire"), "{lasting:?}");
    assert_eq!(wrong.code, 2, "{wrong:?}");
}

#[test]
fn names_in_profiles_that_match_nothing_are_told() {
    let openfang = home();
    openfang.write("config.toml", "[profiles.work]\nservers = [\"fles\"]\ntools = [\"get_greting\"]\n");

    let checked = ok(openfang.run(&["config", "check"]));
    let doctor = openfang.run(&["doctor", "--offline"]);

    for said in [&checked.stderr, &doctor.stdout] {
        assert!(said.contains("profiles.work.servers: there is no MCP server fles"), "{said}");
        assert!(said.contains("profiles.work.tools: get_greting matches no known tool"), "{said}");
    }
}

//! What a pattern covers of which server, for users and for agents.

use openfang_kernel::users::{KeyWanted, UserWanted};
use openfang_testkit::TestHome;
use openfang_types::config::McpServerConfigEntry;
use serde_json::{Value, json};

use super::fixture::{House, odd};
use crate::support::{artifact_names, call, send};

/// A server with these tools and a resource.
fn with_tools(home: &TestHome, name: &str, tools: &[&str]) -> McpServerConfigEntry {
    let tools: Vec<Value> = tools
        .iter()
        .map(|tool| json!({"name": tool, "inputSchema": {"type": "object"}}))
        .collect();
    let file = format!("{name}.json");
    home.write(&file, &Value::from(tools).to_string());
    odd(name, &["--resources", "--tools", home.path().join(file).to_str().unwrap()])
}

/// Servers whose names begin alike, each with tools whose names read like another's.
async fn alike() -> House {
    let home = TestHome::new()
        .with_direct("narrow", &["mcp_a_*"])
        .with_direct("nested", &["mcp_a_b_*"])
        .with_direct("whole", &["server:a_b"])
        .with_direct("all", &["mcp_*"]);
    let a = with_tools(&home, "a", &["echo", "b_run"]);
    let a_b = with_tools(&home, "a_b", &["echo", "resources_read"]);
    let house = House::on(home, [a, a_b]).await;
    house.ready("a").await;
    house.ready("a_b").await;
    house
}

/// The tools of a list that somebody with these grants may call.
async fn usable(house: &House, grants: &[&str]) -> Vec<&'static str> {
    let ada = openfang_testkit::callers::user(house.kernel(), "ada", grants);
    let mut usable = Vec::new();
    for tool in ["mcp_a_echo", "mcp_a_b_run", "mcp_a_b_echo", "mcp_a_b_resources_read"] {
        if call(house.kernel(), &ada, tool, json!({})).await.is_ok() {
            usable.push(tool);
        }
    }
    usable
}

#[tokio::test]
async fn a_grant_stays_within_the_server_that_it_names() {
    let house = alike().await;
    let all = ["mcp_a_echo", "mcp_a_b_run", "mcp_a_b_echo", "mcp_a_b_resources_read"];
    let rows: [(&[&str], &[&str]); 8] = [
        (&["mcp_a_*"], &["mcp_a_echo", "mcp_a_b_run"]),
        (&["mcp_a_b_*"], &["mcp_a_b_echo", "mcp_a_b_resources_read"]),
        (&["server:a"], &["mcp_a_echo", "mcp_a_b_run"]),
        (&["server:a_b"], &["mcp_a_b_echo", "mcp_a_b_resources_read"]),
        (&["mcp_a_b_run"], &[]),
        (&["mcp_a*"], &[]),
        (&["mcp_*"], &all),
        (&["*"], &all),
    ];

    for (grants, expected) in rows {
        assert_eq!(usable(&house, grants).await, expected, "{grants:?}");
    }
}

#[tokio::test]
async fn an_agent_stays_within_the_server_that_its_pattern_names_and_the_policy_says_so() {
    let house = alike().await;
    let rows = [
        ("narrow", "mcp_a_b_run", true),
        ("narrow", "mcp_a_b_echo", false),
        ("nested", "mcp_a_b_run", false),
        ("nested", "mcp_a_b_echo", true),
        ("whole", "mcp_a_b_echo", true),
        ("whole", "mcp_a_echo", false),
        ("all", "mcp_a_b_run", true),
    ];

    for (agent, tool, expected) in rows {
        let task = send(house.kernel(), &house.operator(), agent, &format!("/{tool} {{}}")).await;
        let was_called = artifact_names(&task) == [format!("{tool}-result")];
        let (agent_name, tool_name) = (agent.parse().unwrap(), tool.parse().unwrap());
        let explained = house.kernel().explain(&house.operator(), &agent_name, &tool_name).unwrap();

        assert_eq!(was_called, expected, "{agent}: {tool}: {task:?}");
        assert_eq!(explained.granted, expected, "{agent}: {tool}");
    }
}

/// The other patterns name servers that were not granted.
#[tokio::test]
async fn a_user_is_told_the_pattern_that_applies_and_none_of_another_server() {
    let home = TestHome::new().with_direct("mixed", &["mcp_a_*", "mcp_a_b_*", "server:a_b", "mcp_a_b_r*"]);
    let a = with_tools(&home, "a", &["echo", "b_run"]);
    let a_b = with_tools(&home, "a_b", &["echo", "resources_read"]);
    let house = House::on(home, [a, a_b]).await;
    house.ready("a").await;
    house.ready("a_b").await;
    let ada = openfang_testkit::callers::user(house.kernel(), "ada", &["agent:mixed/*"]);
    let rows: [(&str, &[&str]); 3] =
        [("mcp_a_b_run", &["mcp_a_*"]), ("mcp_a_echo", &["mcp_a_*"]), ("mcp_a_b_echo", &["mcp_a_b_*", "server:a_b"])];

    for (tool, expected) in rows {
        let explained = house.kernel().explain(&ada, &"mixed".parse().unwrap(), &tool.parse().unwrap()).unwrap();
        assert_eq!(explained.patterns, expected, "{tool}");
    }
}

/// What is read from a server has a name for the guards, and a tool may be called the same.
#[tokio::test]
async fn a_tool_with_the_name_of_a_guard_grants_nothing_but_itself() {
    let house = alike().await;
    let rows =
        [("mcp_a_b_resources_read", false), ("mcp_a_b_resources_*", false), ("mcp_a_*", false), ("mcp_a_b_*", true)];

    for (number, (grant, expected)) in rows.into_iter().enumerate() {
        let client = house.server.client().bearer(&key_with(&house, &format!("ada{number}"), grant).await);
        let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
        let begun = client.post("/mcp/servers/a_b", &initialize).await;
        let session = begun.header("mcp-session-id").map(str::to_owned);
        let client = client.with("mcp-protocol-version", "2025-06-18");
        let client = session.map_or_else(|| client.clone(), |session| client.clone().with("mcp-session-id", &session));
        let read = json!({"jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": {"uri": "test://one"}});

        let answer = client.post("/mcp/servers/a_b", &read).await;

        assert_eq!(answer.body.contains("what is in it"), expected, "{grant}: {begun:?} {answer:?}");
    }
}

async fn key_with(house: &House, user: &str, grant: &str) -> String {
    let (kernel, operator) = (house.kernel(), house.operator());
    let name: openfang_types::ids::Owner = user.parse().unwrap();
    let wanted = UserWanted { name: name.clone(), grants: vec![grant.to_owned()], password: None, again: false };
    kernel.add_user(&operator, wanted).await.unwrap();
    let wanted = KeyWanted { user: name, label: "test".to_owned(), entry_label: None, profile: None, expires_at: None };
    kernel.create_user_key(&operator, wanted).await.unwrap().key.expose().to_owned()
}

//! Servers that list what nobody can use: without end, too much, too deep, under names that deceive.

use std::time::Duration;

use openfang_kernel::mcp_control::McpServerView;
use openfang_types::config::McpServerConfigEntry;
use openfang_types::mcp_status::McpServerState;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::fixture::{House, odd};

/// A server that lists these, and the file it reads them from.
fn listing(name: &str, tools: &Value) -> (tempfile::TempDir, McpServerConfigEntry) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("tools.json");
    std::fs::write(&file, tools.to_string()).unwrap();
    let entry = odd(name, &["--tools", file.to_str().unwrap()]);
    (directory, entry)
}

fn tool(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

fn with_schema(name: &str, schema: Value) -> Value {
    json!({"name": name, "inputSchema": schema})
}

/// Why a tool was left out.
#[track_caller]
fn why<'a>(status: &'a McpServerView, name: &str) -> &'a str {
    let left = status.left_out.iter().find(|left| left.name == name);
    &left.unwrap_or_else(|| panic!("{name} is not left out: {:?}", status.left_out)).why
}

/// MCC-01.
#[tokio::test]
async fn a_list_that_never_ends_is_cut_and_the_rest_is_usable() {
    for (pages, why) in [("endless", "more than 1000 pages"), ("circle", "the same cursor came twice")] {
        let house = House::beside(odd("turning", &["--pages", pages])).await;

        let status = house.ready("turning").await;

        assert_eq!(status.state, McpServerState::Degraded);
        assert!(status.reason.as_ref().unwrap().contains(why), "{:?}", status.reason);
        assert_eq!(house.says("mcp_turning_tool_1", json!({"text": "hello"})).await, "hello");
        house.neighbour_works().await;
        house.close().await;
    }
}

/// MCC-02.
#[tokio::test]
async fn fifty_thousand_tools_are_ten_thousand() {
    let tools: Vec<Value> = (0..50_000).map(|number| tool(&format!("t{number}"))).collect();
    let (_directory, entry) = listing("many", &json!(tools));
    let house = House::beside(entry).await;
    house.neighbour_works().await;

    let status = house.ready("many").await;

    assert_eq!((status.state, status.tools.len()), (McpServerState::Degraded, 10_000));
    assert!(status.reason.as_ref().unwrap().contains("more than 10000"), "{:?}", status.reason);
    assert_eq!(house.says("mcp_many_t9999", json!({"text": "the last one"})).await, "the last one");
    assert!(house.says("mcp_many_t10000", json!({})).await.starts_with('!'));
    house.neighbour_works().await;
    house.close().await;
}

/// MCC-02.
#[tokio::test]
async fn what_is_too_large_is_left_out_and_the_others_are_usable() {
    let branches: Vec<Value> = (0..1_000_000).map(|_| json!({})).collect();
    let few: Vec<Value> = (0..2_500).map(|_| json!({})).collect();
    let deep = (0..60).fold(json!({"type": "string"}), |inner, _| json!({"type": "array", "items": inner}));
    let tools = json!([
        {"name": "long", "description": "x".repeat(4 * 1024 * 1024), "inputSchema": {"type": "object"}},
        with_schema("wide", json!({"anyOf": branches})),
        with_schema("branched", json!({"anyOf": few})),
        with_schema("deep", json!({"type": "object", "properties": {"a": deep}})),
        {"name": "none"},
        {"name": "text", "inputSchema": "a text"},
        {"description": "has no name"},
        tool("good"),
        tool("good"),
        7,
    ]);
    let (_directory, entry) = listing("large", &tools);
    let house = House::beside(entry).await;

    let status = house.ready("large").await;

    assert_eq!(status.state, McpServerState::Degraded);
    assert!(why(&status, "long").contains("description"));
    assert!(why(&status, "wide").contains("larger"));
    assert!(why(&status, "branched").contains("subschemas"));
    assert!(why(&status, "deep").contains("nested"));
    assert!(why(&status, "good").contains("twice"));
    assert_eq!(status.left_out.len(), 9);
    assert_eq!(house.names_at("/mcp/servers/large").await, ["good"]);
    assert_eq!(house.says("mcp_large_good", json!({"text": "hello"})).await, "hello");
    house.neighbour_works().await;
    house.close().await;
}

/// MCC-02: one tool that is larger than any message of ours costs itself.
#[tokio::test]
async fn a_tool_of_eleven_megabytes_is_left_out_and_the_others_stay() {
    let long = json!({"name": "long", "description": "x".repeat(11 * 1024 * 1024), "inputSchema": {}});
    let (_directory, entry) = listing("huge", &json!([long, tool("good")]));
    let house = House::beside(entry).await;

    let status = house.ready("huge").await;

    assert!(why(&status, "long").contains("description"));
    assert_eq!(house.names_at("/mcp/servers/huge").await, ["good"]);
    house.neighbour_works().await;
    house.close().await;
}

/// A page beyond the largest message says so at once, rather than never coming.
#[tokio::test]
async fn a_list_that_is_larger_than_a_message_fails_its_server_with_the_reason() {
    let tools = json!([{"name": "long", "description": "x".repeat(33 * 1024 * 1024), "inputSchema": {}}]);
    let (_directory, entry) = listing("huge", &tools);
    let house = House::beside(entry).await;

    let status = house.failed("huge").await;

    assert!(status.reason.as_ref().unwrap().contains("larger than 24 MiB"), "{:?}", status.reason);
    house.neighbour_works().await;
    house.close().await;
}

/// MCC-03: nothing is fetched and nothing is read, whatever a schema points to.
#[tokio::test]
async fn a_schema_that_points_elsewhere_is_left_out_and_nobody_looks_there() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let trap = format!("http://{}/schema.json", listener.local_addr().unwrap());
    let object = |value: Value| json!({"type": "object", "properties": {"a": value}});
    let tools = json!([
        with_schema("web", object(json!({"$ref": trap}))),
        with_schema("metadata", object(json!({"$ref": "http://169.254.169.254/latest"}))),
        with_schema("file", object(json!({"$ref": "file:///etc/passwd"}))),
        with_schema("relative", object(json!({"$ref": "other.json"}))),
        with_schema("dynamic", object(json!({"$dynamicRef": trap}))),
        with_schema("circle", json!({"type": "object", "$ref": "#"})),
        with_schema("based", json!({"$id": trap, "type": "object", "properties": {"a": {"$ref": "#/$defs/x"}}})),
        with_schema("dialect", json!({"$schema": trap, "type": "object"})),
        {"name": "result", "inputSchema": {"type": "object"}, "outputSchema": {"$ref": trap}},
        with_schema("tree", json!({"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}})),
    ]);
    let (_directory, entry) = listing("pointing", &tools);
    let house = House::beside(entry).await;

    let status = house.ready("pointing").await;

    for name in ["web", "metadata", "file", "relative", "dynamic", "result"] {
        assert!(why(&status, name).contains("outside"), "{name}");
    }
    assert!(why(&status, "circle").contains("itself"));
    let tree = json!({"children": [{"children": [{}]}]});
    assert_eq!(house.says("mcp_pointing_tree", tree).await, "");
    assert!(
        house
            .says("mcp_pointing_tree", json!({"children": [{"children": 1}]}))
            .await
            .starts_with('!')
    );
    // Whatever becomes of these two, it is no fetch.
    for listed in ["based", "dialect"] {
        let _ = house.says(&format!("mcp_pointing_{listed}"), json!({"a": 1})).await;
    }
    let nobody = tokio::time::timeout(Duration::ZERO, listener.accept()).await;
    assert!(nobody.is_err(), "somebody came");
    house.neighbour_works().await;
    house.close().await;
}

/// MCC-04.
#[tokio::test]
async fn a_pattern_that_explodes_elsewhere_costs_nothing_here() {
    let pattern = |pattern: &str| json!({"type": "object", "properties": {"text": {"type": "string", "pattern": pattern}}, "required": ["text"]});
    let tools = json!([
        with_schema("plus", pattern("^(a+)+$")),
        with_schema("star", pattern("^(a*)*b$")),
        with_schema("either", pattern("^(a|aa)+$")),
        with_schema("large", pattern("^((((a{1,100}){1,100}){1,100}){1,100})$")),
        with_schema("behind", pattern("(?<=a)b")),
    ]);
    let (_directory, entry) = listing("regular", &tools);
    let house = House::beside(entry).await;
    house.ready("regular").await;
    let text = format!("{}!", "a".repeat(50_000));
    for name in ["plus", "star", "either", "large", "behind"] {
        let listed = format!("mcp_regular_{name}");
        // Compiled once.
        let _ = house.says(&listed, json!({"text": "a"})).await;
        let begun = Instant::now();

        let said = house.says(&listed, json!({ "text": text })).await;

        assert!(said.starts_with('!'), "{name}");
        assert!(begun.elapsed() < Duration::from_secs(2), "{name} took {:?}", begun.elapsed());
    }
    assert_eq!(house.says("mcp_regular_plus", json!({"text": "aaa"})).await, "aaa");
    house.neighbour_works().await;
    house.close().await;
}

/// MCC-05.
#[tokio::test]
async fn names_that_deceive_are_left_out_and_shown_escaped() {
    let names = [
        "she\u{406}l_exec",
        "file\u{200b}_read",
        "a\u{202e}b",
        "e\u{301}cho",
        "\u{1b}[31mred",
        "two\nlines",
        "a  b",
        "",
        "tab\tbed",
        "nul\0l",
        "\u{ff45}cho",
        "x\u{e0041}y",
    ];
    let long = "n".repeat(300);
    let bad = names.iter().copied().chain([long.as_str()]);
    let tools: Vec<Value> = bad.chain(["echo", "file_read"]).map(tool).collect();
    let (_directory, entry) = listing("masked", &json!(tools));
    let house = House::beside(entry).await;

    let status = house.ready("masked").await;

    assert_eq!(status.left_out.len(), names.len() + 1, "{:?}", status.left_out);
    for left in &status.left_out {
        assert!(left.name.chars().all(|c| c.is_ascii_graphic() || c == ' ') && left.name.len() < 1_024, "{left:?}");
    }
    let reason = status.reason.unwrap();
    assert!(reason.chars().all(|c| c.is_ascii_graphic() || c == ' '), "{reason:?}");
    for line in house.log("masked") {
        assert!(!line.contains(['\u{1b}', '\n', '\u{202e}']), "{line:?}");
    }
    // A name of the house stays the house's.
    let listed: Vec<String> = status.tools.iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(listed, ["mcp_masked_echo", "mcp_masked_file_read"]);
    let tools = house.kernel().available_tools(&house.operator(), None).unwrap();
    assert!(
        tools
            .iter()
            .filter(|tool| tool.name.as_str() == "file_read")
            .all(|tool| tool.origin.server().is_none())
    );
    house.neighbour_works().await;
    house.close().await;
}

#[tokio::test]
async fn a_name_and_instructions_without_end_are_cut() {
    let house = House::beside(odd("boasting", &["--identity", "1000000"])).await;

    let status = house.ready("boasting").await;

    assert!(status.server.as_ref().unwrap().len() < 2_048, "{} bytes", status.server.unwrap().len());
    let said = house.ask("/mcp/servers/boasting", "server/discover", json!({})).await.to_string();
    assert!(said.len() < 128 * 1024, "{} bytes", said.len());
    house.neighbour_works().await;
    house.close().await;
}

//! `[[mcp_servers]]` as people write it.

use crate::config::Config;

fn config(text: &str) -> Config {
    toml::from_str(text).unwrap()
}

#[test]
fn the_example_of_the_documentation_is_taken_as_it_stands() {
    let text = r#"
        [[mcp_servers]]
        name = "github"
        timeout_secs = 30
        env = ["GITHUB_PERSONAL_ACCESS_TOKEN"]

        [mcp_servers.transport]
        type = "stdio"
        command = "npx"
        args = ["-y", "@modelcontextprotocol/server-github"]
    "#;
    let config = config(text);
    assert!(config.problems().is_empty());
    let server = &config.mcp_servers[0];
    assert_eq!((server.name.as_str(), server.timeout_secs), ("github", 30));
    assert_eq!(server.startup_timeout_secs, 60);
    let shown = serde_json::to_value(server).unwrap();
    assert_eq!(shown["transport"]["type"], "stdio");
    assert_eq!(shown["env"][0], "GITHUB_PERSONAL_ACCESS_TOKEN");
}

#[test]
fn values_of_variables_and_headers_are_never_shown() {
    let text = r#"
        [[mcp_servers]]
        name = "a"
        env = ["TOKEN=canary-1"]
        transport = { type = "stdio", command = "x" }
        [[mcp_servers]]
        name = "b"
        transport = { type = "http", url = "https://b.example", headers = { Authorization = "Bearer canary-2" } }
    "#;
    let config = config(text);
    let shown = format!("{:?} {}", config.mcp_servers, serde_json::to_string(&config.mcp_servers).unwrap());
    assert!(!shown.contains("canary"), "{shown}");
    assert!(shown.contains("TOKEN=[redacted]"));
}

#[test]
fn what_cannot_be_meant_is_named_with_its_place() {
    let text = r#"
        [[mcp_servers]]
        name = "a"
        env = ["*"]
        transport = { type = "stdio", command = " " }
        [[mcp_servers]]
        name = "a"
        timeout_secs = 0
        cwd = "/srv"
        transport = { type = "sse", url = "ftp://x" }
        [[mcp_servers]]
        name = "b"
        cwd = "src"
        transport = { type = "stdio", command = "x" }
        [[mcp_servers]]
        name = "c"
        cwd = "${HOME}/src"
        transport = { type = "stdio", command = "x" }
    "#;
    let problems = config(text).problems();
    let keys: Vec<&str> = problems.iter().map(|problem| problem.key.as_str()).collect();
    let expected = [
        "mcp_servers[0].env",
        "mcp_servers[0].transport.command",
        "mcp_servers[1].name",
        "mcp_servers[1].timeout_secs",
        "mcp_servers[1].cwd",
        "mcp_servers[1].transport.url",
        "mcp_servers[2].cwd",
    ];
    assert_eq!(keys, expected);
}

#[test]
fn a_connection_serves_an_entry_that_lists_other_tools_and_no_other_entry() {
    let entry = |text: &str| {
        let text =
            format!("mcp_servers = [{{ name = \"a\", transport = {{ type = \"stdio\", command = \"x\" }}{text} }}]");
        config(&text).mcp_servers.remove(0)
    };
    let connected = entry("");

    assert!(entry(", tools = { include = [\"a\"] }").connects_like(&connected));
    for other in [", timeout_secs = 7", ", cwd = \"/srv\"", ", enabled = false"] {
        assert!(!entry(other).connects_like(&connected), "{other}");
    }
    assert!(!connected.connects_like(&entry(", enabled = false")));
    assert!(!entry(", enabled = false").connects_like(&entry(", enabled = false")));
}

#[test]
fn a_wrong_pattern_of_tools_is_said_with_what_is_right() {
    let text = "mcp_servers = [{ name = \"a\", transport = { type = \"stdio\", command = \"x\" }, tools = { include = [\"\"] } }]";

    let error = toml::from_str::<Config>(text).unwrap_err().to_string();

    assert!(error.contains("use the server's own name of a tool"), "{error}");
}

//! Who may use a server, and what its answers may lead to.

use openfang_testkit::TestHome;
use openfang_testkit::probes::Probe;
use openfang_types::task::TaskState;
use serde_json::json;

use super::fixture::{House, odd};
use crate::support::{artifact_names, artifact_text, send};

fn agent(home: &TestHome, name: &str, servers: &str) {
    let manifest = format!(
        "name = \"{name}\"\ndescription = \"an agent\"\n[model]\nprovider = \"direct\"\n\
         [capabilities]\ntools = [\"*\"]\n{servers}\n"
    );
    home.write(&format!("agents/{name}/agent.toml"), &manifest);
}

#[tokio::test]
async fn an_agent_reaches_the_servers_that_its_list_names_and_no_other() {
    let home = TestHome::new();
    agent(&home, "all", "");
    agent(&home, "none", "mcp_servers = []");
    agent(&home, "one", "mcp_servers = [\"left\"]");
    let house = House::on(home, [odd("left", &[]), odd("right", &[])]).await;
    house.ready("left").await;
    house.ready("right").await;
    let operator = house.operator();

    for (agent, server, state) in [
        ("all", "left", TaskState::Completed),
        ("all", "right", TaskState::Completed),
        ("none", "left", TaskState::Failed),
        ("none", "right", TaskState::Failed),
        ("one", "left", TaskState::Completed),
        ("one", "right", TaskState::Failed),
    ] {
        let call = format!("/mcp_{server}_echo {{\"text\": \"hello\"}}");
        let task = send(house.kernel(), &operator, agent, &call).await;
        assert_eq!(task.status.state, state, "{agent} {server}: {task:?}");
        let tools = house.kernel().available_tools(&operator, Some(&agent.parse().unwrap())).unwrap();
        let is_listed = tools.iter().any(|tool| tool.name.as_str() == format!("mcp_{server}_echo"));
        assert_eq!(is_listed, state == TaskState::Completed, "{agent} {server}");
    }
    house.close().await;
}

const READS_THEN_ACTS: &str = r#"
    [[rules]]
    when = { text = "untrusted" }
    steps = [{ tool = { name = "mcp_stranger_echo", arguments = { text = "run this" } } }, { tool = { name = "probe_shell", arguments = { text = "ls" } } }]
    [[rules]]
    when = { text = "trusted" }
    steps = [{ tool = { name = "mcp_friend_echo", arguments = { text = "run this" } } }, { tool = { name = "probe_shell", arguments = { text = "ls" } } }]
    [[rules]]
    when = { text = "broken" }
    steps = [{ tool = { name = "mcp_stranger_raw", arguments = { result = { isError = true, content = [{ type = "text", text = "run this" }] } } } }, { tool = { name = "probe_shell", arguments = { text = "ls" } } }]
"#;

/// MCC-07, TNT-01: what a server says cannot lead to a command, unless the operator calls the server their own.
#[tokio::test]
async fn after_an_answer_of_a_stranger_nothing_executes() {
    let home = TestHome::new().with_script("reader", &["*"], READS_THEN_ACTS);
    let shell = Probe::shell();
    let mut friend = odd("friend", &[]);
    friend.trusted = true;
    let probe = shell.boxed();
    let house = House::furnished(home, [odd("stranger", &[]), friend], |boot| boot.tool(probe)).await;
    house.ready("stranger").await;
    house.ready("friend").await;
    let operator = house.operator();

    for way in ["untrusted", "broken"] {
        let task = send(house.kernel(), &operator, "reader", way).await;
        let said = artifact_text(&task, "probe_shell-error");
        assert!(said.contains("the MCP server stranger"), "{way}: {said}");
    }
    assert_eq!(shell.calls(), 0);

    let task = send(house.kernel(), &operator, "reader", "trusted").await;
    assert_eq!(artifact_names(&task), ["mcp_friend_echo-result", "probe_shell-result"]);
    house.close().await;
}

/// MCC-07: a description may ask for a secret; the secret does not leave.
#[tokio::test]
async fn what_looks_like_a_secret_is_not_given_to_a_stranger() {
    let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAA\n-----END OPENSSH PRIVATE KEY-----\n";
    let script = r#"
        [[rules]]
        steps = [{ tool = { name = "file_read", arguments = { path = "id_rsa" } } }, { tool = { name = "mcp_stranger_echo", arguments = { text = "a note" } } }]
    "#;
    let home = TestHome::new().with_script("reader", &["*"], script);
    home.write("workspaces/agents/reader/id_rsa", key);
    let house = House::on(home, [odd("stranger", &[])]).await;
    house.ready("stranger").await;

    let task = send(house.kernel(), &house.operator(), "reader", "go").await;
    assert_eq!(artifact_names(&task), ["file_read-result", "mcp_stranger_echo-error"], "{task:?}");

    let direct = house.says("mcp_stranger_echo", json!({"text": "hello"})).await;
    assert_eq!(direct, "hello");
    house.close().await;
}

//! Servers that point at each other: a chain of agents ends at the limit, whatever the agents in between hand on.

use openfang_kernel::config_edit::Existing;
use openfang_testkit::{TestHome, TestServer, callers};
use openfang_types::config::{ExternalAgent, McpServerConfigEntry, McpTransportEntry};
use openfang_types::task::TaskState;
use serde_json::json;

use super::fixture::{config, start};
use crate::support::{assert_state, send, status_text};

const PASSES_ON: &str = r#"
    [[rules]]
    steps = [{ tool = { name = "a2a_other", arguments = { message = "go" } } }]
"#;

/// Two servers whose agents pass every message on to each other.
async fn circle() -> ((TestHome, TestServer), (TestHome, TestServer)) {
    let home = || TestHome::new().with_script("passer", &["a2a_*"], PASSES_ON);
    let (one_home, two_home) = (home(), home());
    let one = start(&one_home, config()).await;
    let mut second = config();
    let at = |server: &TestServer| {
        ExternalAgent::new("other".parse().unwrap(), format!("http://{}/a2a/agents/passer", server.address))
    };
    second.a2a.external_agents = vec![at(&one)];
    let two = start(&two_home, second).await;
    let operator = callers::operator(&one.kernel);
    let added = one.kernel.add_external_agent(&operator, at(&two), Existing::Keep).await;
    assert_eq!(added.unwrap().agent.state.as_str(), "ready");
    ((one_home, one), (two_home, two))
}

#[tokio::test]
async fn two_servers_that_point_at_each_other_stop_at_the_hop_limit_with_a_clear_reason() {
    let ((_one_home, one), (_two_home, two)) = circle().await;
    let caller = callers::operator(&one.kernel);

    let task = send(&one.kernel, &caller, "passer", "go").await;

    // A script goes on after a tool that failed; what the tool said is in its artifact, at every depth.
    assert_state(&task, TaskState::Completed);
    let said = format!("{} {}", status_text(&task), serde_json::to_string(&task.artifacts).unwrap());
    assert!(said.contains("agents may call agents 4 deep"), "{said}");
    let count = |server: &TestServer| {
        let (kernel, admin) = (server.kernel.clone(), callers::admin(&server.kernel));
        async move { kernel.tasks(&admin, Default::default()).await.unwrap().tasks.len() }
    };
    // Each message is a task of the passer, and one of the agent it is passed to.
    assert!(count(&one).await + count(&two).await <= 10);
    one.stop().await;
    two.stop().await;
}

#[tokio::test]
async fn a_message_that_claims_too_many_hops_is_refused_whatever_the_number_looks_like() {
    let home = TestHome::new();
    let server = start(&home, config()).await;
    let send = |hops: serde_json::Value| {
        let client = server.client();
        async move {
            let message = json!({"messageId": hops.to_string(), "role": "ROLE_USER", "parts": [{"text": "Ada"}],
                "metadata": {"io.openfang/hops": hops}});
            let params = json!({"tenant": "starter", "message": message});
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params});
            client.post("/a2a", &body).await.json()
        }
    };

    for fine in [json!(0), json!(4)] {
        assert!(send(fine.clone()).await["result"]["task"].is_object(), "{fine}");
    }
    for refused in [json!(5), json!(255), json!(1_000_000), json!(-1), json!("0"), json!([])] {
        let answer = send(refused.clone()).await;
        assert_eq!(answer["error"]["code"], -32004, "{refused}: {answer}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_request_belongs_to_the_trace_that_it_names() {
    let home = TestHome::new();
    let server = start(&home, config()).await;
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let client = server.client().with("traceparent", &format!("00-{trace}-00f067aa0ba902b7-01"));

    let answer = client.get("/health").await;

    let shown = answer.header("x-trace-id").unwrap().replace('-', "");
    assert_eq!(shown, trace);
    let nonsense = server.client().with("traceparent", "zz").get("/health").await;
    assert_ne!(nonsense.header("x-trace-id").unwrap().replace('-', ""), trace);
    server.stop().await;
}

#[tokio::test]
async fn an_agent_of_this_very_server_is_not_added() {
    let home = TestHome::new();
    let server = start(&home, config()).await;
    let operator = callers::operator(&server.kernel);
    let entry = |host: &str| {
        let url = format!("http://{host}:{}/a2a", server.address.port());
        ExternalAgent::new("me".parse().unwrap(), url)
    };

    for host in ["127.0.0.1", "localhost"] {
        let refused = server.kernel.add_external_agent(&operator, entry(host), Existing::Keep).await;
        assert_eq!(refused.unwrap_err().reason(), "own_agent");
    }
    server.stop().await;
}

#[tokio::test]
async fn two_servers_that_are_each_others_mcp_server_list_no_tool_twice() {
    let (one_home, two_home) = (TestHome::new(), TestHome::new());
    let (one, two) = (start(&one_home, config()).await, start(&two_home, config()).await);
    let connect = |from: &TestServer, to: &TestServer| {
        let transport =
            McpTransportEntry::Http { url: format!("http://{}/mcp", to.address), headers: Default::default() };
        let entry = McpServerConfigEntry::new("other".parse().unwrap(), transport);
        let (kernel, operator) = (from.kernel.clone(), callers::operator(&from.kernel));
        async move {
            kernel.add_mcp_server(&operator, entry, Existing::Keep).await.unwrap();
            kernel.test_mcp_server(&operator, &"other".parse().unwrap()).await.unwrap()
        }
    };

    connect(&one, &two).await;
    connect(&two, &one).await;
    let mut counts = Vec::new();
    for round in 0..6 {
        let (here, there) = if round % 2 == 0 { (&one, &two) } else { (&two, &one) };
        connect_anew(here).await;
        counts.push((tools(here), tools(there)));
    }

    let (first, last) = (counts[1].clone(), counts[5].clone());
    assert_eq!(first.0.len(), last.0.len(), "the lists are stable");
    for name in last.0.iter().chain(&last.1) {
        assert!(!name.starts_with("mcp_other_mcp_other_"), "{name} came back");
    }
    one.stop().await;
    two.stop().await;
}

async fn connect_anew(server: &TestServer) {
    let operator = callers::operator(&server.kernel);
    server.kernel.restart_mcp_server(&operator, &"other".parse().unwrap()).await.unwrap();
}

fn tools(server: &TestServer) -> Vec<String> {
    let operator = callers::operator(&server.kernel);
    let tools = server.kernel.available_tools(&operator, None).unwrap();
    tools.iter().map(|tool| tool.name.to_string()).collect()
}

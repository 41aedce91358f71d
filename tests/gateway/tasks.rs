//! A tool of the reference server that can only be called as a task, for clients that know nothing of tasks and for those
//! that do.

use std::time::Duration;

use openfang_testkit::mcp_fixture;
use openfang_types::config::{McpProtocol, McpServerConfigEntry};
use openfang_types::task::{Part, TaskState};
use serde_json::{Value, json};

use super::fixture::{House, real, site};
use crate::mcp::wire::{MODERN, modern, request, session};
use crate::support::assert_state;
use crate::support::peers::{self, PeerServer};

const TOOL: &str = "mcp_everything_simulate_research_query";
const EXTENSION: &str = "io.modelcontextprotocol/tasks";
const REPORT: &str = "Research Report: python";

async fn everything() -> House {
    let mut entry = real("everything", PeerServer::Everything);
    entry.interactive = true;
    let house = House::with([entry]).await;
    house.ready("everything").await;
    house
}

fn research(is_ambiguous: bool) -> Value {
    json!({"name": TOOL, "arguments": {"topic": "python", "ambiguous": is_ambiguous}})
}

#[tokio::test]
async fn clients_of_both_eras_and_agents_use_it_like_any_other_tool() {
    let house = everything().await;

    let modern = house.talk("/mcp", "tools/call", research(false), json!({})).await;
    assert!(modern.last().unwrap()["result"].to_string().contains(REPORT), "{modern:?}");

    let legacy = session(&house.server.client(), "2025-06-18", json!({})).await;
    let result = legacy.post("/mcp", &request(1, "tools/call", research(false))).await.body;
    assert!(result.contains(REPORT), "{result}");

    let kernel = house.kernel();
    let text = format!("/{TOOL} {{\"topic\": \"python\"}}");
    let message = kernel.message_of_parts(None, vec![Part::text(text)]);
    let task = match kernel.send_message(&house.operator(), &"hand".parse().unwrap(), message).await.unwrap() {
        openfang_kernel::Reply::Task(task) => *task,
        openfang_kernel::Reply::Message(message) => panic!("{message:?}"),
    };
    assert_state(&task, TaskState::Completed);
    house.close().await;
}

#[tokio::test]
async fn what_it_asks_reaches_a_client_that_knows_nothing_of_tasks_and_the_answer_reaches_it() {
    let house = everything().await;
    let forms = json!({"elicitation": {"form": {}}});

    let said = house.talk("/mcp", "tools/call", research(true), forms.clone()).await;
    let asked = &said.last().unwrap()["result"];
    assert_eq!(asked["resultType"], "input_required", "{said:?}");
    let (key, question) = asked["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert!(question["params"]["message"].as_str().unwrap().contains("multiple interpretations"), "{question}");

    let mut answered = research(true);
    answered["requestState"] = asked["requestState"].clone();
    let property = question["params"]["requestedSchema"]["properties"]["interpretation"].clone();
    let meant = property["oneOf"][0]["const"].clone();
    answered["inputResponses"] = json!({key: {"action": "accept", "content": {"interpretation": meant}}});
    let said = house.talk("/mcp", "tools/call", answered, forms).await;
    let result = said.last().unwrap()["result"].to_string();
    assert!(result.contains(&format!("{REPORT} ({})", meant.as_str().unwrap())), "{result}");
    house.close().await;
}

#[tokio::test]
async fn a_client_with_tasks_is_told_of_one_at_once_and_finds_the_report_in_it() {
    let house = everything().await;
    let with_tasks = json!({"extensions": {EXTENSION: {}}});

    let said = house.talk("/mcp", "tools/call", research(false), with_tasks.clone()).await;
    let task = &said.last().unwrap()["result"];
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")), "{said:?}");
    let done = loop {
        let said = house
            .talk("/mcp", "tasks/get", json!({"taskId": task["taskId"]}), with_tasks.clone())
            .await;
        let stands = said.last().unwrap()["result"].clone();
        if stands["status"] != "working" {
            break stands;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert_eq!(done["status"], "completed", "{done}");
    assert!(done["result"].to_string().contains(REPORT), "{done}");
    house.close().await;
}

/// Whoever waits no more stops the task where it is worked on, whichever era its server speaks.
#[tokio::test]
async fn a_cancel_reaches_the_task_of_the_server() {
    for protocol in [McpProtocol::Modern, McpProtocol::Legacy] {
        let fixture = mcp_fixture::start().await;
        let entry = McpServerConfigEntry { protocol, interactive: true, ..site("fixture", fixture.url.clone()) };
        let house = House::with([entry]).await;
        house.ready("fixture").await;
        // A tool that is a task or nothing is one for every client; it takes as long as it is told.
        let mut params = json!({"name": "mcp_fixture_failing_job", "arguments": {"seconds": 60}});
        params["_meta"]["progressToken"] = json!("p");
        let client = session(&house.server.client(), "2025-06-18", json!({})).await;
        let state = async || {
            let params = modern(json!({"taskId": "task-1"}), json!({"extensions": {EXTENSION: {}}}));
            let client = fixture.client().with("mcp-protocol-version", MODERN).with("mcp-method", "tasks/get");
            let answer = client.post("/mcp", &request(1, "tasks/get", params)).await.json();
            answer["result"]["status"].clone()
        };
        let until = async |wanted: &str| {
            while state().await != wanted {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let call = request(7, "tools/call", params);
        let cancel = async {
            until("working").await;
            let params = json!({"requestId": 7, "reason": "the user pressed stop"});
            let canceled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
            assert_eq!(client.post("/mcp", &canceled).await.status, 202);
            until("cancelled").await;
        };
        let (answer, ()) = tokio::join!(client.post("/mcp", &call), cancel);
        assert_eq!(answer.body, "", "whoever cancels wants no answer");
        house.close().await;
    }
}

#[tokio::test]
async fn a_tool_of_fastmcp_that_is_a_task_or_nothing_serves_clients_with_tasks_and_without() {
    let server = PeerServer::FastMcpTasks.http();
    let house = House::with([site("fast", server.url())]).await;
    house.ready("fast").await;
    let arguments = json!({"topic": "cats"});
    assert_eq!(house.says("mcp_fast_research", arguments.clone()).await, "report on cats");
    let legacy = session(&house.server.client(), "2025-03-26", json!({})).await;
    let call = request(1, "tools/call", json!({"name": "mcp_fast_research", "arguments": arguments}));
    assert!(legacy.post("/mcp", &call).await.body.contains("report on cats"));

    for (path, tool) in [("/mcp", "mcp_fast_research"), ("/mcp/servers/fast", "research")] {
        let url = format!("http://{}{path}", house.server.address);
        let calls = [(tool, arguments.clone())];
        let heard = tokio::task::spawn_blocking(move || peers::with_tasks(&url, &calls)).await.unwrap();
        assert_eq!(heard, [peers::says("report on cats")], "{path}");
    }
    house.close().await;
}

//! MCP client -> this server -> A2A -> another OpenFang -> MCP server: what the far server asks is put to the near client, and
//! its answer reaches the far server, whichever era either of them speaks.

use openfang_testkit::http::Client;
use openfang_testkit::mcp_fixture::{self, RunningFixture};
use openfang_testkit::{TestHome, TestServer, callers};
use openfang_types::config::{ExternalAgent, McpProtocol, McpServerConfigEntry, McpTransportEntry};
use openfang_types::task::TaskState;
use serde_json::{Value, json};

use super::fixture::{config, start};
use crate::mcp::wire::{headed, modern, request, session, texts};

/// A form with choices, defaults and bounds of every kind: nothing of it may be lost on the way.
const FORM: &str = "mcp_fixture_test_elicitation_sep1330_enums";
const ASKS: &str = "mcp_fixture_test_elicitation";

struct Houses {
    near: TestServer,
    far: TestServer,
    _homes: [TestHome; 2],
    _fixture: RunningFixture,
}

impl Houses {
    /// Two servers; an MCP server of this era is at the far one.
    async fn start(protocol: McpProtocol) -> Self {
        let fixture = mcp_fixture::start().await;
        let transport = McpTransportEntry::Http { url: fixture.url.clone(), headers: Default::default() };
        let server = McpServerConfigEntry {
            protocol,
            interactive: true,
            ..McpServerConfigEntry::new("fixture".parse().unwrap(), transport)
        };
        let far_home = TestHome::new().with_direct("hand", &["mcp_*"]);
        let mut far = config();
        far.mcp_servers = vec![server];
        let far = start(&far_home, far).await;
        let operator = callers::operator(&far.kernel);
        loop {
            let tools = far.kernel.available_tools(&operator, None).unwrap();
            if tools.iter().any(|tool| tool.name.as_str() == ASKS) {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        let near_home = TestHome::new();
        let mut near = config();
        let url = format!("http://{}/a2a/agents/hand", far.address);
        near.a2a.external_agents = vec![ExternalAgent::new("far".parse().unwrap(), url)];
        let near = start(&near_home, near).await;
        Self { near, far, _homes: [near_home, far_home], _fixture: fixture }
    }

    async fn stop(self) {
        // Each server did all of it in one task.
        for server in [&self.near, &self.far] {
            let tasks = server.kernel.tasks(&callers::operator(&server.kernel), Default::default()).await.unwrap();
            assert_eq!(tasks.tasks.len(), 1, "{:?}", tasks.tasks);
            assert_eq!(tasks.tasks[0].status.state, TaskState::Completed);
        }
        self.near.stop().await;
        self.far.kernel.close().await;
        self.far.stop().await;
    }
}

fn call_of(tool: &str, arguments: &Value) -> Value {
    json!({ "name": "a2a_far", "arguments": { "message": format!("/{tool} {arguments}") } })
}

/// Calls the agent as a client of 2026-07-28. Returns what was asked, and the result with this answer.
async fn as_modern(client: &Client, call: Value, answer: &Value) -> (Value, Value) {
    let forms = json!({ "elicitation": { "form": {} } });
    let ask = async |params: Value| {
        let message = request(1, "tools/call", modern(params, forms.clone()));
        headed(client, &message).post("/mcp", &message).await.json()["result"].clone()
    };
    let asked = ask(call.clone()).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let (key, question) = asked["inputRequests"].as_object().unwrap().iter().next().unwrap();
    let mut again = call;
    again["requestState"] = asked["requestState"].clone();
    again["inputResponses"] = json!({ key: answer });
    (question["params"].clone(), ask(again).await)
}

/// The same as a client of 2025-11-25, which is asked while its call waits.
async fn as_legacy(client: &Client, call: Value, answer: &Value) -> (Value, Value) {
    let client = session(client, "2025-11-25", json!({ "elicitation": { "form": {} } })).await;
    let mut stream = client.stream("POST", "/mcp", Some(&request(4, "tools/call", call).to_string())).await;
    let mut asked = Value::Null;
    loop {
        let (_, _, message) = stream.event().await.unwrap();
        if message["method"] == "elicitation/create" {
            asked = message["params"].clone();
            let reply = json!({ "jsonrpc": "2.0", "id": message["id"], "result": answer });
            assert_eq!(client.post("/mcp", &reply).await.status, 202);
        } else if message["id"] == 4 {
            return (asked, message["result"].clone());
        }
    }
}

/// What each kind of client is asked, and what it gets, with an MCP server of each era at the far end.
async fn talk(tool: &str, arguments: &Value, answer: &Value) -> Vec<(Value, Value)> {
    let mut said = Vec::new();
    for protocol in [McpProtocol::Modern, McpProtocol::Legacy] {
        for is_modern in [true, false] {
            let houses = Houses::start(protocol).await;
            let (client, call) = (houses.near.client(), call_of(tool, arguments));
            let (asked, result) = match is_modern {
                true => as_modern(&client, call, answer).await,
                false => as_legacy(&client, call, answer).await,
            };
            said.push((asked, result));
            houses.stop().await;
        }
    }
    said
}

#[tokio::test]
async fn a_question_at_the_far_end_is_answered_at_the_near_one_in_all_pairs_of_eras() {
    let answer = json!({ "action": "accept", "content": { "username": "ada", "email": "ada@x.example" } });

    for (asked, result) in talk(ASKS, &json!({ "message": "Who are you?" }), &answer).await {
        assert_eq!(asked["message"], "The A2A agent far asks: Who are you?", "{asked}");
        assert_eq!(asked["requestedSchema"]["required"], json!(["username", "email"]), "{asked}");
        let said = texts(&result).concat();
        assert!(said.contains("action=accept") && said.contains("ada@x.example"), "{result}");
        assert_ne!(result["isError"], true, "{result}");
    }
}

#[tokio::test]
async fn a_refusal_at_the_near_end_reaches_the_far_server_in_all_pairs_of_eras() {
    for (_, result) in talk(ASKS, &json!({ "message": "Who are you?" }), &json!({ "action": "decline" })).await {
        assert!(texts(&result).concat().contains("action=decline"), "{result}");
    }
}

#[tokio::test]
async fn a_form_is_the_same_after_two_servers_whatever_is_in_it() {
    let answer = json!({ "action": "accept", "content": {
        "untitledSingle": "option1", "titledSingle": "value1", "legacyEnum": "opt1",
        "untitledMulti": ["option1"], "titledMulti": ["value2"],
    } });

    let said = talk(FORM, &json!({}), &answer).await;

    let forms: Vec<&Value> = said.iter().map(|(asked, _)| &asked["requestedSchema"]).collect();
    let properties = forms[0]["properties"].as_object().unwrap();
    assert!(properties.len() >= 5, "{properties:?}");
    let text = forms[0].to_string();
    for member in ["oneOf", "anyOf", "enumNames", "const", "title", "items"] {
        assert!(text.contains(&format!("\"{member}\"")), "{member} is lost: {text}");
    }
    assert!(forms.iter().all(|form| *form == forms[0]), "{forms:#?}");
    for (_, result) in &said {
        assert!(texts(result).concat().contains("value2"), "{result}");
    }
}

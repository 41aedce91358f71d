//! Two tools in the place of all: a client finds the others and calls them, and they answer as if they were called directly.

use openfang_testkit::http::{Answer, Client};
use openfang_testkit::{TestHome, TestServer};
use serde_json::{Value, json};

use super::relay::{ASKS, LONG, answer_question_of, begun, both, in_era, until};
use super::wire::{MODERN, agents, headed, modern, request, texts};
use crate::support::binary::Openfang;

const LAZY: &str = "/mcp?lazy=true";

async fn ask_at(client: &Client, path: &str, (method, params): (&str, Value)) -> Answer {
    let message = request(1, method, modern(params, json!({"elicitation": {}})));
    headed(client, &message).post(path, &message).await
}

async fn call_at(client: &Client, path: &str, name: &str, arguments: Value) -> Value {
    ask_at(client, path, ("tools/call", json!({"name": name, "arguments": arguments})))
        .await
        .json()
}

fn wrapped(name: &str, arguments: Value) -> Value {
    json!({"name": "tool_call", "arguments": {"name": name, "arguments": arguments}})
}

fn names(listed: &Value) -> Vec<&str> {
    let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

async fn server() -> (TestHome, TestServer) {
    let slow = "[[rules]]\nsteps = [{ chunk = \"half \" }, { delay_ms = 1500 }, { chunk = \"done\" }]\n";
    let home = agents(TestHome::new()).with_script("slow", &[], slow);
    let server = TestServer::start(home.boot_with(crate::http::any_port()).start().unwrap()).await;
    (home, server)
}

#[test]
fn an_ide_is_shown_two_tools_and_reaches_all_with_progress_and_questions_in_both_eras_with_a_daemon_and_without() {
    both(|openfang: &Openfang| {
        for version in ["2025-11-25", MODERN] {
            let mut ide = begun(openfang, &["mcp", "--lazy"], version);
            let listed = ide.ask(&request(1, "tools/list", in_era(version, json!({}))));
            assert_eq!(names(&listed), ["tool_call", "tool_search"], "{version}");

            let search = json!({"name": "tool_search", "arguments": {"query": "long running operation"}});
            loop {
                let found = ide.ask(&request(2, "tools/call", in_era(version, search.clone())));
                if texts(&found["result"])[0].contains(LONG) {
                    break;
                }
            }

            let mut call = wrapped(LONG, json!({"duration": 0.3, "steps": 3}));
            call["_meta"] = json!({"progressToken": "p"});
            ide.send(&request(7, "tools/call", in_era(version, call)));
            let progress: Vec<f64> = (0..3)
                .map(|_| until(&mut ide, "notifications/progress")["params"]["progress"].as_f64().unwrap())
                .collect();
            assert_eq!(progress, [1.0, 2.0, 3.0]);
            assert!(ide.answer(7).to_string().contains("completed"));

            let answer = answer_question_of(&mut ide, version, (8, wrapped(ASKS, json!({}))));
            assert!(answer["result"].to_string().contains("Ada"), "{version}: {answer}");
        }
    });
}

#[tokio::test]
async fn a_wrapped_call_is_answered_to_the_byte_as_the_call_itself() {
    let (_home, server) = server().await;
    let client = server.client();
    for (name, arguments) in [
        ("add_numbers", json!({"a": 3, "b": 7})),
        ("add_numbers", json!({"a": "three"})),
        ("get_greeting", json!({"name": "Ada"})),
        ("file_read", json!({"path": "../etc/passwd"})),
        ("openfang_agent_steps", json!({"message": "please"})),
        ("nobody_has_this", json!({})),
        ("not a name", json!({})),
    ] {
        let direct = call_at(&client, "/mcp", name, arguments.clone()).await;
        let call = wrapped(name, arguments);
        let through = call_at(&client, LAZY, "tool_call", call["arguments"].clone()).await;
        assert_eq!(direct.to_string(), through.to_string(), "{name}");
    }
    let said = call_at(&client, LAZY, "tool_call", json!({"name": "tool_call", "arguments": {}})).await;
    assert!(said["result"]["isError"] == true && said.to_string().contains("call it directly"), "{said}");
    server.stop().await;
}

#[tokio::test]
async fn where_nobody_asked_for_it_there_are_no_such_tools() {
    let (_home, server) = server().await;
    let client = server.client();
    for name in ["tool_call", "tool_search"] {
        let arguments = json!({"name": "add_numbers", "query": "add"});
        let answer = call_at(&client, "/mcp", name, arguments).await;
        let unknown = call_at(&client, "/mcp", "no_such_tool", json!({})).await;
        assert_eq!(answer.to_string(), unknown.to_string().replace("no_such_tool", name));
    }
    let listed = ask_at(&client, LAZY, ("tools/list", json!({}))).await.json();
    assert_eq!(names(&listed), ["tool_call", "tool_search"]);
    assert_eq!(client.get("/sse?lazy=true").await.status, 400);
    assert_eq!(ask_at(&client, "/mcp?lazy=perhaps", ("tools/list", json!({}))).await.status, 400);
    server.stop().await;
}

#[tokio::test]
async fn agents_are_found_among_the_tools_and_a_wrapped_call_of_one_becomes_a_task() {
    let (_home, server) = server().await;
    let client = server.client();
    let found = call_at(&client, LAZY, "tool_search", json!({"query": "openfang_agent_slow"})).await;
    assert!(texts(&found["result"])[0].starts_with("{\"description\""), "{found}");
    assert!(texts(&found["result"])[0].contains("\"openfang_agent_slow\""), "{found}");

    let capabilities = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let ask = async |method: &str, params: Value| {
        let name = params["name"].as_str().or_else(|| params["taskId"].as_str()).unwrap().to_owned();
        let message = request(1, method, modern(params, capabilities.clone()));
        let client = client.clone().with("mcp-protocol-version", MODERN).with("mcp-method", method);
        client.with("mcp-name", &name).post(LAZY, &message).await.json()["result"].clone()
    };
    let task = ask("tools/call", wrapped("openfang_agent_slow", json!({"message": "please"}))).await;
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")), "{task}");
    let done = loop {
        let stands = ask("tasks/get", json!({"taskId": task["taskId"]})).await;
        if stands["status"] != "working" {
            break stands;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    assert_eq!(texts(&done["result"]), ["half done"]);
    server.stop().await;
}

#[tokio::test]
async fn a_profile_can_have_the_tools_searched_and_what_it_leaves_out_looks_like_nothing() {
    let openfang = Openfang::new();
    let script = "name = \"starter\"\ndescription = \"greets people\"\n[model]\nprovider = \"direct\"\n[capabilities]\ntools = [\"add_numbers\"]\n";
    openfang.write("agents/starter/agent.toml", script);
    let profiles = "[profiles.few]\ntools = \"search\"\nagents = []\n[profiles.narrow]\ntools = [\"add_numbers\"]\n";
    openfang.write("config.toml", profiles);
    let daemon = openfang.start();
    let client = daemon.client();

    let listed = ask_at(&client, "/mcp?profile=few", ("tools/list", json!({}))).await.json();
    assert_eq!(names(&listed), ["tool_call", "tool_search"]);
    let call = wrapped("add_numbers", json!({"a": 1, "b": 2}))["arguments"].clone();
    let three = call_at(&client, "/mcp?profile=few", "tool_call", call.clone()).await;
    assert_eq!(texts(&three["result"]), ["3"]);
    let agent = wrapped("openfang_agent_starter", json!({"message": "x"}))["arguments"].clone();
    let hidden = call_at(&client, "/mcp?profile=few", "tool_call", agent.clone()).await;
    let absent = wrapped("openfang_agent_nobodys", json!({"message": "x"}))["arguments"].clone();
    let absent = call_at(&client, "/mcp?profile=few", "tool_call", absent).await;
    assert_eq!(hidden.to_string(), absent.to_string().replace("nobodys", "starter"));

    let both = "/mcp?profile=narrow&lazy=true";
    let found = call_at(&client, both, "tool_search", json!({"query": "greeting numbers", "limit": 20})).await;
    let found = &texts(&found["result"])[0];
    assert!(found.contains("\"add_numbers\"") && !found.contains("\"get_greeting\""), "{found}");
    let greeting = wrapped("get_greeting", json!({}))["arguments"].clone();
    let hidden = call_at(&client, both, "tool_call", greeting).await;
    let absent = call_at(&client, both, "tool_call", wrapped("get_nothings", json!({}))["arguments"].clone()).await;
    assert_eq!(hidden.to_string(), absent.to_string().replace("get_nothings", "get_greeting"));

    let of_agent = "/mcp?agent=starter&tools=true&lazy=true";
    let found = call_at(&client, of_agent, "tool_search", json!({"query": "numbers greeting", "limit": 20})).await;
    let found = &texts(&found["result"])[0];
    assert!(found.contains("\"add_numbers\"") && !found.contains("\"get_greeting\""), "{found}");
    assert_eq!(texts(&call_at(&client, of_agent, "tool_call", call).await["result"]), ["3"]);
}

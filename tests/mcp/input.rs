//! What an agent asks for reaches the client, and the answer continues the same task, in both eras.

use openfang_kernel::mcp::View;
use openfang_testkit::{TestHome, TestServer, callers};
use openfang_types::config::Config;
use openfang_types::limits::Limits;
use serde_json::{Value, json};

use super::wire::{Pipe, agents, headed, initialize, modern, request, server, session, texts};

fn asking() -> Value {
    json!({"name": "openfang_agent_asks", "arguments": {"message": "apples"}})
}

fn can() -> Value {
    json!({"elicitation": {}})
}

#[tokio::test]
async fn a_legacy_client_is_asked_while_its_call_waits() {
    let (_home, server) = server().await;
    let client = session(&server.client(), "2025-06-18", can()).await;
    let mut stream = client.stream("POST", "/mcp", Some(&request(4, "tools/call", asking()).to_string())).await;

    let (_, _, question) = stream.event().await.unwrap();
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "how many?");
    assert!(question["params"].get("mode").is_none(), "2025-06-18 has no modes");
    let answer =
        json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"reply": "3"}}});
    assert_eq!(client.post("/mcp", &answer).await.status, 202);

    let (_, _, result) = stream.event().await.unwrap();
    assert_eq!((&result["id"], texts(&result["result"])), (&json!(4), vec!["thank you".to_owned()]));
    let caller = callers::operator(&server.kernel);
    assert_eq!(server.kernel.tasks(&caller, Default::default()).await.unwrap().total, 1, "it is the same task");
    server.stop().await;
}

#[tokio::test]
async fn a_client_on_stdio_is_asked_too_and_may_decline() {
    let home = super::wire::agents(openfang_testkit::TestHome::new());
    let kernel = home.kernel();
    let mut pipe = Pipe::open(&kernel, View::Agents);
    pipe.send(&initialize("2025-11-25", can())).await;
    pipe.next().await;
    pipe.send(&request(1, "tools/call", asking())).await;
    let question = pipe.next().await;
    assert_eq!((&question["method"], &question["params"]["mode"]), (&json!("elicitation/create"), &json!("form")));

    pipe.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}}))
        .await;

    let result = pipe.answer(1).await;
    assert_eq!(result["result"]["isError"], true);
    assert!(texts(&result["result"])[0].contains("still waits"), "{result}");
    pipe.end().await;
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_told_the_question() {
    let (_home, server) = server().await;
    let client = session(&server.client(), "2025-11-25", json!({})).await;

    let result = client.post("/mcp", &request(1, "tools/call", asking())).await.json();

    let texts = texts(&result["result"]);
    assert_eq!(texts[0], "how many?");
    assert!(texts[1].contains("openfang_task") && texts[1].contains("reply"), "{texts:?}");
    server.stop().await;
}

async fn ask(client: &openfang_testkit::http::Client, params: Value) -> Value {
    let message = request(1, "tools/call", modern(params, can()));
    headed(client, &message).post("/mcp", &message).await.json()
}

#[tokio::test]
async fn a_modern_client_brings_the_answer_with_the_state() {
    let (_home, server) = server().await;
    let client = server.client();
    let first = ask(&client, asking()).await["result"].clone();
    assert_eq!(first["resultType"], "input_required");
    assert_eq!(first["inputRequests"]["reply"]["method"], "elicitation/create");

    let mut again = asking();
    again["requestState"] = first["requestState"].clone();
    let asked_again = ask(&client, again.clone()).await["result"].clone();
    assert_eq!(asked_again["resultType"], "input_required", "an answer that is missing is asked for again");

    again["requestState"] = asked_again["requestState"].clone();
    again["inputResponses"] = json!({"reply": {"action": "accept", "content": {"reply": "3"}}, "other": {}});
    let done = ask(&client, again).await["result"].clone();
    assert_eq!((&done["resultType"], texts(&done)), (&json!("complete"), vec!["thank you".to_owned()]));
    let caller = callers::operator(&server.kernel);
    assert_eq!(server.kernel.tasks(&caller, Default::default()).await.unwrap().total, 1, "it is the same task");
    server.stop().await;
}

#[tokio::test]
async fn a_user_who_used_up_its_request_states_is_asked_to_wait_and_others_are_not() {
    let home = agents(TestHome::new());
    let limits = Limits { request_states_per_owner: 2, ..Limits::default() };
    let config = Config { limits, ..crate::http::any_port() };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    let mut users = Vec::new();
    for name in ["ada", "bob"] {
        users.push(server.client().bearer(&crate::inflight::key_of(&server, name, "agent:asks").await));
    }
    let answers = async |client: &openfang_testkit::http::Client| {
        let mut params = asking();
        params["requestState"] = ask(client, asking()).await["result"]["requestState"].clone();
        params["inputResponses"] = json!({"reply": {"action": "accept", "content": {"reply": "3"}}});
        ask(client, params).await
    };
    for _ in 0..2 {
        assert_eq!(answers(&users[0]).await["result"]["resultType"], "complete");
    }

    let refused = answers(&users[0]).await;

    let why = refused["error"]["message"].as_str().unwrap_or_else(|| panic!("{refused}"));
    assert!(why.contains("request states"), "{refused}");
    assert_eq!(answers(&users[1]).await["result"]["resultType"], "complete");
    server.stop().await;
}

#[tokio::test]
async fn a_state_that_is_forged_used_or_of_another_call_is_refused() {
    let (_home, server) = server().await;
    let client = server.client();
    let state = ask(&client, asking()).await["result"]["requestState"].as_str().unwrap().to_owned();
    let mut retry = asking();
    retry["inputResponses"] = json!({"reply": {"action": "accept", "content": {"reply": "3"}}});
    let with = |params: &Value, state: &str| {
        let mut params = params.clone();
        params["requestState"] = json!(state);
        params
    };
    for forged in ["", "x", &state[1..], &state[..state.len() - 2], &format!("A{state}")] {
        assert_eq!(ask(&client, with(&retry, forged)).await["error"]["code"], -32602, "{forged}");
    }
    let mut other = retry.clone();
    other["arguments"]["message"] = json!("pears");
    assert_eq!(ask(&client, with(&other, &state)).await["error"]["code"], -32602, "other arguments");
    other["name"] = json!("openfang_agent_waits");
    assert_eq!(ask(&client, with(&other, &state)).await["error"]["code"], -32602, "another tool");

    assert_eq!(ask(&client, with(&retry, &state)).await["result"]["resultType"], "complete");
    assert_eq!(ask(&client, with(&retry, &state)).await["error"]["code"], -32602, "a second time");
    server.stop().await;
}

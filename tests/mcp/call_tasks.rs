//! Calls of agents as tasks of MCP, in both generations: the client is told at once, looks when it likes, answers what the
//! agent asks and cancels.

use std::time::Duration;

use openfang_kernel::users::KeyWanted;
use openfang_testkit::http::{Answer, Client};
use openfang_testkit::{TestHome, TestServer, callers};
use openfang_types::config::Config;
use openfang_types::limits::Limits;
use openfang_types::taint::Label;
use serde_json::{Value, json};

use super::wire::{MODERN, modern, request, session, texts};
use crate::support::peers;

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// An agent that takes a while, one that never ends, one that thinks before it asks, and one that fails.
fn home() -> TestHome {
    let slow = "[[rules]]\nsteps = [{ chunk = \"half \" }, { delay_ms = 1500 }, { chunk = \"done\" }]\n";
    let waits = "[[rules]]\nsteps = [{ wait_for_cancel = true }]\n";
    let asks = "[[rules]]\nwhen = { turn = 1 }\nsteps = [{ delay_ms = 1200 }, { status = { state = \"input-required\", message = \"how many?\" } }]\n\
         [[rules]]\nwhen = { turn = 2 }\nsteps = [{ delay_ms = 100 }, { status = { state = \"input-required\", message = \"which?\" } }]\n\
         [[rules]]\nwhen = { turn = 3 }\nsteps = [{ chunk = \"thank you\" }]\n";
    let fails = "[[rules]]\nsteps = [{ delay_ms = 1200 }, { fail = \"out of paper\" }]\n";
    TestHome::new()
        .with_script("slow", &[], slow)
        .with_script("waits", &[], waits)
        .with_script("asks", &[], asks)
        .with_script("fails", &[], fails)
}

async fn server(home: &TestHome) -> TestServer {
    let config = Config { limits: Limits { drain_secs: 0, ..Limits::default() }, ..crate::http::any_port() };
    TestServer::start(home.boot_with(config).start().unwrap()).await
}

fn to(agent: &str) -> Value {
    json!({"name": format!("openfang_agent_{agent}"), "arguments": {"message": "please"}})
}

/// Sends a modern request of a client that declares the extension, and what it can be asked for.
async fn asked(client: &Client, method: &str, params: Value) -> Answer {
    let capabilities = json!({"elicitation": {}, "extensions": {EXTENSION: {}}});
    let name = params["name"].as_str().or_else(|| params["taskId"].as_str()).map(str::to_owned);
    let message = request(1, method, modern(params, capabilities));
    let client = client.clone().with("mcp-protocol-version", MODERN).with("mcp-method", method);
    let client = name.iter().fold(client, |client, name| client.with("mcp-name", name));
    client.post("/mcp", &message).await
}

async fn ask(client: &Client, method: &str, params: Value) -> Value {
    let answer = asked(client, method, params).await.json();
    assert_eq!(answer.get("error"), None, "{answer}");
    answer["result"].clone()
}

/// The task as it stands once it is worked on no more.
async fn settled(client: &Client, task: &Value) -> Value {
    loop {
        let stands = ask(client, "tasks/get", json!({"taskId": task})).await;
        if stands["status"] != "working" {
            return stands;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_client_that_declares_tasks_is_given_one_after_a_second_and_finds_the_result_in_it() {
    let home = home();
    let server = server(&home).await;
    let client = server.client();

    let task = ask(&client, "tools/call", to("slow")).await;

    assert_eq!(
        (&task["resultType"], &task["status"], &task["ttlMs"]),
        (&json!("task"), &json!("working"), &json!(3_600_000))
    );
    assert_eq!(task["pollIntervalMs"], 500);
    for absent in ["result", "content", "requestState", "inputRequests", "error"] {
        assert_eq!(task.get(absent), None, "{task}");
    }
    let done = settled(&client, &task["taskId"]).await;
    assert_eq!((&done["resultType"], &done["status"]), (&json!("complete"), &json!("completed")));
    assert_eq!(texts(&done["result"]), ["half done"]);
    assert_eq!(done["createdAt"], task["createdAt"]);
    let same = client.get(&format!("/api/tasks/{}", task["taskId"].as_str().unwrap())).await;
    assert_eq!(same.status, 200, "it is the agent's own task, under the same id");

    let again = ask(&client, "tools/call", to("slow")).await;
    assert_ne!(again["taskId"], task["taskId"], "a second call is a second task");
    server.stop().await;
}

#[tokio::test]
async fn what_the_agent_asks_stands_in_the_task_and_is_answered_there_each_question_under_its_own_key() {
    let home = home();
    let server = server(&home).await;
    let client = server.client();
    let task = ask(&client, "tools/call", to("asks")).await["taskId"].clone();
    let mut keys = Vec::new();
    for (question, reply) in [("how many?", "3"), ("which?", "green")] {
        let asks = settled(&client, &task).await;
        assert_eq!(asks["status"], "input_required", "{asks}");
        let (key, request) = asks["inputRequests"].as_object().unwrap().iter().next().unwrap();
        assert_eq!(
            (&request["method"], &request["params"]["message"]),
            (&json!("elicitation/create"), &json!(question))
        );
        let nobody = json!({"taskId": task, "inputResponses": {"made up": {"action": "accept", "content": {}}}});
        assert_eq!(ask(&client, "tasks/update", nobody).await["resultType"], "complete");
        assert_eq!(settled(&client, &task).await["inputRequests"], asks["inputRequests"], "nobody asked for that");
        let unreadable =
            json!({"taskId": task, "inputResponses": {key: {"action": "accept", "content": {"reply": 7}}}});
        assert_eq!(asked(&client, "tasks/update", unreadable).await.json()["error"]["code"], -32602);
        let answer =
            json!({"taskId": task, "inputResponses": {key: {"action": "accept", "content": {"reply": reply}}}});
        assert_eq!(ask(&client, "tasks/update", answer).await.get("status"), None);
        keys.push(key.clone());
    }
    assert_ne!(keys[0], keys[1]);
    let done = settled(&client, &task).await;
    assert_eq!(texts(&done["result"]), ["thank you"], "{done}");

    let declined = ask(&client, "tools/call", to("asks")).await["taskId"].clone();
    let asks = settled(&client, &declined).await;
    let key = asks["inputRequests"].as_object().unwrap().keys().next().unwrap();
    ask(&client, "tasks/update", json!({"taskId": declined, "inputResponses": {key: {"action": "decline"}}})).await;
    assert_eq!(settled(&client, &declined).await["status"], "cancelled", "nobody waits for it any more");
    server.stop().await;
}

#[tokio::test]
async fn a_task_is_canceled_once_and_a_failed_agent_is_the_result_of_its_tool() {
    let home = home();
    let server = server(&home).await;
    let client = server.client();
    let task = ask(&client, "tools/call", to("waits")).await["taskId"].clone();
    for _ in 0..2 {
        let canceled = ask(&client, "tasks/cancel", json!({"taskId": task})).await;
        assert_eq!((&canceled["resultType"], canceled.get("status")), (&json!("complete"), None));
        assert_eq!(settled(&client, &task).await["status"], "cancelled");
    }
    let failed = ask(&client, "tools/call", to("fails")).await["taskId"].clone();
    let failed = settled(&client, &failed).await;
    assert_eq!((&failed["status"], &failed["result"]["isError"]), (&json!("completed"), &json!(true)), "{failed}");
    assert_eq!(texts(&failed["result"]), ["out of paper"]);
    server.stop().await;
}

#[tokio::test]
async fn tasks_of_others_of_other_keys_and_made_up_ones_are_told_apart_by_nobody() {
    let home = home();
    let server = server(&home).await;
    let key = async |name: &str| server.client().bearer(&crate::inflight::key_of(&server, name, "agent:waits").await);
    let (person, other) = (key("ada").await, key("bob").await);
    let wanted = KeyWanted {
        user: "ada".parse().unwrap(),
        label: "for strangers' words".to_owned(),
        entry_label: Some(Label::UntrustedAgent),
        profile: None,
        expires_at: None,
    };
    let made = server.kernel.create_user_key(&callers::operator(&server.kernel), wanted).await.unwrap();
    let untrusted = server.client().bearer(made.key.expose());
    let task = ask(&person, "tools/call", to("waits")).await["taskId"].clone();
    let unknown = json!("0190a000-0000-7000-8000-000000000000");
    for client in [&untrusted, &other] {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let refused = async |task: &Value| {
                let answer = asked(client, method, json!({"taskId": task, "inputResponses": {}})).await;
                (answer.status, answer.body.replace(task.as_str().unwrap(), "TASK"))
            };
            let expected = refused(&unknown).await;
            assert!(expected.1.contains("-32602"), "{expected:?}");
            assert_eq!(refused(&task).await, expected, "{method}");
            assert_eq!(refused(&json!("no id")).await, expected, "{method}");
        }
    }
    assert_eq!(ask(&person, "tasks/get", json!({"taskId": task})).await["status"], "working");
    server.stop().await;
}

#[tokio::test]
async fn who_has_not_declared_tasks_has_none_of_them() {
    let home = home();
    let server = server(&home).await;
    let client = server.client();
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let message = request(1, method, modern(json!({"taskId": "t", "inputResponses": {}}), json!({})));
        let client = client
            .clone()
            .with("mcp-protocol-version", MODERN)
            .with("mcp-method", method)
            .with("mcp-name", "t");
        let answer = client.post("/mcp", &message).await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32021)), "{method}");
        let needed = &answer.json()["error"]["data"]["requiredCapabilities"];
        assert_eq!(*needed, json!({"extensions": {EXTENSION: {}}}));
    }
    for method in ["tasks/list", "tasks/result"] {
        assert_eq!(asked(&client, method, json!({"taskId": "t"})).await.json()["error"]["code"], -32601);
    }
    let message = request(1, "tasks/get", modern(json!({"taskId": "t"}), json!({"extensions": {EXTENSION: {}}})));
    let nameless = client.clone().with("mcp-protocol-version", MODERN).with("mcp-method", "tasks/get");
    assert_eq!(nameless.post("/mcp", &message).await.json()["error"]["code"], -32602, "fastmcp leaves the name out");
    let misnamed = nameless.with("mcp-name", "another");
    assert_eq!(misnamed.post("/mcp", &message).await.json()["error"]["code"], -32020);
    for params in [json!({}), json!({"taskId": 7}), json!({"taskId": null})] {
        assert_eq!(asked(&client, "tasks/get", params).await.json()["error"]["code"], -32602);
    }
    let old = session(&client, "2025-06-18", json!({})).await;
    let refused = old.post("/mcp", &request(1, "tasks/get", json!({"taskId": "t"}))).await.json();
    assert_eq!(refused["error"]["code"], -32601, "that revision has no tasks");
    server.stop().await;
}

#[tokio::test]
async fn the_tasks_of_2025_11_25_wait_for_their_result_and_ask_meanwhile() {
    let home = home();
    let server = server(&home).await;
    let hello = super::wire::initialize("2025-11-25", json!({"elicitation": {}}));
    let begun = server.client().post("/mcp", &hello).await;
    let offered = &begun.json()["result"]["capabilities"]["tasks"];
    assert_eq!(*offered, json!({"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}));
    let client = server.client().with("mcp-session-id", begun.header("mcp-session-id").unwrap());
    let ask = async |method: &str, params: Value| client.post("/mcp", &request(1, method, params)).await.json();
    let tools = ask("tools/list", json!({})).await;
    let slow = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .find(|tool| tool["name"] == "openfang_agent_slow");
    assert_eq!(slow.unwrap()["execution"]["taskSupport"], "optional");

    let call = async |agent: &str| {
        let mut params = to(agent);
        params["task"] = json!({"ttl": 60_000});
        ask("tools/call", params).await["result"]["task"].clone()
    };
    let task = call("slow").await;
    assert_eq!((&task["status"], &task["pollInterval"]), (&json!("working"), &json!(500)), "{task}");
    let done = ask("tasks/result", json!({"taskId": task["taskId"]})).await["result"].clone();
    assert_eq!(texts(&done), ["half done"]);
    assert_eq!(done["_meta"]["io.modelcontextprotocol/related-task"]["taskId"], task["taskId"]);
    assert_eq!(ask("tasks/get", json!({"taskId": task["taskId"]})).await["result"]["status"], "completed");

    let asking = call("asks").await["taskId"].clone();
    let message = request(2, "tasks/result", json!({"taskId": asking}));
    let mut stream = client.stream("POST", "/mcp", Some(&message.to_string())).await;
    let mut questions = Vec::new();
    let result = loop {
        let (_, _, event) = stream.event().await.expect("the result comes before the end");
        match event["method"].as_str() {
            Some("elicitation/create") => {
                questions.push(event["params"]["message"].clone());
                let answer = json!({"action": "accept", "content": {"reply": "3"}});
                let answer = json!({"jsonrpc": "2.0", "id": event["id"], "result": answer});
                assert_eq!(client.post("/mcp", &answer).await.status, 202);
            }
            Some(_) => {}
            None if event["id"] == 2 => break event["result"].clone(),
            None => {}
        }
    };
    assert_eq!((texts(&result), questions), (vec!["thank you".to_owned()], vec![json!("how many?"), json!("which?")]));

    let waits = call("waits").await["taskId"].clone();
    assert_eq!(ask("tasks/cancel", json!({"taskId": waits})).await["result"]["status"], "cancelled");
    assert_eq!(ask("tasks/cancel", json!({"taskId": waits})).await["error"]["code"], -32602, "it has ended");
    assert_eq!(ask("tasks/update", json!({"taskId": waits})).await["error"]["code"], -32601);
    let failed = call("fails").await["taskId"].clone();
    let result = ask("tasks/result", json!({"taskId": failed})).await["result"].clone();
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(ask("tasks/get", json!({"taskId": failed})).await["result"]["status"], "failed");
    server.stop().await;
}

#[tokio::test]
async fn a_client_of_2025_11_25_that_wants_a_task_gets_one_however_quick_the_call_is() {
    let home = TestHome::new().with_script("quick", &[], "[[rules]]\nsteps = [{ chunk = \"at once\" }]\n");
    let server = server(&home).await;
    let client = session(&server.client(), "2025-11-25", json!({})).await;
    let ask = async |method: &str, params: Value| client.post("/mcp", &request(1, method, params)).await.json();
    let adds = json!({"name": "add_numbers", "arguments": {"a": 3, "b": 7}});
    let wrong = json!({"name": "openfang_agent_quick", "arguments": {"massage": "please"}});
    for (mut params, expected) in [(to("quick"), "at once"), (adds, "10"), (wrong, "give exactly one argument")] {
        params["task"] = json!({});
        let begun = ask("tools/call", params.clone()).await;
        let id = begun["result"]["task"]["taskId"].clone();
        assert!(id.is_string(), "{params}: {begun}");
        let result = ask("tasks/result", json!({"taskId": id})).await["result"].clone();
        assert!(texts(&result)[0].contains(expected), "{result}");
        let stands = ask("tasks/get", json!({"taskId": id})).await["result"]["status"].clone();
        let failed = result["isError"] == true;
        assert_eq!(stands, if failed { "failed" } else { "completed" });
    }
    server.stop().await;
}

#[tokio::test]
async fn fastmcp_waits_for_agents_by_itself_and_answers_what_they_ask() {
    let home = home();
    let server = server(&home).await;
    let url = format!("http://{}/mcp", server.address);
    let message = json!({"message": "please"});
    let calls = [("openfang_agent_slow", message.clone()), ("openfang_agent_asks", message)];

    let heard = tokio::task::spawn_blocking(move || peers::with_tasks(&url, &calls)).await.unwrap();

    assert_eq!(heard[0], peers::says("half done"));
    assert_eq!(heard[1], json!({"said": ["thank you"], "is_error": false, "asked": ["how many?", "which?"]}));
    server.stop().await;
}

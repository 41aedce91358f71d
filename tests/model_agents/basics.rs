//! An agent with a model answers, with its tools, through every interface.

use openfang_model::WireKind;
use openfang_testkit::fake_provider::answers::{Say, answer};
use openfang_types::task::TaskState;
use serde_json::{Value, json};

use super::fixture::{calls, reply_of, says, stage};
use crate::support::{artifact_names, artifact_text, assert_state, status_text};

#[tokio::test]
async fn the_model_is_asked_with_the_instructions_and_its_text_is_the_answer() {
    let mut stage = stage(&[], "").await;
    stage.provider.script([says("Lima.")]);

    let task = stage.send("What is the capital of Peru?").await;

    assert_state(&task, TaskState::Completed);
    assert_eq!((artifact_names(&task), reply_of(&task)), (vec!["reply"], "Lima.".to_owned()));
    let messages = stage.next_messages().await;
    assert_eq!((&messages[0]["role"], &messages[0]["content"]), (&json!("system"), &json!("Be brief.")));
    assert!(messages[1].to_string().contains("What is the capital of Peru?"), "{messages:?}");
    assert_eq!(messages.len(), 2);
}

#[tokio::test]
async fn a_call_runs_and_its_result_goes_back_to_the_model() {
    let mut stage = stage(&["add_numbers"], "").await;
    let first = [Say::text("Let me add."), Say::call("c1", "add_numbers", json!({ "a": 3, "b": 7 }))];
    stage.provider.script([answer(WireKind::Chat, &first), says("It is 10.")]);

    let task = stage.send("What is 3 + 7?").await;

    assert_state(&task, TaskState::Completed);
    assert_eq!(reply_of(&task), "It is 10.");
    assert_eq!(artifact_text(&task, "commentary"), "Let me add.");
    let asked = stage.provider.next_request().await.json();
    let tools: Vec<&Value> = asked["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(tools, ["add_numbers"]);
    let messages = stage.next_messages().await;
    assert_eq!(super::fixture::results_of(&messages), [("c1".to_owned(), "10".to_owned())]);
    assert_eq!(messages.len(), 4, "{messages:?}");
}

#[tokio::test]
async fn an_agent_answers_over_the_api_a2a_mcp_and_other_agents() {
    let stage = stage(&["add_numbers"], "").await;
    let script = |provider: &openfang_testkit::FakeProvider| {
        provider.script([calls(&[("c1", "add_numbers", json!({ "a": 1, "b": 2 }))]), says("Three.")]);
    };
    script(&stage.provider);
    let (server, provider, _home) = stage.serve().await;
    let client = server.client();

    let over_api = client.post("/api/agents/thinker/message", &json!({ "text": "1 + 2?" })).await.json();
    assert_eq!(over_api["task"]["artifacts"][0]["parts"][0]["text"], "Three.", "{over_api}");

    script(&provider);
    let message = json!({ "messageId": "m-1", "role": "ROLE_USER", "parts": [{ "text": "1 + 2?" }] });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": { "tenant": "thinker", "message": message } });
    let over_a2a = client.post("/a2a", &body).await.json();
    assert_eq!(over_a2a["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{over_a2a}");
    assert_eq!(over_a2a["result"]["task"]["artifacts"][0]["parts"][0]["text"], "Three.", "{over_a2a}");

    script(&provider);
    let arguments = json!({ "message": "1 + 2?" });
    let params = json!({ "name": "openfang_agent_thinker", "arguments": arguments });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let over_mcp = client.post("/mcp", &body).await.json();
    assert_eq!(over_mcp["result"]["content"][0]["text"], "Three.", "{over_mcp}");

    script(&provider);
    let admin = openfang_testkit::callers::admin(&server.kernel);
    let arguments = json!({ "agent": "thinker", "message": "1 + 2?" });
    let over_agent = crate::support::call(&server.kernel, &admin, "agent_send", arguments).await.unwrap();
    assert!(over_agent.joined_text().contains("Three."), "{over_agent:?}");
}

#[tokio::test]
async fn text_is_streamed_as_it_comes_and_the_answer_replaces_what_was_said_before_calls() {
    let stage = stage(&["add_numbers"], "").await;
    let first = [Say::text("Let me add."), Say::call("c1", "add_numbers", json!({ "a": 1, "b": 2 }))];
    stage
        .provider
        .script([answer(WireKind::Chat, &first), answer(WireKind::Chat, &[Say::text("It is "), Say::text("3.")])]);
    let (server, _provider, _home) = stage.serve().await;
    let message = json!({ "messageId": "m-1", "role": "ROLE_USER", "parts": [{ "text": "1 + 2?" }] });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": { "tenant": "thinker", "message": message } });

    let mut stream = server.client().stream("POST", "/a2a", Some(&body.to_string())).await;
    let events = stream.events().await;

    let mut reply = String::new();
    for (_, _, event) in &events {
        let update = &event["result"]["artifactUpdate"];
        if update["artifact"]["artifactId"] == "reply-1" {
            if update["append"] != json!(true) {
                reply.clear();
            }
            reply.push_str(update["artifact"]["parts"][0]["text"].as_str().unwrap());
        }
    }
    assert_eq!(reply, "It is 3.", "{events:?}");
}

#[tokio::test]
async fn without_a_model_the_task_fails_and_says_what_is_missing() {
    let home = openfang_testkit::TestHome::new();
    let toml = "name = \"thinker\"\ndescription = \"d\"\n[model]\nprovider = \"anthropic\"\nmodel = \"m\"\n";
    home.write("agents/thinker/agent.toml", toml);
    let kernel = home.kernel();

    let task = crate::support::send(&kernel, &openfang_testkit::callers::admin(&kernel), "thinker", "Hello").await;

    assert_state(&task, TaskState::Failed);
    assert!(status_text(&task).contains("ANTHROPIC_API_KEY"), "{}", status_text(&task));
}

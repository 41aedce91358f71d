//! Skills of agents in their cards.

use openfang_testkit::TestServer;
use serde_json::{Value, json};

use super::fixture::Stage;
use crate::model_agents::fixture::says;

fn skills_of(card: &Value) -> Vec<Value> {
    let skills = card["skills"].as_array().cloned().unwrap_or_default();
    skills
        .into_iter()
        .filter(|skill| skill["id"].as_str().is_some_and(|id| id.starts_with("skill:")))
        .collect()
}

#[tokio::test]
async fn an_enabled_skill_of_an_agent_is_in_its_card_for_those_who_may_talk_to_it() {
    let stage = Stage::ready(&["add_numbers"]).await;
    let server = TestServer::start(stage.kernel.clone()).await;
    let client = server.client();
    let whole = client.get("/a2a/agents").await.json();
    let card = whole["agents"]
        .as_array()
        .unwrap()
        .iter()
        .find(|card| card["name"] == "thinker")
        .unwrap()
        .clone();

    let skills = skills_of(&card);

    assert_eq!(skills.len(), 1, "{card}");
    let skill = &skills[0];
    assert_eq!((&skill["id"], &skill["name"]), (&json!("skill:pdf-forms"), &json!("pdf-forms")));
    assert_eq!(skill["tags"], json!(["pdf", "forms"]));
    server.stop().await;
}

#[tokio::test]
async fn a_message_over_a2a_activates_a_skill_by_a_data_part() {
    let stage = Stage::ready(&[]).await;
    stage.provider.script([says("Filled.")]);
    let server = TestServer::start(stage.kernel.clone()).await;
    let parts = json!([{ "data": { "skill": "pdf-forms", "input": "fill this" } }]);
    let message = json!({ "messageId": "m-1", "role": "ROLE_USER", "parts": parts });
    let params = json!({ "tenant": "thinker", "message": message });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params });

    let answer = server.client().post("/a2a", &body).await.json();

    assert_eq!(answer["result"]["task"]["artifacts"][0]["parts"][0]["text"], "Filled.", "{answer}");
    let Stage { mut provider, .. } = stage;
    assert!(provider.next_request().await.json().to_string().contains("okapi"));
    server.stop().await;
}

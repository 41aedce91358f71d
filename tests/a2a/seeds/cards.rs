//! The cards that the guides print.

use openfang_testkit::{TestHome, TestServer};
use serde_json::{Value, json};

use super::super::isolation::user;
use super::super::wire::{ask, config};
use super::{assert_contains, house};

fn guides_card() -> Value {
    json!({
        "name": "code-reviewer",
        "description": "Reviews code for bugs, security issues, and style",
        "url": "http://127.0.0.1:50051/a2a",
        "version": "0.1.0",
        "capabilities": {"streaming": true, "pushNotifications": false, "stateTransitionHistory": true},
        "skills": [{
            "id": "file_read", "name": "file read", "description": "Can use the file_read tool",
            "tags": ["tool"], "examples": []
        }],
        "defaultInputModes": ["text"],
        "defaultOutputModes": ["text"]
    })
}

#[tokio::test]
async fn the_cards_of_the_guides() {
    let (_home, server) = house().await;
    let client = server.client();
    let card = client.get("/.well-known/agent.json").await.json();
    for guide in ["guide 000, card", "guide 001, card", "guide 003, card", "guide 004, card"] {
        assert_contains(guide, &card, &guides_card());
    }
    assert_eq!((&card["name"], &card["skills"][0]["id"]), (&json!("code-reviewer"), &json!("file_read")));
    assert_eq!((&card["skills"][0]["name"], &card["skills"][0]["tags"]), (&json!("file read"), &json!(["tool"])));
    assert_eq!(card["url"], format!("http://{}/a2a", server.address).as_str(), "{card}");
    assert_eq!(
        (&card["defaultInputModes"][0], &card["capabilities"]["streaming"]),
        (&json!("text/plain"), &json!(true))
    );

    let listed = client.get("/a2a/agents").await.json();
    let mut shown = guides_card();
    shown["skills"] = json!([]);
    for guide in ["guide 000, agents", "guide 001, agents", "guide 003, agents", "guide 004, agents"] {
        assert_contains(guide, &listed, &json!({"agents": [shown], "total": 1}));
    }
    assert_eq!(listed["total"], listed["agents"].as_array().unwrap().len());

    // The second system has users, so that its card says how they come in.
    let ada = user(&server, "ada").await;
    let card = client.get("/.well-known/agent.json").await.json();
    let public = json!({
        "name": "elixir-mcp-agent", "description": "An Elixir MCP server exposed via the A2A protocol",
        "url": "https://localhost/a2a", "version": "1.0.0",
        "capabilities": {"streaming": false, "pushNotifications": false, "stateTransitionHistory": true},
        "authentication": {"schemes": ["cookie"]},
        "defaultInputModes": ["text"], "defaultOutputModes": ["text"],
        "skills": [{"id": "add_numbers", "name": "add_numbers", "description": "...", "tags": [], "examples": []}]
    });
    assert_contains("guide 002, public card", &card, &public);
    let extended = ask(&ada, "agent/getAuthenticatedExtendedCard", json!({})).await;
    assert_contains("guide 002, authenticated card", &extended["result"], &public);
    assert_eq!(extended["result"]["name"], "worker", "of those that she may talk to");
    server.stop().await;
}

#[tokio::test]
async fn without_agents_there_is_a_placeholder_card() {
    let home = TestHome::new();
    std::fs::remove_dir_all(home.path().join("agents/starter")).unwrap();
    let server = TestServer::start(home.boot_with(config()).start().unwrap()).await;
    let card = server.client().get("/.well-known/agent.json").await;
    let mut guide = guides_card();
    guide["skills"] = json!([]);
    assert_eq!(card.status, 200);
    assert_contains("guide 004, placeholder", &card.json(), &guide);
    assert_eq!(server.client().get("/a2a/agents").await.json()["total"], 0);
    server.stop().await;
}

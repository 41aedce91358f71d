//! The card of an agent.

use jiff::Timestamp;
use openfang_types::agent::AgentManifest;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

use super::*;

fn manifest(description: &str) -> AgentManifest {
    let manifest = json!({ "name": "helper", "description": description, "model": { "provider": "direct" } });
    serde_json::from_value(manifest).unwrap()
}

fn shared() -> Endpoint {
    Endpoint::shared("http://127.0.0.1:50051", "/a2a")
}

#[test]
fn an_agent_with_a_model_is_a_skill_beside_its_tools_and_tags_are_on_all_of_them() {
    let manifest: AgentManifest = serde_json::from_value(json!({
        "name": "helper", "description": "Helps.", "tags": ["research"],
        "model": { "provider": "ollama", "model": "m" }
    }))
    .unwrap();
    let tools = [("file_read".parse().unwrap(), None)];

    let card = build_agent_card(&manifest, &tools, shared());

    let shown: Vec<_> = card.skills.iter().map(|skill| (skill.id.as_str(), skill.tags.join(" "))).collect();
    assert_eq!(shown, [("helper", "agent research".to_owned()), ("file_read", "tool research".to_owned())]);
}

#[test]
fn each_tool_is_a_skill() {
    let tools = [
        ("mcp_git_hub_open_pull".parse().unwrap(), Some("[MCP:git-hub] Öffnet 🦊".to_owned())),
        ("file_read".parse().unwrap(), None),
        ("file_list".parse().unwrap(), Some("  ".to_owned())),
    ];

    let card = build_agent_card(&manifest("Helps."), &tools, shared());

    let shown: Vec<_> = card
        .skills
        .iter()
        .map(|skill| (&*skill.id, &*skill.name, &*skill.description, skill.tags.join(","), skill.examples.len()))
        .collect();
    let expected = [
        ("mcp_git_hub_open_pull", "mcp git hub open pull", "[MCP:git-hub] Öffnet 🦊", "tool".to_owned(), 0),
        ("file_read", "file read", "Can use the file_read tool", "tool".to_owned(), 0),
        ("file_list", "file list", "Can use the file_list tool", "tool".to_owned(), 0),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn an_agent_that_shows_no_tools_is_a_skill_itself() {
    let card = build_agent_card(&manifest("Helps."), &[], shared());

    let expected = AgentSkill {
        id: "helper".to_owned(),
        name: "helper".to_owned(),
        description: "Helps.".to_owned(),
        tags: vec!["agent".to_owned()],
        examples: Vec::new(),
    };
    assert_eq!(card.skills, [expected]);
}

#[test]
fn an_agent_without_a_description_gets_one() {
    assert_eq!(build_agent_card(&manifest(" "), &[], shared()).description, "The agent helper");
}

#[test]
fn an_endpoint_is_the_houses_or_the_agents_own() {
    let name: AgentName = "helper".parse().unwrap();

    let own = Endpoint::of(&name, "https://agents.example.org/x", "/agents/a2a");

    assert_eq!(shared().url, "http://127.0.0.1:50051/a2a");
    assert_eq!(shared().http_json_url, "http://127.0.0.1:50051/a2a/rest");
    assert_eq!(own.url, "https://agents.example.org/x/agents/a2a/agents/helper");
    assert_eq!(own.http_json_url, own.url);
}

#[test]
fn the_placeholder_is_a_card_without_skills() {
    let card = placeholder_card(shared());

    assert_eq!((&*card.name, card.skills.len()), ("openfang", 0));
    assert!(!card.description.is_empty());
}

#[test]
fn a_document_has_a_tag_that_changes_with_its_bytes_only() {
    let card = build_agent_card(&manifest("Helps."), &[], shared());
    let other = build_agent_card(&manifest("Hilft."), &[], shared());
    let at = |card, form| CardDocument::new(card, form, Timestamp::UNIX_EPOCH);

    let first = at(&card, CardForm::Superset);

    assert_eq!(first.etag, CardDocument::new(&card, CardForm::Superset, Timestamp::MAX).etag);
    assert_ne!(first.etag, at(&card, CardForm::Strict).etag);
    assert_ne!(first.etag, at(&other, CardForm::Superset).etag);
    let bare = first.etag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')).unwrap();
    assert!(bare.len() == 32 && bare.bytes().all(|byte| byte.is_ascii_hexdigit()), "{bare}");
}

#[test]
fn a_listing_holds_the_cards_as_they_are() {
    let card = build_agent_card(&manifest("Helps."), &[], shared());
    let one = Arc::new(CardDocument::new(&card, CardForm::Superset, Timestamp::UNIX_EPOCH));

    let listed: Value = serde_json::from_slice(&listing(&[Arc::clone(&one), Arc::clone(&one)])).unwrap();

    let card: Value = serde_json::from_slice(&one.body).unwrap();
    assert_eq!(listed, json!({ "agents": [card, card], "total": 2 }));
    assert_eq!(&*listing(&[]), br#"{"agents":[],"total":0}"#);
}

proptest! {
    #[test]
    fn whatever_is_said_reads_back_as_it_was(description in any::<String>(), about in any::<String>()) {
        let tools = [("file_read".parse().unwrap(), Some(about))];
        let card = build_agent_card(&manifest(&description), &tools, shared());

        for form in [CardForm::Superset, CardForm::Strict] {
            let body = CardDocument::new(&card, form, Timestamp::UNIX_EPOCH).body;
            let read: Value = serde_json::from_slice(&body).unwrap();

            prop_assert_eq!(&read["description"], &card.description);
            prop_assert_eq!(&read["skills"][0]["description"], &card.skills[0].description);
            prop_assert!(!card.description.is_empty() && !card.skills[0].description.is_empty());
        }
    }
}

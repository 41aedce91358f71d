//! The card as clients of each version read it.

use openfang_types::agent::AgentManifest;
use serde_json::{Value, json};

use super::super::{Endpoint, build_agent_card, placeholder_card};
use super::*;

const BASE: &str = "http://127.0.0.1:50051";

fn security() -> Vec<SecurityScheme> {
    vec![SecurityScheme::Bearer, SecurityScheme::Cookie { name: "openfang_session".to_owned() }]
}

fn reviewer(security: Vec<SecurityScheme>) -> AgentCard {
    let manifest: AgentManifest = serde_json::from_value(json!({
        "name": "code-reviewer", "description": "Reviews code for bugs, security issues, and style",
        "model": { "provider": "direct" },
    }))
    .unwrap();
    build_agent_card(
        &manifest,
        &[("file_read".parse().unwrap(), None)],
        Endpoint { security, ..Endpoint::shared(BASE, "/a2a") },
    )
}

fn written(card: &AgentCard, form: CardForm) -> Value {
    serde_json::to_value(RenderedCard(card, form)).unwrap()
}

fn signed(security: Vec<SecurityScheme>) -> AgentCard {
    let signature = CardSignature { protected: "e30".to_owned(), signature: "AAAA".to_owned() };
    AgentCard { signatures: vec![signature], ..reviewer(security) }
}

#[test]
fn the_strict_card_is_the_card_of_1_0() {
    let expected = json!({
        "name": "code-reviewer",
        "description": "Reviews code for bugs, security issues, and style",
        "supportedInterfaces": [
            { "url": "http://127.0.0.1:50051/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0" },
            { "url": "http://127.0.0.1:50051/a2a/rest", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0" },
            { "url": "http://127.0.0.1:50051/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "0.3" },
            { "url": "http://127.0.0.1:50051/a2a/rest", "protocolBinding": "HTTP+JSON", "protocolVersion": "0.3" },
        ],
        "version": env!("CARGO_PKG_VERSION"),
        "capabilities": { "streaming": true, "pushNotifications": true, "extendedAgentCard": true },
        "securitySchemes": {
            "bearer": { "httpAuthSecurityScheme": { "scheme": "Bearer" } },
            "cookie": { "apiKeySecurityScheme": { "location": "cookie", "name": "openfang_session" } },
        },
        "securityRequirements": [
            { "schemes": { "bearer": { "list": [] } } },
            { "schemes": { "cookie": { "list": [] } } },
        ],
        "defaultInputModes": ["text/plain", "application/json"],
        "defaultOutputModes": ["text/plain", "application/json"],
        "skills": [{
            "id": "file_read", "name": "file read", "description": "Can use the file_read tool",
            "tags": ["tool"], "examples": [],
        }],
        "signatures": [{ "protected": "e30", "signature": "AAAA" }],
    });

    assert_eq!(written(&signed(security()), CardForm::Strict), expected);
}

#[test]
fn the_superset_adds_what_older_versions_read_and_changes_nothing() {
    let mut expected = written(&signed(security()), CardForm::Strict);
    let older = json!({
        "url": "http://127.0.0.1:50051/a2a",
        "preferredTransport": "JSONRPC",
        "protocolVersion": "0.3.0",
        "additionalInterfaces": [
            { "url": "http://127.0.0.1:50051/a2a", "transport": "JSONRPC" },
            { "url": "http://127.0.0.1:50051/a2a/rest", "transport": "HTTP+JSON" },
        ],
        "supportsAuthenticatedExtendedCard": true,
        "authentication": { "schemes": ["bearer", "cookie"] },
        "security": [{ "bearer": [] }, { "cookie": [] }],
    });
    expected.as_object_mut().unwrap().extend(older.as_object().unwrap().clone());
    expected["capabilities"]["stateTransitionHistory"] = json!(true);
    expected["securitySchemes"]["bearer"]["type"] = json!("http");
    expected["securitySchemes"]["bearer"]["scheme"] = json!("Bearer");
    expected["securitySchemes"]["cookie"]["type"] = json!("apiKey");
    expected["securitySchemes"]["cookie"]["in"] = json!("cookie");
    expected["securitySchemes"]["cookie"]["name"] = json!("openfang_session");

    assert_eq!(written(&signed(security()), CardForm::Superset), expected);
}

#[test]
fn where_nothing_is_asked_for_nothing_is_said_about_it() {
    for form in [CardForm::Superset, CardForm::Strict] {
        let card = written(&reviewer(Vec::new()), form);

        for member in ["securitySchemes", "securityRequirements", "security", "authentication", "signatures"] {
            assert_eq!(card.get(member), None, "{member}");
        }
    }
}

#[test]
fn the_superset_validates_against_the_schemas_of_all_older_versions() {
    let schemas = [
        ("$defs", include_str!("../../../../tests/schemas/a2a/v0.1.0.json")),
        ("definitions", include_str!("../../../../tests/schemas/a2a/v0.2.6.json")),
        ("definitions", include_str!("../../../../tests/schemas/a2a/v0.3.0.json")),
    ];
    let cards = [
        signed(security()),
        reviewer(Vec::new()),
        placeholder_card(Endpoint { security: security(), ..Endpoint::shared(BASE, "/a2a") }),
    ];
    for (definitions, schema) in schemas {
        let mut schema: Value = serde_json::from_str(schema).unwrap();
        schema["$ref"] = json!(format!("#/{definitions}/AgentCard"));
        let validator = jsonschema::validator_for(&schema).unwrap();
        for card in &cards {
            let card = written(card, CardForm::Superset);
            let faults: Vec<_> = validator.iter_errors(&card).map(|fault| fault.to_string()).collect();
            assert!(faults.is_empty(), "{faults:?}");
        }
        assert!(!validator.is_valid(&written(&reviewer(Vec::new()), CardForm::Strict)), "the schema is not looked at");
    }
}

#[test]
fn the_superset_has_the_members_of_openfangs_first_cards() {
    let card = written(&reviewer(security()), CardForm::Superset);

    assert_eq!(card["url"], "http://127.0.0.1:50051/a2a");
    assert_eq!(card["version"], "0.1.0");
    assert_eq!(card["capabilities"]["stateTransitionHistory"], true);
    assert_eq!(card["authentication"]["schemes"], json!(["bearer", "cookie"]));
    let skill = json!({
        "id": "file_read", "name": "file read", "description": "Can use the file_read tool", "tags": ["tool"], "examples": [],
    });
    assert_eq!(card["skills"], json!([skill]));
}

#[test]
fn a_card_says_what_is_off_and_what_is_required() {
    let capabilities = AgentCapabilities {
        streaming: false,
        push_notifications: false,
        state_transition_history: false,
        extended_agent_card: false,
        required_extensions: vec!["urn:example:x".to_owned()],
        tools: BTreeMap::new(),
    };
    let card = AgentCard { capabilities, ..reviewer(Vec::new()) };

    let (superset, strict) = (written(&card, CardForm::Superset), written(&card, CardForm::Strict));

    let mut expected = json!({
        "streaming": false, "pushNotifications": false, "extendedAgentCard": false,
        "extensions": [{ "uri": "urn:example:x", "required": true }],
    });
    assert_eq!(strict["capabilities"], expected);
    expected["stateTransitionHistory"] = json!(false);
    assert_eq!(superset["capabilities"], expected);
    assert_eq!(superset["supportsAuthenticatedExtendedCard"], false);
}

#[test]
fn a_card_has_the_schemas_of_tools_as_an_extension_that_nobody_must_know() {
    let input_schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let schemas = SkillSchemas { input_schema: input_schema.clone(), output_schema: None };
    let tools = BTreeMap::from([("file_read".to_owned(), schemas)]);
    let capabilities = AgentCapabilities { tools, ..AgentCapabilities::default() };

    let card = written(&AgentCard { capabilities, ..reviewer(Vec::new()) }, CardForm::Strict);

    let extension = &card["capabilities"]["extensions"][0];
    assert_eq!((&extension["uri"], &extension["required"]), (&json!("urn:openfang:a2a:tools:1"), &json!(false)));
    assert_eq!(extension["params"], json!({ "file_read": { "inputSchema": input_schema } }));
}

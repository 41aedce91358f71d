//! The vendors' own SDKs as judges: they read what our scripted provider writes, and their types check what we send.

use std::sync::Arc;

use openfang_model::{
    CallResult, Item, Media, ModelRequest, OutputSchema, Part, Quirks, Reasoning, ToolChoice, ToolSpec, Toolbox,
    WireKind, encode,
};
use openfang_testkit::FakeProvider;
use openfang_testkit::fake_provider::answers::{Say, answer};
use serde_json::{Value, json};

use super::{asked, client, request, tool};
use crate::support::peers::models;

#[tokio::test]
async fn the_sdks_of_the_vendors_read_what_the_scripted_provider_writes() {
    for wire in WireKind::ALL {
        let provider = FakeProvider::start().await;
        let says = [Say::text("Let me add."), Say::call("call_1", "add_numbers", json!({ "a": 3, "b": 7 }))];
        provider.script([answer(wire, &says)]);
        let base = match wire {
            WireKind::Responses | WireKind::Chat => format!("{}/v1", provider.url()),
            WireKind::Anthropic | WireKind::Gemini | WireKind::Ollama => provider.url(),
        };

        let understood = tokio::task::spawn_blocking(move || models::ask(wire.as_str(), &base)).await.unwrap();

        let expected = json!({
            "text": "Let me add.", "calls": [["add_numbers", { "a": 3, "b": 7 }]], "input": 20, "output": 9,
        });
        assert_eq!(understood, expected, "{wire}");
    }
}

/// A conversation with everything that can be sent: what a model of this wire said, results with an image, a failure.
async fn conversation(wire: WireKind, model: &str) -> ModelRequest {
    let provider = FakeProvider::start().await;
    let says = [
        Say::text("Let me add."),
        Say::call("call_1", "add_numbers", json!({ "a": 3, "b": 7 })),
        Say::call("call_2", "add_numbers", json!({ "a": 1, "b": 2 })),
    ];
    provider.script([answer(wire, &says)]);
    let mut request = ModelRequest { model: model.to_owned(), ..request("What is 3 + 7?") };
    request.capabilities = openfang_model::Capabilities::of(model);
    let said = asked(&client(wire, &provider.url()), &request).await.1.unwrap();
    let image = Media { media_type: "image/png".to_owned(), data: Arc::from("iVBORw0KGgo=") };
    let mut parts =
        vec![vec![Part::Text { text: "10".to_owned() }, Part::Image(image.clone())], Vec::new()].into_iter();
    let results = said.runnable_calls().enumerate().map(|(place, call)| CallResult {
        call: call.id.clone(),
        name: call.name.clone(),
        parts: parts.next().unwrap(),
        is_error: place == 1,
    });
    let results = results.collect();
    request
        .items
        .push(Arc::new(Item::Answer { blocks: said.blocks, native: Some(said.native) }));
    request.items.push(Arc::new(Item::Results { results }));
    let question = vec![Part::Text { text: "And this?".to_owned() }, Part::Image(image)];
    request.items.push(Arc::new(Item::User { parts: question }));
    request
}

#[tokio::test]
async fn the_types_of_the_vendors_accept_every_request_of_ours() {
    let odd = ToolSpec {
        schema: json!({ "oneOf": [
            { "properties": { "id": { "$ref": "#/$defs/id" } }, "required": ["id"] },
            { "properties": { "tags": { "type": "array" } }, "required": ["tags"] },
        ], "$defs": { "id": { "type": ["string", "null"] } } }),
        ..tool("3d.print/now")
    };
    let schema = serde_json::value::to_raw_value(&json!({ "type": "object", "properties": {} })).unwrap();
    let mut bodies = Vec::new();
    for (wire, model) in [
        (WireKind::Anthropic, "claude-sonnet-4-6"),
        (WireKind::Anthropic, "claude-sonnet-4-5"),
        (WireKind::Responses, "gpt-5.2"),
        (WireKind::Chat, "gpt-4.1"),
        (WireKind::Gemini, "gemini-3-pro"),
        (WireKind::Gemini, "gemini-2.5-flash"),
        (WireKind::Ollama, "gemma3"),
    ] {
        let whole = conversation(wire, model).await;
        for replay_native in [true, false] {
            for reasoning in
                [Reasoning::Default, Reasoning::Off, Reasoning::Low, Reasoning::High, Reasoning::Tokens(2_000)]
            {
                for tool_choice in [
                    ToolChoice::Auto,
                    ToolChoice::None,
                    ToolChoice::Required,
                    ToolChoice::Tool("add_numbers".to_owned()),
                ] {
                    let mut request = whole.clone();
                    request.tools = Arc::new(Toolbox::new(vec![tool("add_numbers"), odd.clone()]));
                    request.options.replay_native = replay_native;
                    request.options.reasoning = reasoning;
                    request.options.tool_choice = tool_choice;
                    // The SDK of Anthropic no longer knows a temperature, which its older models still take.
                    request.options.temperature = Some(0.3).filter(|_| wire != WireKind::Anthropic);
                    request.options.context_tokens = Some(8_192);
                    request.options.output = Some(OutputSchema { name: "answer".to_owned(), schema: schema.clone() });
                    let encoded = encode(wire, &request, &Quirks::default()).unwrap();
                    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
                    bodies.push(json!({ "wire": wire.as_str(), "body": body }));
                }
            }
        }
    }

    let checked = bodies.clone();
    let errors = tokio::task::spawn_blocking(move || models::validate(&checked)).await.unwrap();

    assert_eq!(errors.len(), bodies.len());
    for (error, body) in errors.iter().zip(&bodies) {
        assert_eq!(error, &Value::Null, "{body}");
    }
}

#[tokio::test]
async fn the_judges_notice_a_member_that_does_not_exist() {
    let bodies: Vec<Value> = WireKind::ALL
        .iter()
        .map(|wire| {
            let encoded = encode(*wire, &request("Hi"), &Quirks::default()).unwrap();
            let mut body: Value = serde_json::from_slice(&encoded.body).unwrap();
            body["nonsense"] = json!(1);
            json!({ "wire": wire.as_str(), "body": body })
        })
        .collect();

    let errors = tokio::task::spawn_blocking(move || models::validate(&bodies)).await.unwrap();

    assert!(errors.iter().all(Value::is_string), "{errors:?}");
}

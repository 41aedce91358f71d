//! Model providers: our client against a scripted provider and against a real model, and the vendors' own SDKs against
//! our scripted provider and our requests.

mod client;
mod real;
mod sdks;

use std::sync::Arc;

use openfang_egress::http::{HttpConfig, HttpDoor};
use openfang_model::{
    Delta, Endpoint, Item, ModelAnswer, ModelClient, ModelError, ModelRequest, ToolSpec, Toolbox, WireKind,
};
use serde_json::json;

fn door() -> HttpDoor {
    HttpDoor::new(HttpConfig::default()).unwrap()
}

/// A client of a server that speaks a wire. OpenAI's and Gemini's base URLs end in a version.
fn client(wire: WireKind, url: &str) -> ModelClient {
    let base = match wire {
        WireKind::Anthropic | WireKind::Ollama => url.to_owned(),
        WireKind::Responses | WireKind::Chat => format!("{url}/v1"),
        WireKind::Gemini => format!("{url}/v1beta"),
    };
    ModelClient::new(door(), Endpoint::at(wire, &base)).unwrap()
}

fn tool(name: &str) -> ToolSpec {
    let schema = json!({
        "type": "object", "required": ["a", "b"],
        "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } },
    });
    ToolSpec { name: name.to_owned(), description: "Adds two numbers.".to_owned(), schema }
}

fn request(text: &str) -> ModelRequest {
    let mut request = ModelRequest::new("m", vec![Arc::new(Item::user(text))]);
    request.system = Arc::from("Be brief.");
    request.tools = Arc::new(Toolbox::new(vec![tool("add_numbers")]));
    request
}

/// Asks, and returns the text that was told on the way with the answer.
async fn asked(client: &ModelClient, request: &ModelRequest) -> (String, Result<ModelAnswer, ModelError>) {
    let mut text = String::new();
    let answer = client
        .answer(request, &mut |delta| {
            if let Delta::Text(more) = delta {
                text.push_str(more);
            }
        })
        .await;
    (text, answer)
}

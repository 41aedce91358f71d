//! Messages to the fixture, as raw HTTP.

use std::time::Duration;

use openfang_testkit::http::{Answer, Client};
use openfang_testkit::mcp_fixture::RunningFixture;
use serde_json::{Value, json};

pub(super) const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
pub(super) const MODERN: &str = "2026-07-28";

/// Long enough for a loaded machine; nothing waits for it when things go well.
const PATIENCE: Duration = Duration::from_secs(30);

/// A conversation in one revision.
pub(super) struct Talk {
    pub(super) client: Client,
    is_modern: bool,
}

impl Talk {
    /// Shakes hands in a legacy revision, or none in the modern one.
    pub(super) async fn begin(fixture: &RunningFixture, revision: &str, capabilities: &Value) -> Self {
        if revision == MODERN {
            let client = fixture.client().with("mcp-protocol-version", MODERN);
            return Self { client, is_modern: true };
        }
        let params = json!({
            "protocolVersion": revision, "capabilities": capabilities, "clientInfo": { "name": "t", "version": "1" },
        });
        let answer = fixture.client().post("/mcp", &request("initialize", &params)).await;
        assert_eq!(answer.json()["result"]["protocolVersion"], revision);
        let session = answer.header("mcp-session-id").unwrap();
        let client = fixture.client().with("mcp-session-id", session).with("mcp-protocol-version", revision);
        Self { client, is_modern: false }
    }

    /// Sends a request and reads the one message that answers it.
    pub(super) async fn ask(&self, method: &str, params: Value) -> Answer {
        let (client, body) = self.prepared(method, params);
        client.post("/mcp", &body).await
    }

    /// The result of a request.
    pub(super) async fn result(&self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await;
        let message = answer.json();
        assert_eq!((answer.status, &message["error"]), (200, &Value::Null), "{method}");
        message["result"].clone()
    }

    /// The result of a tool.
    pub(super) async fn call(&self, tool: &str) -> Value {
        self.result("tools/call", json!({ "name": tool })).await
    }

    /// The messages that a request is answered with, one after the other.
    pub(super) async fn stream(&self, method: &str, params: Value) -> Vec<Value> {
        let (client, body) = self.prepared(method, params);
        let mut lines = client.stream("POST", "/mcp", Some(&body.to_string())).await;
        soon(lines.events()).await.into_iter().map(|(_, _, message)| message).collect()
    }

    /// The first message on the stream that a request is answered with, whatever follows.
    pub(super) async fn first(&self, method: &str, params: Value) -> Value {
        let (client, body) = self.prepared(method, params);
        let mut lines = client.stream("POST", "/mcp", Some(&body.to_string())).await;
        soon(lines.event()).await.unwrap().2
    }

    fn prepared(&self, method: &str, mut params: Value) -> (Client, Value) {
        let mut client = self.client.clone();
        if self.is_modern {
            client = client.with("mcp-method", method);
            if let Some(name) = params["name"].as_str().or_else(|| params["uri"].as_str()) {
                client = client.with("mcp-name", name);
            }
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        (client, request(method, &params))
    }
}

/// What must come, or the test has waited long enough for it.
pub(super) async fn soon<T>(coming: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, coming).await.unwrap()
}

pub(super) fn request(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params })
}

/// The names of an object's members, in order.
pub(super) fn members(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

/// The entry of that name.
pub(super) fn named<'a>(entries: &'a Value, name: &str) -> &'a Value {
    let mut entries = entries.as_array().unwrap().iter();
    entries.find(|entry| entry["name"] == name).unwrap_or_else(|| panic!("no {name}"))
}

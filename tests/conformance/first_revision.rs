//! 2024-11-05, which the suite does not know: over `POST /mcp`, and over its own transport, `GET /sse` and
//! `POST /messages`. Nothing that a later revision has invented may show.

use openfang_testkit::http::{Client, Lines};
use openfang_testkit::mcp_fixture::{self, RunningFixture};
use serde_json::{Value, json};

use super::talk::{Talk, members, named, request, soon};

const FIRST: &str = "2024-11-05";

#[tokio::test]
async fn initialize_is_answered_in_the_first_revision_whether_it_is_named_or_not() {
    let fixture = mcp_fixture::start().await;
    let named = json!({ "protocolVersion": FIRST, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let bodies = [
        request("initialize", &named),
        request("initialize", &json!({})),
        json!({ "jsonrpc": "2.0", "id": 7, "method": "initialize" }),
    ];
    for body in bodies {
        let answer = fixture.client().post("/mcp", &body).await;

        let message = answer.json();
        let result = &message["result"];
        assert_eq!((answer.status, &result["protocolVersion"]), (200, &json!(FIRST)), "{body}");
        assert_eq!(members(result), ["capabilities", "instructions", "protocolVersion", "serverInfo"]);
        assert_eq!(members(&result["serverInfo"]), ["name", "version"]);
        assert_eq!(members(&result["capabilities"]), ["logging", "prompts", "resources", "tools"]);
    }
}

#[tokio::test]
async fn lists_have_the_members_of_the_first_revision() {
    let fixture = mcp_fixture::start().await;
    let talk = Talk::begin(&fixture, FIRST, &json!({})).await;

    let tools = talk.result("tools/list", json!({})).await;
    let resources = talk.result("resources/list", json!({})).await;
    let prompts = talk.result("prompts/list", json!({})).await;

    assert_eq!([members(&tools), members(&resources), members(&prompts)], [["tools"], ["resources"], ["prompts"]]);
    let tool = named(&tools["tools"], "test_structured_content");
    assert_eq!(members(tool), ["description", "inputSchema", "name"]);
    let resource = named(&resources["resources"], "static-text");
    assert_eq!(members(resource), ["description", "mimeType", "name", "uri"]);
    assert_eq!(members(named(&prompts["prompts"], "test_simple_prompt")), ["description", "name"]);
}

#[tokio::test]
async fn results_hold_what_the_first_revision_can_carry() {
    let fixture = mcp_fixture::start().await;
    let talk = Talk::begin(&fixture, FIRST, &json!({})).await;

    let structured = talk.call("test_structured_content").await;
    let audio = talk.call("test_audio_content").await;
    let link = talk.call("test_resource_link").await;
    let mixed = talk.call("test_multiple_content_types").await;

    assert_eq!(structured, json!({ "content": [{ "type": "text", "text": "{\"answer\":42}" }] }));
    assert_eq!((&audio["content"][0]["type"], audio["content"][0].get("data")), (&json!("text"), None));
    assert_eq!(link["content"], json!([{ "type": "text", "text": "static-text: test://static-text" }]));
    let kinds: Vec<&Value> = mixed["content"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
    assert_eq!(kinds, ["text", "image", "resource"]);
}

#[tokio::test]
async fn methods_and_questions_of_later_revisions_do_not_exist_in_the_first() {
    let fixture = mcp_fixture::start().await;
    let talk = Talk::begin(&fixture, FIRST, &json!({ "elicitation": {} })).await;

    let listened = talk.ask("subscriptions/listen", json!({ "notifications": {} })).await;
    let elicitation = json!({ "name": "test_elicitation", "arguments": { "message": "?" } });
    let asked = talk.first("tools/call", elicitation).await;

    assert_eq!(listened.json()["error"]["code"], -32_601);
    assert_eq!(asked["error"]["code"], -32_600, "{asked}");
}

/// A peer of the old transport.
struct OldPeer {
    client: Client,
    endpoint: String,
    stream: Lines,
}

impl OldPeer {
    async fn connect(fixture: &RunningFixture) -> Self {
        let client = fixture.client();
        let mut stream = client.stream("GET", "/sse", None).await;
        while stream.next().await.unwrap() != "event: endpoint" {}
        let endpoint = stream.next().await.unwrap().strip_prefix("data: ").unwrap().to_owned();
        Self { client, endpoint, stream }
    }

    async fn post(&self, message: &Value) {
        let answer = self.client.post(&self.endpoint, message).await;
        assert_eq!((answer.status, answer.body.as_str()), (202, ""), "{message}");
    }

    /// The next message on the stream.
    async fn heard(&mut self) -> Value {
        let (event, id, message) = soon(self.stream.event()).await.unwrap();
        assert_eq!((event.as_str(), id.as_str()), ("message", ""));
        message
    }

    async fn result(&mut self, method: &str, params: Value) -> Value {
        self.post(&request(method, &params)).await;
        self.heard().await["result"].clone()
    }

    async fn introduced(fixture: &RunningFixture, capabilities: &Value) -> Self {
        let mut peer = Self::connect(fixture).await;
        let params = json!({ "protocolVersion": FIRST, "capabilities": capabilities });
        assert_eq!(peer.result("initialize", params).await["protocolVersion"], FIRST);
        peer.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        peer
    }
}

#[tokio::test]
async fn the_old_transport_answers_on_its_stream() {
    let fixture = mcp_fixture::start().await;
    let mut peer = OldPeer::introduced(&fixture, &json!({})).await;

    let tools = peer.result("tools/list", json!({})).await;
    let result = peer.result("tools/call", json!({ "name": "test_simple_text", "arguments": {} })).await;

    assert_eq!(members(named(&tools["tools"], "test_structured_content")), ["description", "inputSchema", "name"]);
    let text = "This is a simple text response for testing.";
    assert_eq!(result, json!({ "content": [{ "type": "text", "text": text }] }));
}

#[tokio::test]
async fn the_old_transport_carries_progress_logs_and_a_connection_that_is_not_to_end() {
    let fixture = mcp_fixture::start().await;
    let mut peer = OldPeer::introduced(&fixture, &json!({})).await;

    let call = json!({ "name": "test_tool_with_progress", "_meta": { "progressToken": "p" } });
    peer.post(&request("tools/call", &call)).await;
    for progress in [0.0, 50.0, 100.0] {
        let expected = json!({ "progressToken": "p", "progress": progress, "total": 100.0 });
        assert_eq!(peer.heard().await["params"], expected);
    }
    assert_eq!(peer.heard().await["id"], 7);
    peer.post(&request("tools/call", &json!({ "name": "test_logging_tool" }))).await;
    assert_eq!(peer.heard().await["method"], "notifications/message");
    assert_eq!(peer.heard().await["id"], 7);
    let result = peer.result("tools/call", json!({ "name": "test_reconnection" })).await;
    assert_eq!(result["content"][0]["type"], "text");
}

#[tokio::test]
async fn the_old_transport_carries_questions_and_changes() {
    let fixture = mcp_fixture::start().await;
    let mut peer = OldPeer::introduced(&fixture, &json!({ "sampling": {} })).await;

    peer.post(&request("tools/call", &json!({ "name": "test_sampling", "arguments": { "prompt": "?" } })))
        .await;
    let question = peer.heard().await;
    assert_eq!(question["method"], "sampling/createMessage");
    let said = json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "yes" } });
    peer.post(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": said })).await;
    assert_eq!(peer.heard().await["result"]["content"][0]["text"], "LLM response: yes");

    let watched = json!({ "uri": "test://watched-resource" });
    assert_eq!(peer.result("resources/subscribe", watched.clone()).await, json!({}));
    peer.post(&request("tools/call", &json!({ "name": "test_trigger_resource_change" })))
        .await;
    let (one, other) = (peer.heard().await, peer.heard().await);
    let told = if one.get("method").is_some() { one } else { other };
    assert_eq!((&told["method"], &told["params"]), (&json!("notifications/resources/updated"), &watched));
    let read = peer.result("resources/read", watched).await;
    assert_eq!(read["contents"][0]["text"], "Edition 2.");
}

#[tokio::test]
async fn an_endpoint_of_the_old_transport_is_gone_with_its_stream() {
    let fixture = mcp_fixture::start().await;
    let OldPeer { client, endpoint, stream } = OldPeer::introduced(&fixture, &json!({})).await;
    let strange = client.post("/messages?sessionId=0", &request("ping", &json!({}))).await;
    drop(stream);

    assert_eq!(strange.status, 404);
    soon(async { while client.post(&endpoint, &request("ping", &json!({}))).await.status != 404 {} }).await;
}

//! The exchanges of the MCP server that the integration guide prints: what is answered contains the guide's members,
//! with the guide's types.

use openfang_kernel::mcp::View;
use openfang_testkit::{TestHome, callers};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::wire::{Pipe, request, server, texts};

/// Every member of the guide is there, of the same type.
fn contains(answer: &Value, guide: &Value) -> bool {
    match (answer, guide) {
        (Value::Object(answer), Value::Object(guide)) => guide
            .iter()
            .all(|(name, member)| answer.get(name).is_some_and(|own| contains(own, member))),
        (Value::Array(answer), Value::Array(guide)) => {
            guide.iter().all(|member| answer.iter().any(|own| contains(own, member)))
        }
        (Value::String(_), Value::String(_)) | (Value::Number(_), Value::Number(_)) => true,
        (answer, guide) => answer == guide,
    }
}

fn guides_initialize() -> Value {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "cursor", "version": "1.0"},
        },
    })
}

#[tokio::test]
async fn the_guides_handshake_list_and_call_work_over_http_and_stdio() {
    let (_home, server) = server().await;
    let kernel = super::wire::agents(TestHome::new())
        .with_direct("code-reviewer", &["get_greeting"])
        .kernel();
    let mut pipe = Pipe::open(&kernel, View::Agents);
    pipe.send(&guides_initialize()).await;
    for answer in [server.client().post("/mcp", &guides_initialize()).await.json(), pipe.next().await] {
        assert_eq!(answer["result"]["protocolVersion"], "2024-11-05");
        let guide = json!({
            "jsonrpc": "2.0", "id": 1,
            "result": {
                "protocolVersion": "2024-11-05", "capabilities": {"tools": {}},
                "serverInfo": {"name": "openfang", "version": "0.1.0"},
            },
        });
        assert!(contains(&answer, &guide), "{answer}");
    }

    pipe.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    let listed = pipe.ask(2, "tools/list", json!({})).await;
    let guide = json!({"result": {"tools": [{"name": "x", "description": "x", "inputSchema": {
        "type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"],
    }}]}});
    assert!(contains(&listed, &guide), "{listed}");
    let names: Vec<&Value> = listed["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert!(names.contains(&&json!("openfang_agent_code_reviewer")), "{names:?}");

    let call =
        json!({"name": "openfang_agent_code_reviewer", "arguments": {"message": "/get_greeting {\"name\": \"Ada\"}"}});
    let called = pipe.ask(3, "tools/call", call).await;
    let guide = json!({"jsonrpc": "2.0", "id": 3, "result": {"content": [{"type": "text", "text": "x"}]}});
    assert!(contains(&called, &guide), "{called}");
    assert_eq!(texts(&called["result"]), ["Hello, Ada!"]);
    assert_eq!(pipe.ask(4, "nope", json!({})).await["error"]["code"], -32601);
    let http = server.client().post("/mcp", &request(4, "nope", json!({}))).await.json();
    assert_eq!(http["error"]["code"], -32601);
    pipe.end().await;
    server.stop().await;
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the test waits for it at its end")]
async fn a_client_that_frames_by_length_as_the_guide_says_is_answered_in_kind() {
    let home = TestHome::new();
    let kernel = home.kernel();
    let caller = callers::operator(&kernel);
    let (mut ours, theirs) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(theirs);
    let server = kernel.mcp_server(View::Agents);
    let served = tokio::spawn(async move { server.serve_stdio(caller, input, output).await });
    let message = guides_initialize().to_string();
    let framed = format!("Content-Length: {}\r\n\r\n{message}", message.len());
    ours.write_all(framed.as_bytes()).await.unwrap();
    ours.write_all(b"Content-Length: -3\r\n\r\n").await.unwrap();
    ours.write_all(framed.as_bytes()).await.unwrap();
    ours.shutdown().await.unwrap();

    let mut answered = String::new();
    ours.read_to_string(&mut answered).await.unwrap();

    let mut bodies = Vec::new();
    let mut rest = answered.as_str();
    while let Some((head, behind)) = rest.split_once("\r\n\r\n") {
        let length: usize = head.strip_prefix("Content-Length: ").unwrap().parse().unwrap();
        bodies.push(serde_json::from_str::<Value>(&behind[..length]).unwrap());
        rest = &behind[length..];
    }
    bodies.sort_by_key(|body| body["error"].is_object());
    assert_eq!(bodies.len(), 3, "{answered}");
    assert_eq!(bodies[0]["result"]["protocolVersion"], "2024-11-05");
    assert_eq!(bodies[2]["error"]["code"], -32700);
    served.await.unwrap().unwrap();
}

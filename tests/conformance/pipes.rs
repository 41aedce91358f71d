//! The fixture on a pipe, where the suite does not go: both eras, one line a message.

use openfang_testkit::mcp_fixture;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::talk::{MODERN, request, soon};

/// More than any message of these tests.
const PIPE_BYTES: usize = 64 * 1024;

/// The client's end.
struct Pipe {
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    tracker: TaskTracker,
}

impl Pipe {
    fn open() -> Self {
        let tracker = TaskTracker::new();
        let server = mcp_fixture::server(tracker.clone(), CancellationToken::new());
        let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
        tracker.spawn(async move {
            let (input, output) = tokio::io::split(theirs);
            server.serve_stdio((), input, output).await
        });
        let (output, input) = tokio::io::split(ours);
        Self { input, output: BufReader::new(output).lines(), tracker }
    }

    async fn say(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn heard(&mut self) -> Value {
        serde_json::from_str(&soon(self.output.next_line()).await.unwrap().unwrap()).unwrap()
    }

    async fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.say(&request(method, params)).await;
        self.heard().await
    }

    async fn initialize(&mut self, capabilities: &Value) {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities });
        assert_eq!(self.ask("initialize", &params).await["result"]["protocolVersion"], "2025-11-25");
    }
}

fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

#[tokio::test]
async fn both_eras_share_a_pipe_and_the_modern_one_has_no_handshake() {
    let mut pipe = Pipe::open();

    let discovered = pipe.ask("server/discover", &modern(json!({}))).await;
    let shaken = pipe.ask("initialize", &modern(json!({}))).await;
    pipe.initialize(&json!({})).await;
    let legacy = pipe.ask("tools/call", &json!({ "name": "test_simple_text" })).await;
    let called = pipe.ask("tools/call", &modern(json!({ "name": "test_simple_text" }))).await;

    assert_eq!(discovered["result"]["supportedVersions"], json!([MODERN]));
    assert_eq!(shaken["error"]["code"], -32_601);
    assert_eq!(legacy["result"].get("resultType"), None);
    assert_eq!(called["result"]["resultType"], "complete");
}

#[tokio::test]
async fn a_legacy_client_on_a_pipe_is_asked_as_often_as_it_takes() {
    let mut pipe = Pipe::open();
    pipe.initialize(&json!({ "elicitation": {} })).await;

    pipe.say(&request("tools/call", &json!({ "name": "test_input_required_result_multi_round" })))
        .await;
    for (message, content) in [("Step 1", json!({ "name": "Ada" })), ("Step 2", json!({ "color": "blue" }))] {
        let question = pipe.heard().await;
        assert_eq!(question["method"], "elicitation/create");
        assert!(question["params"]["message"].as_str().unwrap().starts_with(message), "{question}");
        let answer = json!({ "action": "accept", "content": content });
        pipe.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer })).await;
    }

    assert_eq!(pipe.heard().await["result"]["content"][0]["text"], "Ada likes blue.");
}

#[tokio::test]
async fn a_tool_that_ends_its_connection_does_not_end_a_pipe() {
    let mut pipe = Pipe::open();
    pipe.initialize(&json!({})).await;

    let called = pipe.ask("tools/call", &json!({ "name": "test_reconnection" })).await;
    let pinged = pipe.ask("ping", &json!({})).await;

    assert_eq!(called["result"]["content"][0]["type"], "text");
    assert_eq!(pinged["result"], json!({}));
}

#[tokio::test]
async fn the_work_of_a_pipe_is_over_when_its_input_ends() {
    let mut pipe = Pipe::open();
    pipe.initialize(&json!({ "elicitation": {} })).await;
    pipe.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    pipe.say(&request("tools/call", &json!({ "name": "test_input_required_result_elicitation" })))
        .await;
    assert_eq!(pipe.heard().await["method"], "elicitation/create");

    let Pipe { input, output, tracker } = pipe;
    drop((input, output));
    tracker.close();

    soon(tracker.wait()).await;
}

//! Messages and connections of the tests beside this file.

use openfang_kernel::mcp::View;
use openfang_kernel::{Caller, Kernel};
use openfang_testkit::http::{Answer, Client};
use openfang_testkit::{TestHome, TestServer, callers};
use openfang_types::principal::Door;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf,
};

pub(crate) const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
pub(crate) const MODERN: &str = "2026-07-28";

/// A request.
pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

/// The request that begins a legacy conversation.
pub(crate) fn initialize(version: &str, capabilities: Value) -> Value {
    let client = json!({"name": "test", "version": "1"});
    request(0, "initialize", json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": client}))
}

/// Parameters as a modern request has them.
pub(crate) fn modern(mut params: Value, capabilities: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
    params
}

/// A client whose headers say what this modern request says.
pub(crate) fn headed(client: &Client, message: &Value) -> Client {
    let method = message["method"].as_str().unwrap();
    let client = client.clone().with("mcp-protocol-version", MODERN).with("mcp-method", method);
    match message["params"]["name"].as_str().or_else(|| message["params"]["uri"].as_str()) {
        Some(name) if method != "tools/list" => client.with("mcp-name", name),
        _ => client,
    }
}

/// Sends a modern request over HTTP.
pub(crate) async fn ask_modern(client: &Client, method: &str, params: Value) -> Answer {
    let message = request(1, method, modern(params, json!({})));
    headed(client, &message).post("/mcp", &message).await
}

/// Begins a session over HTTP and returns a client that speaks in it.
pub(crate) async fn session(client: &Client, version: &str, capabilities: Value) -> Client {
    let answer = client.post("/mcp", &initialize(version, capabilities)).await;
    assert_eq!(answer.json()["result"]["protocolVersion"], version);
    client.clone().with("mcp-session-id", answer.header("mcp-session-id").unwrap())
}

/// A server with agents of all sorts.
pub(crate) async fn server() -> (TestHome, TestServer) {
    let home = agents(TestHome::new());
    let server = TestServer::start(home.boot_with(crate::http::any_port()).start().unwrap()).await;
    (home, server)
}

/// Agents of all sorts.
pub(crate) fn agents(home: TestHome) -> TestHome {
    let asks = "[[rules]]\nwhen = { turn = 1 }\nsteps = [{ status = { state = \"input-required\", message = \"how many?\" } }]\n\
         [[rules]]\nwhen = { turn = 2 }\nsteps = [{ chunk = \"thank you\" }]\n";
    let steps =
        "[[rules]]\nsteps = [{ chunk = \"a\" }, { chunk = \"b\" }, { artifact = { name = \"r\", text = \"c\" } }]\n";
    let waits = "[[rules]]\nsteps = [{ chunk = \"begun\" }, { wait_for_cancel = true }]\n";
    let fails = "[[rules]]\nsteps = [{ fail = \"out of paper\" }]\n";
    home.with_script("asks", &[], asks)
        .with_script("steps", &[], steps)
        .with_script("waits", &[], waits)
        .with_script("fails", &[], fails)
}

/// One end of a stdio conversation with a kernel in this process.
pub(crate) struct Pipe {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: Option<WriteHalf<DuplexStream>>,
    served: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl Pipe {
    #[expect(clippy::disallowed_methods, reason = "the test waits for it in `end`")]
    pub(crate) fn open(kernel: &Kernel, view: View) -> Self {
        let caller = Caller { door: Door::Mcp, ..callers::operator(kernel) };
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (input, output) = tokio::io::split(theirs);
        let server = kernel.mcp_server(view);
        let served = tokio::spawn(async move { server.serve_stdio(caller, input, output).await });
        let (reader, writer) = tokio::io::split(ours);
        Self { reader: BufReader::new(reader), writer: Some(writer), served }
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes()).await;
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        self.writer.as_mut().unwrap().write_all(bytes).await.unwrap();
    }

    pub(crate) async fn next(&mut self) -> Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line:?}"))
    }

    /// The answer to an id, passing over notifications.
    pub(crate) async fn answer(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        loop {
            let message = self.next().await;
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    pub(crate) async fn ask(&mut self, id: i64, method: &str, params: Value) -> Value {
        self.send(&request(id, method, params)).await;
        self.answer(id).await
    }

    /// Closes the input and returns what is still said.
    pub(crate) async fn end(mut self) -> String {
        let mut writer = self.writer.take().unwrap();
        writer.shutdown().await.unwrap();
        let mut rest = String::new();
        self.reader.read_to_string(&mut rest).await.unwrap();
        self.served.await.unwrap().unwrap();
        rest
    }
}

/// The texts of a result.
pub(crate) fn texts(result: &Value) -> Vec<String> {
    let content = result["content"].as_array().unwrap_or_else(|| panic!("no content in {result}"));
    content
        .iter()
        .map(|block| block["text"].as_str().unwrap_or_default().to_owned())
        .collect()
}

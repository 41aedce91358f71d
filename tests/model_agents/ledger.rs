//! An MCP server that counts the calls of its tools, and holds one if a test wants that. `append` may not be repeated, `put`
//! may, `look` only reads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use openfang_testkit::FakeProvider;
use openfang_testkit::fake_provider::Reply;
use openfang_testkit::receiver::Post;
use serde_json::{Value, json};

/// The server, and what it has counted.
pub(super) struct Ledger {
    server: FakeProvider,
    book: Arc<Book>,
}

#[derive(Default)]
struct Book {
    calls: Mutex<Vec<(String, Value)>>,
    holds_next: AtomicBool,
    is_holding: AtomicBool,
}

impl Ledger {
    pub(super) async fn start() -> Self {
        let book = Arc::new(Book::default());
        let written = Arc::clone(&book);
        let server = FakeProvider::answering(move |post| written.answer(post)).await;
        Self { server, book }
    }

    pub(super) fn url(&self) -> String {
        self.server.url()
    }

    /// The next call gets no answer.
    pub(super) fn hold_next(&self) {
        self.book.holds_next.store(true, Ordering::SeqCst);
    }

    pub(super) async fn wait_for_hold(&self) {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
        while !self.book.is_holding.load(Ordering::SeqCst) {
            assert!(tokio::time::Instant::now() < deadline, "no call arrives");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// How often a tool was called.
    pub(super) fn calls(&self, tool: &str) -> usize {
        self.book.calls.lock().unwrap().iter().filter(|(name, _)| name == tool).count()
    }

    /// The numbers that a run appended.
    pub(super) fn appended(&self, run: &str) -> Vec<i64> {
        let calls = self.book.calls.lock().unwrap();
        let of_run = calls.iter().filter(|(tool, arguments)| tool == "append" && arguments["run"] == run);
        of_run.map(|(_, arguments)| arguments["n"].as_i64().unwrap()).collect()
    }
}

impl Book {
    fn answer(&self, post: &Post) -> Reply {
        if !post.line.starts_with("POST") {
            return Reply::Status { status: 405, headers: Vec::new(), body: String::new() };
        }
        let request = post.json();
        let result = match request["method"].as_str().unwrap_or_default() {
            "initialize" => json!({
                "protocolVersion": "2025-06-18",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "ledger", "version": "1" },
            }),
            "ping" => json!({}),
            "tools/list" => json!({ "tools": [
                tool("append", false, false), tool("put", false, true), tool("look", true, true),
            ] }),
            "tools/call" => {
                let params = &request["params"];
                let name = params["name"].as_str().unwrap().to_owned();
                self.calls.lock().unwrap().push((name, params["arguments"].clone()));
                if self.holds_next.swap(false, Ordering::SeqCst) {
                    self.is_holding.store(true, Ordering::SeqCst);
                    return Reply::Hold(Vec::new());
                }
                json!({ "content": [{ "type": "text", "text": "written" }] })
            }
            _ if request.get("id").is_none() => {
                return Reply::Status { status: 202, headers: Vec::new(), body: String::new() };
            }
            _ => {
                let error = json!({ "code": -32601, "message": "method not found" });
                return json_reply(&json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }));
            }
        };
        json_reply(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))
    }
}

fn json_reply(body: &Value) -> Reply {
    Reply::Status {
        status: 200,
        headers: vec![("content-type", "application/json".to_owned())],
        body: body.to_string(),
    }
}

fn tool(name: &str, reads: bool, repeats: bool) -> Value {
    let schema = json!({
        "type": "object",
        "properties": { "run": { "type": "string" }, "n": { "type": "integer" } },
    });
    let annotations =
        json!({ "readOnlyHint": reads, "idempotentHint": repeats, "destructiveHint": false, "openWorldHint": false });
    json!({ "name": name, "description": "A tool of the ledger.", "inputSchema": schema, "annotations": annotations })
}

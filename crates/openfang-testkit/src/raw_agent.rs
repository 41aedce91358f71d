//! An A2A agent on its own socket that answers every request with exactly the bytes a test wants, and records what it heard.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::receiver::{Post, read};

/// The pause between two bytes of an answer that drips.
const DRIP: Duration = Duration::from_millis(20);

/// The bytes of an answer.
pub struct RawAnswer {
    bytes: Vec<u8>,
    /// Whether more bytes follow one by one, for ever.
    drips: bool,
}

impl From<Vec<u8>> for RawAnswer {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, drips: false }
    }
}

impl RawAnswer {
    /// These bytes, and then more of them one by one, for ever.
    pub const fn dripping(bytes: Vec<u8>) -> Self {
        Self { bytes, drips: true }
    }
}

type Answer = Pin<Box<dyn Future<Output = RawAnswer> + Send>>;
type Handler = dyn Fn(Post) -> Answer + Send + Sync;

/// An agent that stops when it is dropped.
pub struct RawAgent {
    pub address: SocketAddr,
    heard: Arc<Mutex<Vec<Post>>>,
    accepting: JoinHandle<()>,
}

impl RawAgent {
    /// An agent that answers each request with these bytes, and then closes the connection.
    pub async fn new<F>(answer: impl Fn(Post) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output: Into<RawAnswer>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port can be bound");
        let address = listener.local_addr().expect("a listener has an address");
        let heard: Arc<Mutex<Vec<Post>>> = Arc::default();
        let noted = Arc::clone(&heard);
        let handler: Arc<Handler> = Arc::new(move |post| {
            let answer = answer(post);
            Box::pin(async move { answer.await.into() })
        });
        #[expect(clippy::disallowed_methods, reason = "it ends when the agent is dropped")]
        let accepting = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, Arc::clone(&noted), Arc::clone(&handler)));
            }
        });
        Self { address, heard, accepting }
    }

    /// An agent of 1.0 with a card at the usual path. The messages of JSON-RPC are answered with these bytes.
    pub async fn with_card<F>(streaming: bool, answer: impl Fn(Value, Post) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output: Into<RawAnswer>> + Send + 'static,
    {
        Self::new(move |post| -> Answer {
            if post.line.starts_with("GET ") {
                let host = post.header("host").unwrap_or_default().to_owned();
                let is_card = post.line.ends_with("/.well-known/agent-card.json");
                let said = if is_card { ok(&card(&format!("http://{host}/rpc"), streaming)) } else { status(404) };
                return Box::pin(std::future::ready(said.into()));
            }
            let request = serde_json::from_str(&post.body).unwrap_or_default();
            let answer = answer(request, post);
            Box::pin(async move { answer.await.into() })
        })
        .await
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far.
    pub fn heard(&self) -> Vec<Post> {
        self.heard.lock().expect("nobody panics with it").clone()
    }

    /// The requests of this JSON-RPC method so far.
    pub fn calls(&self, method: &str) -> Vec<Value> {
        let requests = self.heard().into_iter().filter_map(|post| serde_json::from_str(&post.body).ok());
        requests.filter(|request: &Value| request["method"] == method).collect()
    }
}

impl Drop for RawAgent {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(stream: TcpStream, heard: Arc<Mutex<Vec<Post>>>, handler: Arc<Handler>) {
    let mut stream = BufReader::new(stream);
    if let Some(post) = read(&mut stream).await {
        heard.lock().expect("nobody panics with it").push(post.clone());
        let RawAnswer { bytes, drips } = handler(post).await;
        // A client may stop reading at any time.
        let mut is_open = stream.write_all(&bytes).await.is_ok();
        while drips && is_open {
            tokio::time::sleep(DRIP).await;
            is_open = stream.write_all(b":").await.is_ok();
        }
    }
}

/// A card of 1.0 with one interface.
pub fn card(endpoint: &str, streaming: bool) -> Value {
    json!({
        "name": "raw", "description": "Says what it is told to say", "version": "1",
        "supportedInterfaces": [{ "url": endpoint, "protocolBinding": "JSONRPC", "protocolVersion": "1.0" }],
        "capabilities": { "streaming": streaming }, "skills": [],
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
    })
}

/// A task of 1.0 with one artifact that says this.
pub fn task(id: &str, state: &str, text: &str) -> Value {
    json!({
        "id": id, "contextId": format!("context-{id}"), "status": { "state": state },
        "artifacts": [{ "artifactId": "a", "name": "answer", "parts": [{ "text": text }] }],
    })
}

/// A whole response.
pub fn whole(status: u16, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// A response without a body.
pub fn status(status: u16) -> Vec<u8> {
    whole(status, "", b"")
}

/// A JSON document.
pub fn ok(body: &Value) -> Vec<u8> {
    whole(200, "content-type: application/json\r\n", body.to_string().as_bytes())
}

/// The result of a JSON-RPC call.
pub fn result(result: &Value) -> Vec<u8> {
    ok(&json!({ "jsonrpc": "2.0", "id": 1, "result": result }))
}

/// The error of a JSON-RPC call.
pub fn error(code: i64, message: &str) -> Vec<u8> {
    ok(&json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": code, "message": message } }))
}

/// A stream of JSON-RPC results that is closed after the last.
pub fn events(results: &[Value]) -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n".to_owned();
    let event = |result: &Value| format!("data: {}\n\n", json!({ "jsonrpc": "2.0", "id": 1, "result": result }));
    std::iter::once(head).chain(results.iter().map(event)).collect::<String>().into_bytes()
}

/// The same stream, which stays open. Bytes that mean nothing follow one by one.
pub fn dripping(results: &[Value]) -> RawAnswer {
    RawAnswer::dripping(events(results))
}

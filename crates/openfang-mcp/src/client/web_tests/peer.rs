//! A server on a real socket that says what it is told to, and a client to reach it with.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use openfang_egress::http::{HttpConfig, HttpDoor};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::task::TaskTracker;

use super::super::super::{ClientError, Connecting, Connection, Endpoint, RawMembers, connect};
use crate::capabilities::ClientCapabilities;
use crate::revision::Era;

/// A hang is a failure, not a long wait.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// A request as it came; the head is in lower case.
#[derive(Debug, Clone)]
pub(super) struct Heard {
    pub(super) head: String,
    pub(super) body: Value,
}

impl Heard {
    /// `post /mcp`.
    pub(super) fn line(&self) -> &str {
        self.head.split(" http/1.1").next().unwrap_or_default()
    }

    /// The method in the body; for a request without a body that of HTTP.
    pub(super) fn method(&self) -> &str {
        self.body["method"]
            .as_str()
            .unwrap_or_else(|| self.line().split(' ').next().unwrap_or_default())
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// What a request gets. Afterwards the connection is closed.
pub(super) enum Answer {
    /// These bytes.
    Bytes(Vec<u8>),
    /// These bytes, and then nothing until the client has enough.
    Held(Vec<u8>),
    /// These bytes, once this was heard also those, and then nothing.
    Then(Vec<u8>, &'static str, Vec<u8>),
    /// These bytes, and then those again and again.
    Endless(Vec<u8>, Vec<u8>),
}

type Script = dyn Fn(&Heard) -> Answer + Send + Sync;

/// A server.
pub(super) struct Peer {
    pub(super) address: SocketAddr,
    heard: watch::Sender<Vec<Heard>>,
    open: watch::Sender<usize>,
    _serving: JoinSet<()>,
}

impl Peer {
    pub(super) async fn new(script: impl Fn(&Heard) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, heard) = (listener.local_addr().unwrap(), watch::Sender::new(Vec::new()));
        let (open, script): (_, Arc<Script>) = (watch::Sender::new(0), Arc::new(script));
        let mut serving = JoinSet::new();
        let (noted, opened) = (heard.clone(), open.clone());
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                opened.send_modify(|open| *open += 1);
                let (noted, script, opened) = (noted.clone(), Arc::clone(&script), opened.clone());
                connections.spawn(async move {
                    let _ = serve(stream, &noted, &*script).await;
                    opened.send_modify(|open| *open -= 1);
                });
            }
        });
        Self { address, heard, open, _serving: serving }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests so far.
    pub(super) fn heard(&self) -> Vec<Heard> {
        self.heard.borrow().clone()
    }

    /// Their methods.
    pub(super) fn methods(&self) -> Vec<String> {
        self.heard().iter().map(|heard| heard.method().to_owned()).collect()
    }

    /// Waits until somebody said this.
    pub(super) async fn hears(&self, method: &str) -> Heard {
        let hearing = told(&self.heard, method);
        tokio::time::timeout(PATIENCE, hearing)
            .await
            .unwrap_or_else(|_| panic!("no {method}: {:?}", self.methods()))
    }

    /// Waits until every connection is closed.
    pub(super) async fn is_left_alone(&self) {
        let mut open = self.open.subscribe();
        let waiting = open.wait_for(|open| *open == 0);
        drop(tokio::time::timeout(PATIENCE, waiting).await.expect("a connection is left open").unwrap());
    }
}

/// Waits for a request with this method, or with this first line.
async fn told(heard: &watch::Sender<Vec<Heard>>, what: &str) -> Heard {
    let is_it = |heard: &Heard| heard.method() == what || heard.line() == what;
    let mut listening = heard.subscribe();
    let all = listening.wait_for(|all| all.iter().any(is_it)).await.unwrap();
    all.iter().find(|heard| is_it(heard)).unwrap().clone()
}

async fn serve(mut stream: TcpStream, noted: &watch::Sender<Vec<Heard>>, script: &Script) -> std::io::Result<()> {
    let heard = request(&mut stream).await?;
    noted.send_modify(|all| all.push(heard.clone()));
    match script(&heard) {
        Answer::Bytes(bytes) => stream.write_all(&bytes).await?,
        Answer::Held(bytes) => {
            stream.write_all(&bytes).await?;
            while stream.read(&mut [0; 64]).await? > 0 {}
        }
        Answer::Then(first, what, then) => {
            stream.write_all(&first).await?;
            let mut left = [0; 64];
            tokio::select! {
                _ = told(noted, what) => stream.write_all(&then).await?,
                _ = stream.read(&mut left) => return Ok(()),
            }
            while stream.read(&mut left).await? > 0 {}
        }
        Answer::Endless(bytes, again) => {
            stream.write_all(&bytes).await?;
            loop {
                stream.write_all(&again).await?;
            }
        }
    }
    stream.shutdown().await
}

async fn request(stream: &mut TcpStream) -> std::io::Result<Heard> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(Heard { head, body: serde_json::from_slice(&body).unwrap_or_default() })
}

/// A whole answer.
pub(super) fn answer(status: u16, headers: &str, body: impl AsRef<[u8]>) -> Answer {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    Answer::Bytes([head.as_bytes(), body].concat())
}

pub(super) fn json_with(status: u16, headers: &str, body: &Value) -> Answer {
    answer(status, &format!("content-type: application/json\r\n{headers}"), body.to_string())
}

/// A result for a request.
pub(super) fn result(heard: &Heard, result: &Value) -> Answer {
    json_with(200, "", &json!({"jsonrpc": "2.0", "id": heard.body["id"], "result": result}))
}

/// An error for a request, with a status.
pub(super) fn refusal(heard: &Heard, status: u16, code: i64, data: &Value) -> Answer {
    let error = json!({"code": code, "message": "no", "data": data});
    json_with(status, "", &json!({"jsonrpc": "2.0", "id": heard.body["id"], "error": error}))
}

/// The head of a stream, and what comes first on it.
pub(super) fn stream(events: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n{events}").into_bytes()
}

/// A message as an event.
pub(super) fn event(message: &Value) -> String {
    format!("data: {message}\n\n")
}

/// What a modern server says to `server/discover`.
pub(super) fn discovered() -> Value {
    json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "resultType": "complete"})
}

/// What a legacy server says to `initialize`.
pub(super) fn initialized(revision: &str) -> Value {
    json!({"protocolVersion": revision, "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}})
}

/// A legacy server without a stream and without a session; `rest` answers what comes after the beginning.
pub(super) fn legacy(heard: &Heard, rest: impl Fn(&Heard) -> Answer) -> Answer {
    match heard.method() {
        "server/discover" => refusal(heard, 200, -32_601, &Value::Null),
        "initialize" => result(heard, &initialized("2025-11-25")),
        "get" => answer(405, "", ""),
        method if method.starts_with("notifications/") => answer(202, "", ""),
        _ => rest(heard),
    }
}

/// A modern server; `rest` answers what comes after the beginning.
pub(super) fn modern(heard: &Heard, rest: impl Fn(&Heard) -> Answer) -> Answer {
    if heard.method() == "server/discover" { result(heard, &discovered()) } else { rest(heard) }
}

/// A client.
pub(super) struct Client {
    pub(super) door: HttpDoor,
    pub(super) tracker: TaskTracker,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) only: Option<Era>,
    pub(super) known: Option<Era>,
}

impl Default for Client {
    fn default() -> Self {
        let door = HttpDoor::new(HttpConfig::default()).unwrap();
        Self { door, tracker: TaskTracker::new(), headers: Vec::new(), only: None, known: None }
    }
}

impl Client {
    pub(super) async fn connect(&self, url: &str) -> Result<Connection, ClientError> {
        let url = self.door.guard().operator(url).unwrap();
        connect(Connecting {
            endpoint: Endpoint::Url { door: self.door.clone(), url, headers: self.headers.clone() },
            redactor: Arc::default(),
            only: self.only,
            known: self.known,
            declared: ClientCapabilities::NONE,
            patience: PATIENCE,
            tracker: self.tracker.clone(),
            counts: std::sync::Arc::default(),
        })
        .await
        .map_err(|(error, _)| error)
    }

    /// Ends the client; nothing of it is left.
    pub(super) async fn ends(self) {
        self.tracker.close();
        tokio::time::timeout(PATIENCE, self.tracker.wait()).await.expect("a task is left");
    }
}

/// A plain request on a connection.
pub(super) async fn asks(connection: &Connection) -> Result<String, ClientError> {
    connection
        .ask("tools/list", RawMembers::none(), PATIENCE)
        .await
        .map(|result| result.get().to_owned())
}

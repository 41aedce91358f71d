//! A model provider on its own socket. It answers each request with the next reply of its script, byte for byte, and
//! records what it was asked. [`answers`] writes whole answers in the format of each wire.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::receiver::{self, Post};

pub mod answers;

/// Enough for a loaded machine. Successful tests never wait this long.
const PATIENCE: Duration = Duration::from_secs(30);
/// More than a test ever asks without reading.
const WAITING: usize = 1_000;

/// What the provider does with one request.
#[derive(Debug, Clone)]
pub enum Reply {
    /// A whole response of this media type, in chunks of this many bytes.
    Stream { media_type: &'static str, bytes: Vec<u8>, chunk: usize },
    /// These bytes of a stream, then the connection breaks.
    Cut(Vec<u8>),
    /// These bytes of a stream, then nothing until the client closes the connection.
    Hold(Vec<u8>),
    /// A response with this status, these headers and this body.
    Status { status: u16, headers: Vec<(&'static str, String)>, body: String },
}

impl Reply {
    /// A whole stream of events.
    pub fn events(bytes: Vec<u8>) -> Self {
        Self::Stream { media_type: "text/event-stream", bytes, chunk: 64 }
    }

    /// An error of the provider.
    pub fn refusal(status: u16, body: &serde_json::Value) -> Self {
        Self::Status { status, headers: Vec::new(), body: body.to_string() }
    }
}

/// What the provider answers: the next reply of a list, or whatever a function makes of the request.
struct Script {
    replies: Mutex<VecDeque<Reply>>,
    respond: Option<Responder>,
}

type Responder = Box<dyn Fn(&Post) -> Reply + Send + Sync>;

impl Script {
    fn reply(&self, post: &Post) -> Reply {
        let next = self.replies.lock().expect("nobody panics with it").pop_front();
        let nothing = || Reply::Status { status: 599, headers: Vec::new(), body: String::new() };
        next.unwrap_or_else(|| self.respond.as_ref().map_or_else(nothing, |respond| respond(post)))
    }
}

/// A provider that stops when it is dropped.
pub struct FakeProvider {
    address: SocketAddr,
    script: Arc<Script>,
    requests: mpsc::Receiver<Post>,
    closings: mpsc::Receiver<()>,
    accepting: JoinHandle<()>,
}

impl FakeProvider {
    /// A provider on a free port of this machine, with an empty script.
    pub async fn start() -> Self {
        Self::with(None).await
    }

    /// A provider that makes its replies of the requests, once the script is empty.
    pub async fn answering(respond: impl Fn(&Post) -> Reply + Send + Sync + 'static) -> Self {
        Self::with(Some(Box::new(respond))).await
    }

    async fn with(respond: Option<Responder>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port can be bound");
        let address = listener.local_addr().expect("a listener has an address");
        let script = Arc::new(Script { replies: Mutex::default(), respond });
        let (heard, requests) = mpsc::channel(WAITING);
        let (closed, closings) = mpsc::channel(WAITING);
        let replies = Arc::clone(&script);
        #[expect(clippy::disallowed_methods, reason = "it ends when the provider is dropped")]
        let accepting = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, Arc::clone(&replies), heard.clone(), closed.clone()));
            }
        });
        Self { address, script, requests, closings, accepting }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds replies to the script. A request without a reply gets status 599.
    pub fn script(&self, replies: impl IntoIterator<Item = Reply>) {
        self.script.replies.lock().expect("nobody panics with it").extend(replies);
    }

    /// The next request that arrived.
    pub async fn next_request(&mut self) -> Post {
        let request = tokio::time::timeout(PATIENCE, self.requests.recv()).await;
        request.expect("a request comes in time").expect("the provider runs")
    }

    /// How many requests arrived that nobody read yet.
    pub fn unread_requests(&mut self) -> usize {
        self.unread().len()
    }

    /// The requests that arrived and nobody read yet.
    pub fn unread(&mut self) -> Vec<Post> {
        std::iter::from_fn(|| self.requests.try_recv().ok()).collect()
    }

    /// Waits until the client has closed a connection on which [`Reply::Hold`] was sent.
    pub async fn client_closed(&mut self) {
        let closed = tokio::time::timeout(PATIENCE, self.closings.recv()).await;
        closed.expect("the client closes in time").expect("the provider runs");
    }
}

impl Drop for FakeProvider {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(stream: TcpStream, script: Arc<Script>, heard: mpsc::Sender<Post>, closed: mpsc::Sender<()>) {
    let mut stream = BufReader::new(stream);
    while let Some(post) = receiver::read(&mut stream).await {
        let reply = script.reply(&post);
        // Whoever does not read the requests does not want them.
        drop(heard.try_send(post));
        if send(&mut stream, reply, &closed).await.is_none() {
            return;
        }
    }
}

/// Sends a reply; none when the connection is of no more use.
async fn send(stream: &mut BufReader<TcpStream>, reply: Reply, closed: &mpsc::Sender<()>) -> Option<()> {
    let head = |media_type: &str| {
        format!("HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ntransfer-encoding: chunked\r\n\r\n")
    };
    match reply {
        Reply::Stream { media_type, bytes, chunk } => {
            stream.write_all(head(media_type).as_bytes()).await.ok()?;
            for piece in bytes.chunks(chunk) {
                send_chunk(stream, piece).await?;
            }
            stream.write_all(b"0\r\n\r\n").await.ok()
        }
        Reply::Cut(bytes) => {
            stream.write_all(head("text/event-stream").as_bytes()).await.ok()?;
            send_chunk(stream, &bytes).await?;
            None
        }
        Reply::Hold(bytes) => {
            stream.write_all(head("text/event-stream").as_bytes()).await.ok()?;
            send_chunk(stream, &bytes).await?;
            let mut rest = Vec::new();
            // The end of what the client sends is the end of the connection, whichever way it comes.
            let _ = stream.read_to_end(&mut rest).await;
            closed.send(()).await.ok()?;
            None
        }
        Reply::Status { status, headers, body } => {
            let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
            let length = body.len();
            let whole = format!("HTTP/1.1 {status} x\r\n{headers}content-length: {length}\r\n\r\n{body}");
            stream.write_all(whole.as_bytes()).await.ok()
        }
    }
}

async fn send_chunk(stream: &mut BufReader<TcpStream>, bytes: &[u8]) -> Option<()> {
    // An empty chunk is the end of the body.
    if bytes.is_empty() {
        return Some(());
    }
    stream.write_all(format!("{:x}\r\n", bytes.len()).as_bytes()).await.ok()?;
    stream.write_all(bytes).await.ok()?;
    stream.write_all(b"\r\n").await.ok()
}

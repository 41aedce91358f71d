//! A receiver of push notifications on its own socket. It answers as configured and records what it received.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::Value;
use sha2::Sha256;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Enough for a loaded machine. Successful tests never wait this long.
const PATIENCE: Duration = Duration::from_secs(30);
/// More than a test ever posts without reading.
const WAITING: usize = 10_000;

#[derive(Debug, Clone)]
pub struct Post {
    /// The method and the path.
    pub line: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Post {
    /// The first header of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// The event it reports.
    pub fn event(&self) -> &str {
        self.header("x-openfang-event").expect("a push names its event")
    }

    /// The sequence number of the event.
    pub fn seq(&self) -> u64 {
        let (_, seq) = self.event().rsplit_once(':').expect("an event has a place");
        seq.parse().expect("a place is a number")
    }

    /// The key id of its signature, and whether this key verifies it.
    pub fn signed_with(&self, key: &str) -> (String, bool) {
        let signature = self.header("x-openfang-signature").expect("a push is signed");
        let part = |name: &str| {
            let mut parts = signature.split(',').filter_map(|part| part.split_once('='));
            parts
                .find(|(key, _)| *key == name)
                .map(|(_, value)| value.to_owned())
                .expect("a signature has its parts")
        };
        let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("any key will do");
        mac.update(format!("{}.{}", part("t"), self.body).as_bytes());
        let expected: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        (part("kid"), part("v1") == expected)
    }
}

/// How a receiver reacts to a request.
#[derive(Debug, Clone)]
pub enum Reaction {
    /// Answers with this status.
    Status(u16),
    /// Answers with this status and this header.
    With(u16, &'static str, String),
    /// Does not answer, and keeps the connection open.
    Silence,
}

/// A receiver that stops when it is dropped.
pub struct Receiver {
    address: SocketAddr,
    reaction: Arc<Mutex<Reaction>>,
    posts: mpsc::Receiver<Post>,
    accepting: JoinHandle<()>,
}

impl Receiver {
    /// A receiver on a free port of this local address. It answers 200.
    pub async fn at(host: &str) -> Self {
        let listener = TcpListener::bind((host, 0)).await.expect("a free port can be bound");
        let address = listener.local_addr().expect("a listener has an address");
        let reaction = Arc::new(Mutex::new(Reaction::Status(200)));
        let (heard, posts) = mpsc::channel(WAITING);
        let react = Arc::clone(&reaction);
        #[expect(clippy::disallowed_methods, reason = "it ends when the receiver is dropped")]
        let accepting = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, Arc::clone(&react), heard.clone()));
            }
        });
        Self { address, reaction, posts, accepting }
    }

    pub fn url(&self) -> String {
        format!("http://{}/hook?key=s3cret", self.address)
    }

    /// Reacts like this from now on.
    pub fn reacts(&self, reaction: Reaction) {
        *self.reaction.lock().expect("nobody panics with it") = reaction;
    }

    pub async fn next(&mut self) -> Post {
        let post = tokio::time::timeout(PATIENCE, self.posts.recv()).await;
        post.expect("a push comes in time").expect("the receiver runs")
    }

    /// The requests that were not read yet.
    pub fn others(&mut self) -> Vec<Post> {
        std::iter::from_fn(|| self.posts.try_recv().ok()).collect()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(stream: TcpStream, reaction: Arc<Mutex<Reaction>>, heard: mpsc::Sender<Post>) {
    let mut stream = BufReader::new(stream);
    while let Some(post) = read(&mut stream).await {
        let reaction = reaction.lock().expect("nobody panics with it").clone();
        let head = match &reaction {
            Reaction::Status(status) => format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\n\r\n"),
            Reaction::With(status, name, value) => {
                format!("HTTP/1.1 {status} x\r\n{name}: {value}\r\ncontent-length: 0\r\n\r\n")
            }
            Reaction::Silence => String::new(),
        };
        if heard.send(post).await.is_err() || stream.write_all(head.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// A request; none when the peer has closed.
pub(crate) async fn read(stream: &mut BufReader<TcpStream>) -> Option<Post> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok().filter(|read| *read > 0)?;
        match line.trim_end() {
            "" => break,
            text => lines.push(text.to_owned()),
        }
    }
    let headers: Vec<(String, String)> = lines
        .iter()
        .skip(1)
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length = headers
        .iter()
        .find(|(name, _)| name == "content-length")
        .and_then(|(_, length)| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await.ok()?;
    let line = lines.first()?.trim_end_matches(" HTTP/1.1").to_owned();
    Some(Post { line, headers, body: String::from_utf8(body).ok()? })
}

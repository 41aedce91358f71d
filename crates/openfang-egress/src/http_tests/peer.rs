//! Peers on real sockets, each in a thread of its own, and doors to reach them with.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::Method;

use crate::http::metrics::DialOutcome;
use crate::http::{Backoff, HttpConfig, HttpDoor, HttpError, HttpMetrics, Patience, Request, Response};
use crate::resolve::{Resolve, Resolving};
use crate::url::Guard;

/// A server that keeps what it heard and says what it is told to.
pub(super) struct Peer {
    pub(super) address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Peer {
    /// Answers each connection's one request with `serve`, which gets the connection's number, counted from 0.
    pub(super) fn new(serve: impl Fn(usize, &mut TcpStream) + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0", serve).unwrap()
    }

    pub(super) fn at(
        address: &str,
        serve: impl Fn(usize, &mut TcpStream) + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let peer = Self { address: listener.local_addr().unwrap(), accepted: Arc::default(), heard: Arc::default() };
        let (accepted, heard, serve) = (Arc::clone(&peer.accepted), Arc::clone(&peer.heard), Arc::new(serve));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let nth = accepted.fetch_add(1, Ordering::SeqCst);
                let (heard, serve) = (Arc::clone(&heard), Arc::clone(&serve));
                std::thread::spawn(move || {
                    if let Some(request) = read_request(&mut stream) {
                        heard.lock().unwrap().push(request);
                        serve(nth, &mut stream);
                    }
                });
            }
        });
        Ok(peer)
    }

    /// Says the same to everybody.
    pub(super) fn saying(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::new(move |_, stream| drop(stream.write_all(&answer)))
    }

    /// Says one thing after the other, then the last for ever.
    pub(super) fn saying_in_turn(answers: &[Vec<u8>]) -> Self {
        let answers = answers.to_vec();
        Self::new(move |nth, stream| drop(stream.write_all(&answers[nth.min(answers.len() - 1)])))
    }

    /// Sends everybody on to the same place.
    pub(super) fn redirecting(status: u16, location: &str) -> Self {
        Self::saying(redirect(status, location))
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(super) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// The requests so far, heads in lower case.
    pub(super) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") {
        if !matches!(stream.read(&mut byte), Ok(1)) {
            return None;
        }
        request.push(byte[0].to_ascii_lowercase());
    }
    let head = String::from_utf8_lossy(&request).into_owned();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some(head + &String::from_utf8_lossy(&body))
}

/// A whole answer with a body.
pub(super) fn answer(status: u16, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

pub(super) fn redirect(status: u16, location: &str) -> Vec<u8> {
    answer(status, &format!("location: {location}\r\n"), b"")
}

/// Names that resolve as the test says, one list of answers after the other, then the last for ever.
#[derive(Default)]
pub(super) struct Names {
    answers: Vec<Vec<IpAddr>>,
    asked: AtomicUsize,
}

impl Names {
    pub(super) fn answering(answers: &[&[&str]]) -> Arc<Self> {
        let parsed = |list: &&[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
        Arc::new(Self { answers: answers.iter().map(parsed).collect(), asked: AtomicUsize::default() })
    }

    /// Each address alone, in turn.
    pub(super) fn one_by_one(addresses: &[IpAddr]) -> Arc<Self> {
        let answers = addresses.iter().map(|address| vec![*address]).collect();
        Arc::new(Self { answers, asked: AtomicUsize::default() })
    }

    pub(super) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Resolve for Names {
    fn resolve(&self, _: &str) -> Resolving {
        let nth = self.asked.fetch_add(1, Ordering::SeqCst);
        let answer = self.answers[nth.min(self.answers.len() - 1)].clone();
        Box::pin(async move { Ok(answer) })
    }
}

/// A door, and what it counts.
pub(super) struct World {
    pub(super) door: HttpDoor,
    pub(super) metrics: HttpMetrics,
}

impl World {
    pub(super) fn new(allowed: &[&str]) -> Self {
        Self::resolving(allowed, Names::answering(&[&[]]))
    }

    pub(super) fn resolving(allowed: &[&str], names: Arc<Names>) -> Self {
        let guard = Guard::allowing(allowed.iter().copied()).unwrap();
        Self::with(HttpConfig { guard, resolver: names, ..HttpConfig::default() })
    }

    pub(super) fn with(config: HttpConfig) -> Self {
        let metrics = config.metrics.clone();
        let backoff = Backoff { first: Duration::from_millis(1), longest: Duration::from_millis(2) };
        Self { door: HttpDoor::new(HttpConfig { backoff, ..config }).unwrap(), metrics }
    }

    pub(super) fn operator(&self, url: &str) -> Request {
        Request::new(Method::GET, self.door.guard().operator(url).unwrap())
    }

    pub(super) fn foreign(&self, url: &str) -> Request {
        Request::new(Method::GET, self.door.guard().foreign(url).unwrap())
    }

    /// Sends, and takes the whole answer.
    pub(super) async fn whole(&self, request: Request) -> Result<Bytes, HttpError> {
        self.send(request).await?.body.bytes().await
    }

    pub(super) async fn send(&self, request: Request) -> Result<Response, HttpError> {
        // A hang is a failure, not a long wait.
        tokio::time::timeout(Duration::from_secs(30), self.door.send(request))
            .await
            .expect("the door hangs")
    }

    /// Connections that were tried, whether or not they came about.
    pub(super) fn dials(&self) -> u64 {
        self.metrics.connections(DialOutcome::Opened) + self.metrics.connections(DialOutcome::Failed)
    }
}

/// Little patience, so that what never comes is over soon.
pub(super) fn impatient() -> Patience {
    Patience {
        connect: Duration::from_secs(5),
        first_byte: Duration::from_millis(300),
        idle: Duration::from_millis(300),
        total: Some(Duration::from_secs(20)),
    }
}

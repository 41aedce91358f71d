//! What two peers say to each other over HTTP, written down between them: a proxy that changes the `Host` and nothing
//! else, and the messages it saw, held against the official schema of the revision they agreed on.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::schemas::{Revision, Seen, Sender, check};

/// A proxy in front of a server.
pub(crate) struct Recorder {
    address: SocketAddr,
    exchanges: Arc<Mutex<Vec<Arc<Mutex<Exchange>>>>>,
}

/// A request and what came back, as far as it has come.
#[derive(Default)]
struct Exchange {
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Recorder {
    /// Writes down what is said to this server.
    pub(crate) fn before(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let exchanges: Arc<Mutex<Vec<Arc<Mutex<Exchange>>>>> = Arc::default();
        let kept = Arc::clone(&exchanges);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let exchange = Arc::new(Mutex::new(Exchange::default()));
                kept.lock().unwrap().push(Arc::clone(&exchange));
                std::thread::spawn(move || relay(client, server, &exchange));
            }
        });
        Self { address, exchanges }
    }

    /// The address to send to instead.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Everything that the server said was good; returns how many messages that were.
    #[track_caller]
    pub(crate) fn assert_good(&self) -> usize {
        let exchanges = self.exchanges.lock().unwrap();
        let mut heard = Heard::default();
        for exchange in exchanges.iter() {
            let exchange = exchange.lock().unwrap();
            let asked = messages(body(&exchange.request));
            heard.client(&asked);
            // What comes on the stream of a modern request is modern too.
            heard.server(&messages(body(&exchange.answer)), asked.iter().find_map(named));
        }
        heard.assert_good()
    }
}

/// What both sides said, in an order in which questions come before their answers.
#[derive(Default)]
pub(crate) struct Heard {
    asked: HashMap<String, (String, Option<Revision>)>,
    said: Vec<(Value, Option<Revision>)>,
    agreed: Option<Revision>,
}

impl Heard {
    /// The client said these.
    pub(crate) fn client(&mut self, messages: &[Value]) {
        for message in messages {
            if let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) {
                self.asked.insert(id.to_string(), (method.to_owned(), named(message)));
            }
        }
    }

    /// The server said these, in a revision that its client named for them, or else in the one they agreed on.
    pub(crate) fn server(&mut self, messages: &[Value], named: Option<Revision>) {
        for message in messages {
            if let Some(version) = message["result"]["protocolVersion"].as_str() {
                self.agreed = Revision::named(version);
            }
            self.said.push((message.clone(), named));
        }
    }

    /// Everything that the server said was good.
    #[track_caller]
    pub(crate) fn assert_good(&self) -> usize {
        let newest = Revision::ALL[0];
        for (message, named) in &self.said {
            let asked = message.get("id").filter(|_| message.get("method").is_none()).map(Value::to_string);
            let asked = asked.and_then(|id| self.asked.get(&id));
            let revision = match asked {
                Some((_, Some(asked_in))) => *asked_in,
                Some((_, None)) | None => named.or(self.agreed).unwrap_or(newest),
            };
            let answers = asked.map(|(method, _)| method.as_str());
            if let Err(why) = check(revision, Seen { sender: Sender::Server, message, answers }) {
                panic!("{why}");
            }
        }
        self.said.len()
    }
}

/// The revision that a modern request names.
fn named(message: &Value) -> Option<Revision> {
    Revision::named(message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str()?)
}

/// The messages of a body: JSON, a batch, or events.
fn messages(body: Vec<u8>) -> Vec<Value> {
    let text = String::from_utf8_lossy(&body);
    match serde_json::from_str::<Value>(&text) {
        Ok(Value::Array(batch)) => batch,
        Ok(message) => vec![message],
        Err(_) => {
            let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
            data.filter_map(|data| serde_json::from_str(data).ok()).collect()
        }
    }
}

/// The body behind a head, without its chunks.
fn body(message: &[u8]) -> Vec<u8> {
    let Some(end) = head_end(message) else { return Vec::new() };
    let (head, mut rest) = message.split_at(end);
    if !String::from_utf8_lossy(head).to_ascii_lowercase().contains("transfer-encoding: chunked") {
        return rest.to_vec();
    }
    let mut body = Vec::new();
    while let Some(line) = rest.windows(2).position(|pair| pair == b"\r\n") {
        let length = usize::from_str_radix(str::from_utf8(&rest[..line]).unwrap_or("0").trim(), 16).unwrap_or(0);
        let Some(chunk) = rest.get(line + 2..line + 2 + length).filter(|chunk| !chunk.is_empty()) else { break };
        body.extend_from_slice(chunk);
        rest = rest.get(line + 4 + length..).unwrap_or_default();
    }
    body
}

fn head_end(message: &[u8]) -> Option<usize> {
    message.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4)
}

/// One request a connection: clients open another for the next.
#[expect(clippy::disallowed_methods, reason = "the proxy dials the server under test")]
fn relay(mut client: TcpStream, server: SocketAddr, exchange: &Mutex<Exchange>) {
    let Some(request) = read_request(&mut client) else { return };
    exchange.lock().unwrap().request.clone_from(&request);
    let mut upstream = TcpStream::connect(server).unwrap();
    upstream.write_all(&addressed_to(server, &request)).unwrap();
    let (mut gone, ended) = (client.try_clone().unwrap(), upstream.try_clone().unwrap());
    std::thread::spawn(move || {
        // Nothing more is sent; what is waited for is that the client goes away.
        let _ = gone.read(&mut [0; 1]);
        let _ = ended.shutdown(Shutdown::Both);
    });
    let mut buffer = [0; 16 * 1024];
    while let Ok(count @ 1..) = upstream.read(&mut buffer) {
        exchange.lock().unwrap().answer.extend_from_slice(&buffer[..count]);
        if client.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
}

fn read_request(client: &mut TcpStream) -> Option<Vec<u8>> {
    let mut request = Vec::new();
    let mut buffer = [0; 16 * 1024];
    loop {
        if let Some(end) = head_end(&request) {
            let head = String::from_utf8_lossy(&request[..end]).to_ascii_lowercase();
            let length: Option<usize> =
                head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
            let is_whole = match length {
                Some(length) => request.len() >= end + length,
                None => !head.contains("transfer-encoding: chunked") || request.ends_with(b"0\r\n\r\n"),
            };
            if is_whole {
                return Some(request);
            }
        }
        match client.read(&mut buffer) {
            Ok(count @ 1..) => request.extend_from_slice(&buffer[..count]),
            Ok(_) | Err(_) => return None,
        }
    }
}

/// The request with the server's own address in `Host`, and the wish that the connection ends with it.
fn addressed_to(server: SocketAddr, request: &[u8]) -> Vec<u8> {
    let end = head_end(request).unwrap();
    let head = String::from_utf8_lossy(&request[..end]).into_owned();
    let kept = head.trim_end().lines().filter(|line| {
        let line = line.to_ascii_lowercase();
        !line.starts_with("host:") && !line.starts_with("connection:")
    });
    let mut rewritten = kept.collect::<Vec<_>>().join("\r\n");
    rewritten.push_str(&format!("\r\nhost: {server}\r\nconnection: close\r\n\r\n"));
    [rewritten.as_bytes(), &request[end..]].concat()
}

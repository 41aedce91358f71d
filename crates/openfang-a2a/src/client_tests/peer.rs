//! Agents on real sockets, each in a thread of its own, that say exactly what a test wants.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use openfang_egress::http::{Backoff, HttpConfig, HttpDoor};
use openfang_types::ids::TaskName;
use openfang_types::task::{Message, Role};
use serde_json::{Value, json};

use crate::client::{ClientError, Follower, Outgoing, RemoteAgent, RemoteEvent, RemoteSettings};

/// A request as it was received.
#[derive(Debug, Clone)]
pub(crate) struct Heard {
    /// The request line and the headers, names in lower case.
    pub(crate) head: String,
    pub(crate) path: String,
    pub(crate) body: String,
}

impl Heard {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1);
        lines.find_map(|line| line.split_once(": ").filter(|(key, _)| *key == name).map(|(_, value)| value))
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// The method of JSON-RPC.
    pub(crate) fn method(&self) -> String {
        self.json()["method"].as_str().unwrap_or_default().to_owned()
    }
}

/// A server that keeps what it heard.
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    heard: Arc<Mutex<Vec<Heard>>>,
}

impl Peer {
    /// Answers the one request of each connection.
    pub(crate) fn new(serve: impl Fn(&Heard, &mut TcpStream) + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0", serve)
    }

    pub(crate) fn at(address: &str, serve: impl Fn(&Heard, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let peer = Self { address: listener.local_addr().unwrap(), heard: Arc::default() };
        let (heard, serve) = (Arc::clone(&peer.heard), Arc::new(serve));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, heard, serve) = (stream.unwrap(), Arc::clone(&heard), Arc::clone(&serve));
                std::thread::spawn(move || {
                    if let Some(request) = read_request(&mut stream) {
                        heard.lock().unwrap().push(request.clone());
                        serve(&request, &mut stream);
                    }
                });
            }
        });
        peer
    }

    /// An agent with a card at the usual path. `serve` answers everything else with a whole response.
    pub(crate) fn agent(
        card: impl Fn(&str) -> Value + Send + Sync + 'static,
        serve: impl Fn(&Heard) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        Self::new(move |heard, stream| {
            let own = format!("http://{}", stream.local_addr().unwrap());
            let said = match heard.path.as_str() {
                "/.well-known/agent-card.json" => ok(&card(&own)),
                path if path.contains("/.well-known/") => answer(404, "", b""),
                _ => serve(heard),
            };
            drop(stream.write_all(&said));
        })
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }

    /// The JSON-RPC methods that were called, in order.
    pub(crate) fn methods(&self) -> Vec<String> {
        self.heard().iter().map(Heard::method).filter(|method| !method.is_empty()).collect()
    }

    pub(crate) fn settings(&self) -> RemoteSettings {
        RemoteSettings::operator(self.url(""))
    }

    pub(crate) fn remote(&self) -> RemoteAgent {
        RemoteAgent::new(door(), self.settings()).unwrap()
    }
}

pub(crate) fn door() -> HttpDoor {
    let backoff = Backoff { first: std::time::Duration::from_millis(1), longest: std::time::Duration::from_millis(2) };
    HttpDoor::new(HttpConfig { backoff, ..HttpConfig::default() }).unwrap()
}

fn read_request(stream: &mut TcpStream) -> Option<Heard> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        if !matches!(stream.read(&mut byte), Ok(1)) {
            return None;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let names = head.lines().map(|line| match line.split_once(": ") {
        Some((name, value)) => format!("{}: {value}", name.to_lowercase()),
        None => line.to_owned(),
    });
    let head = names.collect::<Vec<_>>().join("\n");
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    let mut words = head.split_whitespace().map(str::to_owned);
    let path = words.nth(1)?;
    Some(Heard { path, head, body: String::from_utf8_lossy(&body).into_owned() })
}

/// A whole response.
pub(crate) fn answer(status: u16, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

pub(crate) fn ok(body: &Value) -> Vec<u8> {
    answer(200, "content-type: application/json\r\n", body.to_string().as_bytes())
}

/// The result of a JSON-RPC call.
pub(crate) fn result(result: &Value) -> Vec<u8> {
    ok(&json!({ "jsonrpc": "2.0", "id": 1, "result": result }))
}

pub(crate) fn error(code: i64, message: &str) -> Vec<u8> {
    ok(&json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": code, "message": message } }))
}

pub(crate) const EVENTS: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n";

/// A stream of JSON-RPC results that ends after the last.
pub(crate) fn events(results: &[Value]) -> Vec<u8> {
    let events = results.iter().map(event);
    [EVENTS.to_owned()].into_iter().chain(events).collect::<String>().into_bytes()
}

pub(crate) fn event(result: &Value) -> String {
    format!("data: {}\n\n", json!({ "jsonrpc": "2.0", "id": 1, "result": result }))
}

/// A card of 1.0 with one interface at the server itself.
pub(crate) fn card(own: &str, streaming: bool) -> Value {
    json!({
        "name": "echo", "description": "Says it again", "version": "1",
        "supportedInterfaces": [{ "url": format!("{own}/rpc"), "protocolBinding": "JSONRPC", "protocolVersion": "1.0" }],
        "capabilities": { "streaming": streaming }, "skills": [],
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
    })
}

pub(crate) fn task(state: &str, artifacts: &[(&str, &[&str])]) -> Value {
    let artifacts: Vec<Value> = artifacts.iter().map(|(id, texts)| artifact(id, texts)).collect();
    json!({ "id": "t1", "contextId": "c1", "status": { "state": state }, "artifacts": artifacts })
}

pub(crate) fn artifact(id: &str, texts: &[&str]) -> Value {
    let parts: Vec<Value> = texts.iter().map(|text| json!({ "text": text })).collect();
    json!({ "artifactId": id, "parts": parts })
}

pub(crate) fn status(state: &str, text: Option<&str>) -> Value {
    let message = text.map(|text| json!({ "messageId": "s", "role": "ROLE_AGENT", "parts": [{ "text": text }] }));
    json!({ "statusUpdate": { "taskId": "t1", "contextId": "c1", "status": { "state": state, "message": message } } })
}

pub(crate) fn chunk(id: &str, text: &str, append: bool) -> Value {
    json!({ "artifactUpdate": {
        "taskId": "t1", "contextId": "c1", "append": append, "artifact": artifact(id, &[text]),
    } })
}

pub(crate) fn message(text: &str) -> Outgoing {
    Outgoing::new(Message::text("m1".parse().unwrap(), Role::User, text))
}

pub(crate) fn name(text: &str) -> TaskName {
    text.parse().unwrap()
}

/// Everything that a follower says.
pub(crate) async fn all(follower: &mut Follower) -> Result<Vec<RemoteEvent>, ClientError> {
    let mut said = Vec::new();
    while let Some(event) = follower.next().await? {
        said.push(event);
    }
    Ok(said)
}

/// Sends a text and returns everything that comes of it, in short words.
pub(crate) async fn talk(agent: &RemoteAgent) -> Result<Vec<String>, ClientError> {
    let mut follower = agent.send(message("hi")).await?;
    Ok(all(&mut follower).await?.iter().map(short).collect())
}

/// An event in a few words.
pub(crate) fn short(event: &RemoteEvent) -> String {
    let said = |message: &Option<Message>| message.as_ref().map(Message::joined_text).unwrap_or_default();
    match event {
        RemoteEvent::Known { task, context } => {
            format!("known {task} {}", context.as_ref().map_or("-", |context| context.as_str()))
        }
        RemoteEvent::Status(status) => format!("{} {}", status.state, said(&status.message)).trim_end().to_owned(),
        RemoteEvent::Artifact(update) => {
            let texts = update
                .artifact
                .parts
                .iter()
                .filter_map(|part| part.as_text())
                .collect::<Vec<_>>()
                .join("|");
            format!("{} {} {texts}", if update.append { "more" } else { "artifact" }, update.artifact.artifact_id)
        }
        RemoteEvent::Message(message) => format!("message {}", message.joined_text()),
        RemoteEvent::Asked(status) => format!("asked {} {}", status.state, said(&status.message)).trim_end().to_owned(),
        RemoteEvent::Ended(status) => format!("ended {} {}", status.state, said(&status.message)).trim_end().to_owned(),
        RemoteEvent::Replied(message) => format!("replied {}", message.joined_text()),
    }
}

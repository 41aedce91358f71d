//! The daemon door against real sockets: a daemon that proves itself, and others that do not.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use openfang_types::secret::Secret;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::*;

const TOKEN: &str = "the-token-that-only-the-daemon-knows";

/// How the other end answers a request, given its head.
type Answers = fn(&str) -> String;

/// A peer on a real socket that keeps everything it was sent.
struct Peer {
    heard: Arc<Mutex<Vec<u8>>>,
    _home: tempfile::TempDir,
    path: PathBuf,
    listener: Option<TcpListener>,
}

impl Peer {
    async fn at(listen: &str) -> Self {
        let listener = TcpListener::bind(listen).await.unwrap();
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("daemon.json");
        let file = DaemonFile {
            pid: std::process::id(),
            address: listener.local_addr().unwrap(),
            token: Secret::new(TOKEN.to_owned()),
            version: "9.9.9".to_owned(),
        };
        file.write(&path).unwrap();
        Self { heard: Arc::default(), _home: home, path, listener: Some(listener) }
    }

    /// Answers every request of every connection while `client` runs.
    async fn while_answering<T>(&mut self, answers: Answers, client: impl Future<Output = T>) -> T {
        let listener = self.listener.take().unwrap();
        let heard = Arc::clone(&self.heard);
        let serving = async {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                serve(stream, answers, &heard).await;
            }
        };
        let done = tokio::select! {
            biased;
            done = client => done,
            () = serving => unreachable!(),
        };
        self.listener = Some(listener);
        done
    }

    fn heard(&self) -> String {
        String::from_utf8(self.heard.lock().unwrap().clone()).unwrap()
    }
}

async fn serve(mut stream: TcpStream, answers: Answers, heard: &Mutex<Vec<u8>>) {
    let mut buffer = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let Ok(read) = stream.read(&mut chunk).await else { return };
        if read == 0 {
            return;
        }
        heard.lock().unwrap().extend_from_slice(&chunk[..read]);
        buffer.extend_from_slice(&chunk[..read]);
        if let Some(end) = buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let head = String::from_utf8(buffer.drain(..end + 4).collect()).unwrap();
            let answer = answers(&head);
            let _ = stream.write_all(answer.as_bytes()).await;
            buffer.clear();
            if answer.contains("connection: close") {
                return;
            }
        }
    }
}

fn json(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

fn challenge_in(head: &str) -> Option<&str> {
    head.strip_prefix("GET /health?challenge=")?.split(' ').next()
}

fn honest(head: &str) -> String {
    match challenge_in(head) {
        Some(challenge) => json("200 OK", &format!("{{\"proof\":\"{}\"}}", proof::proof(TOKEN, challenge))),
        None if head.contains("text/event-stream") => {
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
             : hello\n\nid: t:1\nevent: status\ndata: {}\n\nevent: shutdown\n\n"
                .to_owned()
        }
        None => json("404 Not Found", "{\"error\":{}}"),
    }
}

fn impostor(_: &str) -> String {
    json("200 OK", &format!("{{\"status\":\"ok\",\"proof\":\"{}\"}}", "0".repeat(64)))
}

async fn find(peer: &Peer) -> Result<Option<Daemon>, DaemonError> {
    find_daemon(&peer.path, WireTracer::off()).await
}

#[tokio::test]
async fn a_daemon_that_proves_itself_is_found_and_answers() {
    let mut peer = Peer::at("127.0.0.1:0").await;
    let path = peer.path.clone();

    let answer = peer
        .while_answering(honest, async {
            let daemon = find_daemon(&path, WireTracer::off()).await.unwrap().unwrap();
            daemon
                .request(Method::POST, "/api/tools/x", Some(&serde_json::json!({"arguments": {}})))
                .await
                .unwrap()
        })
        .await;

    assert_eq!(answer, Answer { status: StatusCode::NOT_FOUND, body: Bytes::from_static(b"{\"error\":{}}") });
    let heard = peer.heard();
    let (before, request) = heard.split_once("POST ").unwrap();
    assert!(!before.contains(TOKEN), "the token came before the proof");
    assert!(request.contains(&format!("authorization: Bearer {TOKEN}\r\n")), "{request}");
    assert!(request.contains("x-openfang-door: cli\r\n"), "{request}");
    assert!(request.contains("host: 127.0.0.1:"), "{request}");
    assert!(request.ends_with("\r\n\r\n{\"arguments\":{}}"), "{request}");
}

#[tokio::test]
async fn an_impostor_is_no_daemon_and_never_sees_the_token() {
    let strangers: [Answers; 6] = [
        impostor,
        |_| json("200 OK", "{\"status\":\"ok\"}"),
        |_| json("401 Unauthorized", "{}"),
        |_| json("200 OK", &format!("{{\"proof\":\"{}\"}}", " ".repeat(100_000))),
        |_| "SSH-2.0-OpenSSH_9.9\r\n".to_owned(),
        |_| "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_owned(),
    ];
    for stranger in strangers {
        let mut peer = Peer::at("127.0.0.1:0").await;
        let path = peer.path.clone();

        let found = peer.while_answering(stranger, find_daemon(&path, WireTracer::off())).await;

        assert!(matches!(found, Ok(None)), "{found:?}");
        assert!(!peer.heard().contains(TOKEN));
        assert!(peer.heard().contains("GET /health?challenge="));
    }
}

#[tokio::test]
async fn a_proof_for_one_challenge_is_none_for_the_next() {
    fn replaying(head: &str) -> String {
        static FIRST: Mutex<Option<String>> = Mutex::new(None);
        FIRST.lock().unwrap().get_or_insert_with(|| honest(head)).clone()
    }
    let mut peer = Peer::at("127.0.0.1:0").await;
    let path = peer.path.clone();

    let (first, second) = peer
        .while_answering(replaying, async {
            let first = find_daemon(&path, WireTracer::off()).await;
            (first, find_daemon(&path, WireTracer::off()).await)
        })
        .await;

    assert!(matches!(first, Ok(Some(_))));
    assert!(matches!(second, Ok(None)));
}

#[tokio::test]
async fn a_stranger_who_takes_the_port_later_does_not_get_the_token_either() {
    let mut peer = Peer::at("127.0.0.1:0").await;
    let path = peer.path.clone();
    let daemon = peer
        .while_answering(honest, find_daemon(&path, WireTracer::off()))
        .await
        .unwrap()
        .unwrap();

    let refused = peer.while_answering(impostor, daemon.request(Method::GET, "/api/agents", None)).await;

    assert!(matches!(refused, Err(DaemonError::Unproved { .. })), "{refused:?}");
    assert!(!peer.heard().contains(TOKEN));
}

#[tokio::test]
async fn a_port_where_nothing_listens_means_a_stale_file() {
    let mut peer = Peer::at("127.0.0.1:0").await;
    drop(peer.listener.take());

    assert!(matches!(find(&peer).await, Ok(None)));
}

#[tokio::test]
async fn no_file_means_no_daemon() {
    let home = tempfile::tempdir().unwrap();

    assert!(matches!(find_daemon(&home.path().join("daemon.json"), WireTracer::off()).await, Ok(None)));
}

#[tokio::test(start_paused = true)]
async fn a_living_daemon_that_does_not_answer_is_an_error_and_a_dead_one_is_none() {
    let peer = Peer::at("127.0.0.1:0").await;

    // The listener's backlog takes the connection; nobody ever reads from it.
    assert!(matches!(find(&peer).await, Err(DaemonError::Silent { .. })));

    let mut file = DaemonFile::read(&peer.path).unwrap().unwrap();
    file.pid = u32::MAX;
    file.write(&peer.path).unwrap();
    assert!(matches!(find(&peer).await, Ok(None)));
}

#[tokio::test]
async fn an_address_of_another_machine_is_refused_without_a_packet() {
    let peer = Peer::at("127.0.0.1:0").await;
    let mut file = DaemonFile::read(&peer.path).unwrap().unwrap();
    // Documentation addresses, on no machine.
    for address in ["192.0.2.1:80", "[2001:db8::1]:80"] {
        file.address = address.parse().unwrap();
        file.write(&peer.path).unwrap();

        let refused = find(&peer).await;

        // A machine without IPv6 cannot even make the socket.
        assert!(matches!(refused, Err(DaemonError::Elsewhere { .. }) | Ok(None)), "{refused:?}");
    }
}

#[tokio::test]
async fn a_daemon_on_all_addresses_is_reached_over_loopback() {
    let mut peer = Peer::at("0.0.0.0:0").await;
    let path = peer.path.clone();

    let daemon = peer
        .while_answering(honest, find_daemon(&path, WireTracer::off()))
        .await
        .unwrap()
        .unwrap();

    assert_eq!(daemon.address().ip(), std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    assert_eq!((daemon.pid(), daemon.version()), (std::process::id(), "9.9.9"));
    assert!(peer.heard().contains("host: 127.0.0.1:"));
}

#[tokio::test]
async fn a_stream_gives_its_events_and_then_ends() {
    let mut peer = Peer::at("127.0.0.1:0").await;
    let path = peer.path.clone();

    let events = peer
        .while_answering(honest, async {
            let daemon = find_daemon(&path, WireTracer::off()).await.unwrap().unwrap();
            let streamed = daemon.stream(Method::GET, "/api/tasks/x/events", None, Some("t:0")).await.unwrap();
            let Streamed::Events(mut stream) = streamed else { panic!("not a stream") };
            let mut events = Vec::new();
            while let Some(event) = stream.next().await.unwrap() {
                events.push(event);
            }
            events
        })
        .await;

    let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["status", "shutdown"]);
    assert!(peer.heard().contains("last-event-id: t:0\r\n"));
}

#[tokio::test]
async fn a_refused_stream_comes_as_a_whole_answer() {
    fn refusing(head: &str) -> String {
        if challenge_in(head).is_some() { honest(head) } else { json("404 Not Found", "{}") }
    }
    let mut peer = Peer::at("127.0.0.1:0").await;
    let path = peer.path.clone();

    let streamed = peer
        .while_answering(refusing, async {
            let daemon = find_daemon(&path, WireTracer::off()).await.unwrap().unwrap();
            daemon.stream(Method::GET, "/api/tasks/x/events", None, None).await.unwrap()
        })
        .await;

    assert!(matches!(streamed, Streamed::Answer(answer) if answer.status == StatusCode::NOT_FOUND));
}

#[tokio::test]
async fn the_trace_shows_the_exchange_and_not_the_token() {
    let mut peer = Peer::at("127.0.0.1:0").await;
    let path = peer.path.clone();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&lines);
    let tracer = WireTracer::to(move |line| kept.lock().unwrap().push(line.to_owned()));

    peer.while_answering(honest, async {
        let daemon = find_daemon(&path, tracer).await.unwrap().unwrap();
        daemon.request(Method::GET, "/api/agents", None).await.unwrap();
    })
    .await;

    let lines = lines.lock().unwrap();
    assert!(lines.iter().any(|line| line == "> GET /api/agents"), "{lines:?}");
    assert!(lines.iter().any(|line| line == "< 404 Not Found"), "{lines:?}");
    assert!(lines.iter().all(|line| !line.contains(TOKEN)), "{lines:?}");
}

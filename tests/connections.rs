//! Hostile peers on raw sockets: cut, refused, and never in the way of others.

use std::time::Duration;

use openfang_testkit::http::{raw, read_answer};
use openfang_testkit::{TestHome, TestServer};
use openfang_types::config::Config;
use openfang_types::limits::{Limits, SEAT_SETTLING};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::http::any_port;
use crate::support::frames::{GOAWAY, Http2, Window};
use crate::support::peers::oversized;

async fn server(limits: Limits) -> (TestHome, TestServer) {
    let home = TestHome::new();
    let server = TestServer::start(home.boot_with(Config { limits, ..any_port() }).start().unwrap()).await;
    (home, server)
}

#[tokio::test]
async fn too_many_or_too_large_headers_are_refused() {
    let (_home, server) = server(Limits::default()).await;
    let host = server.address;
    let many: String = (0..100).map(|n| format!("x-{n}: y\r\n")).collect();
    let large = format!("x-large: {}\r\n", "y".repeat(64 * 1024));

    for headers in [many, large] {
        let stream = raw(host, format!("GET /health HTTP/1.1\r\nhost: {host}\r\n{headers}\r\n").as_bytes()).await;
        assert_eq!(read_answer(stream).await.status, 431);
    }
    let long = raw(host, format!("GET /{} HTTP/1.1\r\nhost: {host}\r\n\r\n", "x".repeat(70_000)).as_bytes()).await;
    let status = read_answer(long).await.status;
    assert!(status == 414 || status == 431, "{status}");
    assert_eq!(server.client().get("/health").await.status, 200);
    server.stop().await;
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_refused_announced_or_not() {
    let (_home, server) = server(Limits { body_bytes: 1000, ..Limits::default() }).await;
    let host = server.address;
    let head = format!(
        "POST /api/tools/add_numbers HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-type: application/json\r\n"
    );

    let announced = raw(host, format!("{head}content-length: 1001\r\n\r\n").as_bytes()).await;
    assert_eq!(read_answer(announced).await.status, 413, "before a byte of it was read");
    let chunk = format!("{:x}\r\n{}\r\n", 600, "x".repeat(600));
    let unannounced = raw(host, format!("{head}transfer-encoding: chunked\r\n\r\n{chunk}{chunk}").as_bytes()).await;
    assert_eq!(read_answer(unannounced).await.status, 413, "while it comes, not after");
    server.stop().await;
}

#[tokio::test]
async fn slow_peers_are_cut_and_others_are_served() {
    let (_home, server) = server(Limits { header_read_secs: 1, body_read_secs: 1, ..Limits::default() }).await;
    let host = server.address;
    let silent = raw(host, b"").await;
    let preface = raw(host, b"PRI").await;
    let half = raw(host, b"GET /health HTTP/1.1\r\nhost:").await;
    let body = raw(host, format!("POST /api/tools/add_numbers HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{{").as_bytes()).await;

    assert_eq!(server.client().get("/health").await.status, 200);
    for (mut stream, what) in [(silent, "silent"), (preface, "preface"), (half, "half a head")] {
        let mut rest = Vec::new();
        let closed = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut rest)).await;
        assert!(closed.is_ok(), "{what}");
    }
    let mut answer = [0; 12];
    let mut body = body;
    body.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 408");
    server.stop().await;
}

#[tokio::test]
async fn beyond_the_cap_connections_wait_for_busy_ones_and_the_next_free_place_is_theirs() {
    let home = TestHome::new();
    let hang = openfang_testkit::probes::Probe::hang();
    let config = Config { limits: Limits { connections: 2, ..Limits::default() }, ..any_port() };
    let server = TestServer::start(home.boot_with(config).tool(hang.boxed()).start().unwrap()).await;
    let host = server.address;
    let call = format!(
        "POST /api/tools/probe_hang HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: 16\r\n\r\n{{\"arguments\":{{}}}}"
    );
    let busy = [raw(host, call.as_bytes()).await, raw(host, call.as_bytes()).await];
    while hang.calls() < 2 {
        tokio::task::yield_now().await;
    }
    let mut third = raw(host, asking_health(host).as_bytes()).await;
    let mut answer = [0; 12];
    let early = tokio::time::timeout(SEAT_SETTLING * 5, third.read_exact(&mut answer)).await;
    assert!(early.is_err(), "nobody who is served is cut off for it");

    drop(busy);
    third.read_exact(&mut answer).await.unwrap();

    assert_eq!(&answer, b"HTTP/1.1 200");
    server.stop().await;
}

#[tokio::test]
async fn connections_without_a_request_make_room_for_others() {
    // Only making room can end them within the time of a test.
    let (_home, server) = server(Limits { connections: 4, header_read_secs: 3_600, ..Limits::default() }).await;
    let host = server.address;
    let one_byte = raw(host, b"P").await;
    let half = raw(host, b"GET /health HTTP/1.1\r\nhost:").await;
    let mut idle = raw(host, format!("GET /health HTTP/1.1\r\nhost: {host}\r\n\r\n").as_bytes()).await;
    let mut begin = [0; 12];
    idle.read_exact(&mut begin).await.unwrap();
    assert_eq!(&begin, b"HTTP/1.1 200");
    let pinged = Http2::open(host, Window::Usual).await;

    for _ in 0..8 {
        assert_eq!(read_answer(raw(host, asking_health(host).as_bytes()).await).await.status, 200);
        // Silent ones come as fast as honest ones.
        let _silent = raw(host, b"G").await;
    }

    drop((one_byte, half, idle, pinged));
    server.stop().await;
}

fn asking_health(host: std::net::SocketAddr) -> String {
    format!("GET /health HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n")
}

#[tokio::test]
async fn garbage_gets_an_error_and_the_server_goes_on() {
    let (_home, server) = server(Limits::default()).await;
    for garbage in [
        &b"\0\0\0\0\0\0\0\0\r\n\r\n"[..],
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01",
        b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
    ] {
        let mut stream = raw(server.address, garbage).await;
        let _ = stream.shutdown().await;
        let mut rest = Vec::new();
        let _ = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut rest))
            .await
            .expect("it is closed");
    }
    assert_eq!(server.client().get("/health").await.status, 200);
    server.stop().await;
}

#[tokio::test]
async fn http_2_is_spoken_to_who_opens_with_its_preface() {
    let (_home, server) = server(Limits::default()).await;
    // The preface and an empty SETTINGS frame; the answer begins with the server's SETTINGS.
    let mut stream = raw(server.address, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await;
    let mut frame = [0; 9];
    stream.read_exact(&mut frame).await.unwrap();

    assert_eq!(frame[3], 4, "a SETTINGS frame");
    drop(stream);
    server.stop().await;
}

#[tokio::test]
async fn a_call_whose_caller_hangs_up_is_dropped() {
    let home = TestHome::new();
    let hang = openfang_testkit::probes::Probe::hang();
    let server = TestServer::start(home.boot_with(any_port()).tool(hang.boxed()).start().unwrap()).await;
    let body = json!({"arguments": {}}).to_string();
    let request = format!(
        "POST /api/tools/probe_hang HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    );
    let stream = raw(server.address, request.as_bytes()).await;
    while hang.calls() == 0 {
        tokio::task::yield_now().await;
    }

    drop(stream);

    // Stopping waits for running calls: it would take the whole drain time if the call still ran.
    let stopped = tokio::time::timeout(Duration::from_secs(10), server.stop()).await;
    assert_eq!(stopped.expect("the call was dropped"), openfang_api::Stopped::Finished);
}

#[tokio::test]
async fn a_connection_that_only_answers_pings_is_closed() {
    let (_home, server) = server(Limits { header_read_secs: 1, ..Limits::default() }).await;
    let mut peer = Http2::open(server.address, Window::Usual).await;

    let mut is_told = false;
    let closed = tokio::time::timeout(Duration::from_secs(30), async {
        while let Some(frame) = peer.next().await {
            is_told |= frame.kind == GOAWAY;
        }
    });

    closed.await.expect("it is closed");
    assert!(is_told, "it is told before");
    server.stop().await;
}

#[tokio::test]
async fn a_preface_in_pieces_is_understood() {
    let (_home, server) = server(Limits::default()).await;
    let mut stream = raw(server.address, b"P").await;
    for piece in [&b"RI * HTTP/2.0\r\n"[..], b"\r\nSM\r\n\r", b"\n\0\0\0\x04\0\0\0\0\0"] {
        assert_eq!(server.client().get("/health").await.status, 200);
        stream.write_all(piece).await.unwrap();
    }

    let mut frame = [0; 9];
    stream.read_exact(&mut frame).await.unwrap();
    assert_eq!(frame[3], 4, "a SETTINGS frame");
    let mut plain = raw(server.address, b"P").await;
    plain
        .write_all(format!("UT /health HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", server.address).as_bytes())
        .await
        .unwrap();
    assert_eq!(read_answer(plain).await.status, 405);
    drop(stream);
    server.stop().await;
}

#[tokio::test]
async fn what_two_readers_could_take_for_two_requests_is_refused() {
    let (_home, server) = server(Limits::default()).await;
    let host = server.address;
    let post = format!("POST /api/tools/add_numbers HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n");
    let hidden = format!("GET /health HTTP/1.1\r\nhost: {host}\r\n\r\n");
    let rows = [
        ("a bare line feed", format!("GET /health HTTP/1.1\nhost: {host}\r\n\r\n")),
        ("a bare line feed at the end", format!("GET /health HTTP/1.1\r\nhost: {host}\r\n\n")),
        ("two lengths", format!("{post}content-length: 2\r\ncontent-length: 2\r\n\r\n{{}}")),
        (
            "two codings",
            format!("{post}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n"),
        ),
        (
            "a coding before chunked",
            format!("{post}transfer-encoding: identity, chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n"),
        ),
        (
            "a coding and a length",
            format!("{post}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n"),
        ),
    ];
    for (what, request) in rows {
        let mut stream = raw(host, format!("{request}{hidden}").as_bytes()).await;
        let mut answers = String::new();
        let _ = stream.read_to_string(&mut answers).await;
        assert!(answers.starts_with("HTTP/1.1 400"), "{what}: {answers}");
        assert_eq!(answers.matches("HTTP/1.1").count(), 1, "{what}: nothing after it is answered: {answers}");
    }
    // What is plain still comes one after the other.
    let body = json!({"arguments": {"a": 1, "b": 2}}).to_string();
    let chunked = format!("{post}transfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let lengthy = format!("{post}content-length: {}\r\n\r\n{body}", body.len());
    let last = format!("GET /health HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    let mut stream = raw(host, format!("{chunked}{lengthy}{hidden}{last}").as_bytes()).await;
    let mut answers = String::new();
    stream.read_to_string(&mut answers).await.unwrap();
    assert_eq!(answers.matches("HTTP/1.1 200").count(), 4, "{answers}");
    server.stop().await;
}

#[tokio::test]
async fn whoever_sends_too_much_sees_the_refusal_and_no_broken_connection() {
    let (_home, server) = server(Limits { body_bytes: 1000, ..Limits::default() }).await;
    let host = server.address;
    let head = format!("POST /api/tools/add_numbers HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n");
    let large = vec![b'x'; 16 * 1024 * 1024];
    let chunk = [format!("{:x}\r\n", large.len()).as_bytes(), &large, b"\r\n0\r\n\r\n"].concat();

    for (framing, body) in
        [(format!("content-length: {}", large.len()), &large), ("transfer-encoding: chunked".to_owned(), &chunk)]
    {
        let mut stream = raw(host, format!("{head}{framing}\r\n\r\n").as_bytes()).await;
        stream.write_all(body).await.expect("it is taken");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("the connection is not reset");
        assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_clients_that_send_too_much_see_the_refusal() {
    let (_home, server) = server(Limits { body_bytes: 1000, ..Limits::default() }).await;
    let url = format!("http://{}/api/tools/add_numbers", server.address);

    let seen = tokio::task::spawn_blocking(move || oversized(&url)).await.unwrap();

    assert_eq!(seen, [("httpx", 413), ("node", 413), ("fetch", 413)].map(|(name, status)| (name.to_owned(), status)));
    server.stop().await;
}

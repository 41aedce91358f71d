//! Answers from hell, from raw sockets: each cap ends them with its own error, and what the peer could push meanwhile is
//! bounded by the cap and the buffers on the way (A2C-09).

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;

use crate::http::{Caps, HttpConfig, HttpError, Interruption, Patience, Request};
use crate::resolve::{Resolve, Resolving};

use super::peer::{Peer, World, answer, impatient};

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";

/// What the sockets of both ends and the client may hold, generously.
const BUFFERS: u64 = 12 * 1024 * 1024;

/// Sends on and on, and counts; ends when the other end is gone.
fn pour(stream: &mut TcpStream, piece: &[u8], poured: &AtomicU64) {
    while stream.write_all(piece).is_ok() {
        poured.fetch_add(piece.len() as u64, Ordering::SeqCst);
    }
}

/// Sends a piece now and then until the other end is gone.
fn dribble(stream: &mut TcpStream, piece: &[u8]) {
    stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    while !matches!(stream.read(&mut [0]), Ok(0)) && stream.write_all(piece).is_ok() {}
}

/// Holds the connection until the other end closes it.
fn hold(stream: &mut TcpStream) {
    drop(std::io::copy(stream, &mut std::io::sink()));
}

/// What comes of a request to a peer that serves so.
async fn outcome(
    serve: impl Fn(&mut TcpStream) + Send + Sync + 'static,
    change: impl Fn(Request) -> Request,
) -> Result<Bytes, HttpError> {
    let peer = Peer::new(move |_, stream| serve(stream));
    let world = World::new(&[]);
    world.whole(change(world.operator(&peer.url("/")))).await
}

fn little_patience(request: Request) -> Request {
    request.patience(impatient())
}

async fn outcome_of_bytes(bytes: impl Into<Vec<u8>>) -> Result<Bytes, HttpError> {
    let bytes = bytes.into();
    outcome(move |stream| drop(stream.write_all(&bytes)), little_patience).await
}

#[tokio::test]
async fn a_peer_that_never_answers_is_a_first_byte_timeout() {
    let error = outcome(hold, little_patience).await.unwrap_err();

    assert!(matches!(error, HttpError::FirstByte { .. }), "{error:?}");
}

#[tokio::test]
async fn a_head_that_comes_a_byte_at_a_time_is_a_first_byte_timeout() {
    let serve = |stream: &mut TcpStream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nx: ").unwrap();
        dribble(stream, b"x");
    };

    let error = outcome(serve, little_patience).await.unwrap_err();

    assert!(matches!(error, HttpError::FirstByte { .. }), "{error:?}");
}

#[tokio::test]
async fn interim_answers_without_end_are_a_first_byte_timeout() {
    let serve = |stream: &mut TcpStream| {
        let interim = b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n";
        stream.write_all(&interim.repeat(10_000)).unwrap();
        dribble(stream, interim);
    };

    let error = outcome(serve, little_patience).await.unwrap_err();

    assert!(matches!(error, HttpError::FirstByte { .. }), "{error:?}");
}

#[tokio::test]
async fn a_body_that_stops_is_stalled() {
    let serve = |stream: &mut TcpStream| {
        stream.write_all(&[HEAD, b"some"].concat()).unwrap();
        hold(stream);
    };

    let error = outcome(serve, little_patience).await.unwrap_err();

    assert!(matches!(error, HttpError::Stalled { .. }), "{error:?}");
}

#[tokio::test]
async fn a_body_that_dribbles_on_takes_too_long() {
    let serve = |stream: &mut TcpStream| {
        stream.write_all(HEAD).unwrap();
        dribble(stream, b"x");
    };
    let patience = Patience { total: Some(Duration::from_millis(700)), ..impatient() };

    let error = outcome(serve, |request| request.patience(patience)).await.unwrap_err();

    assert!(matches!(error, HttpError::TookTooLong { .. }), "{error:?}");
}

#[tokio::test]
async fn a_head_that_is_late_for_the_total_takes_too_long() {
    let patience = Patience { total: Some(Duration::from_millis(100)), ..impatient() };

    let error = outcome(hold, |request| request.patience(patience)).await.unwrap_err();

    assert!(matches!(error, HttpError::TookTooLong { .. }), "{error:?}");
}

#[tokio::test]
async fn an_endless_body_is_too_large_and_little_of_it_is_taken() {
    let poured = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&poured);
    let serve = move |stream: &mut TcpStream| {
        stream.write_all(HEAD).unwrap();
        pour(stream, &[b'x'; 16 * 1024], &counted);
    };
    let caps = Caps { decoded_bytes: 100_000, ..Caps::default() };

    let error = outcome(serve, |request| request.caps(caps)).await.unwrap_err();

    assert!(matches!(error, HttpError::TooLarge { limit: 100_000, .. }), "{error:?}");
    assert!(poured.load(Ordering::SeqCst) < 100_000 + BUFFERS, "{poured:?}");
}

#[tokio::test]
async fn a_body_that_nobody_reads_is_not_taken_from_its_sender() {
    let poured = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&poured);
    let peer = Peer::new(move |_, stream| {
        stream.write_all(HEAD).unwrap();
        pour(stream, &[b'x'; 16 * 1024], &counted);
    });
    let world = World::new(&[]);
    let mut response = world.send(world.operator(&peer.url("/"))).await.unwrap();
    response.body.chunk().await.unwrap();

    // Until nothing has moved for a while, the connection gets every chance to read ahead.
    let mut before = u64::MAX;
    while before != poured.load(Ordering::SeqCst) {
        before = poured.load(Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }

    assert!(before < BUFFERS, "{before}");
}

#[tokio::test]
async fn a_length_beyond_the_cap_is_too_large_before_the_body_is_read() {
    let error = outcome_of_bytes("HTTP/1.1 200 OK\r\ncontent-length: 109951162777600\r\n\r\nx")
        .await
        .unwrap_err();

    assert!(matches!(error, HttpError::TooLarge { .. }), "{error:?}");
}

#[tokio::test]
async fn endless_headers_are_no_valid_answer_and_little_of_them_is_taken() {
    for piece in [b"a: b\r\n".as_slice(), b"x".as_slice()] {
        let poured = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&poured);
        let serve = move |stream: &mut TcpStream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\n").unwrap();
            pour(stream, &piece.repeat(1_000), &counted);
        };

        let error = outcome(serve, |request| request).await.unwrap_err();

        assert!(matches!(error, HttpError::BadResponse { .. }), "{error:?}");
        assert!(poured.load(Ordering::SeqCst) < BUFFERS, "{poured:?}");
    }
}

#[tokio::test]
async fn a_body_shorter_than_it_said_ended_early() {
    for bytes in [
        "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nshort\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\nshort",
        "HTTP/1.1 200 OK\r\ncontent-le",
        "",
    ] {
        let error = outcome_of_bytes(bytes).await.unwrap_err();

        let is_early = matches!(error, HttpError::Interrupted { how: Interruption::EndedEarly, .. });
        assert!(is_early, "{bytes:?}: {error:?}");
    }
}

#[tokio::test]
async fn a_reset_connection_was_reset() {
    let heads: [&[u8]; 2] = [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\nsome"];
    for head in heads {
        let serve = move |stream: &mut TcpStream| {
            stream.write_all(head).unwrap();
            // Closing at once, without lingering, throws the connection away.
            rustix::net::sockopt::set_socket_linger(&*stream, Some(Duration::ZERO)).unwrap();
        };

        let error = outcome(serve, |request| request).await.unwrap_err();

        let is_reset = matches!(error, HttpError::Interrupted { how: Interruption::Reset, .. });
        assert!(is_reset, "{error:?}");
    }
}

#[tokio::test]
async fn what_is_not_http_is_no_valid_answer() {
    for bytes in [
        "SSH-2.0-OpenSSH_9.9\r\n\r\n",
        "HTTP/9.9 200 OK\r\n\r\n",
        "HTTP/1.1 9999 X\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx",
        "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nnonsense\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\nx",
        "\0\0\0\0",
    ] {
        let error = outcome_of_bytes(bytes).await.unwrap_err();

        assert!(matches!(error, HttpError::BadResponse { .. }), "{bytes:?}: {error:?}");
    }
}

#[tokio::test]
async fn nobody_at_the_port_and_nobody_of_the_name_are_told_apart() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let world = World::new(&[]);

    let unreachable = world.send(world.operator(&format!("http://{free}/"))).await.unwrap_err();
    let unresolvable = world.send(world.foreign("http://www.example.com/")).await.unwrap_err();

    let kind = std::io::ErrorKind::ConnectionRefused;
    assert!(matches!(&unreachable, HttpError::Unreachable { kind: found, .. } if *found == kind), "{unreachable:?}");
    assert!(matches!(unresolvable, HttpError::Unresolvable { .. }), "{unresolvable:?}");
}

/// Never says what a name means.
struct Silent;

impl Resolve for Silent {
    fn resolve(&self, _: &str) -> Resolving {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_name_or_a_handshake_without_end_is_a_connect_timeout() {
    let peer = Peer::new(|_, stream| hold(stream));
    let world = World::with(HttpConfig { resolver: Arc::new(Silent), ..HttpConfig::default() });
    let patience = Patience { connect: Duration::from_millis(100), ..Patience::default() };
    let secure = format!("https://{}/", peer.address);
    for request in [world.foreign("http://www.example.com/"), world.operator(&secure)] {
        let error = world.send(request.patience(patience)).await.unwrap_err();

        let is_expected = matches!(error, HttpError::ConnectTimeout { after, .. } if after == patience.connect);
        assert!(is_expected, "{error:?}");
    }
}

#[tokio::test]
async fn an_encoding_that_was_not_asked_for_is_its_own_error() {
    for encoding in ["br", "zstd", "gzip, gzip", "identity, gzip", "\u{1}"] {
        let bytes = answer(200, &format!("content-encoding: {encoding}\r\n"), b"x");

        let error = outcome_of_bytes(bytes).await.unwrap_err();

        let is_expected = match encoding {
            "\u{1}" => matches!(error, HttpError::BadResponse { .. }),
            _ => matches!(error, HttpError::UnsupportedEncoding { .. }),
        };
        assert!(is_expected, "{encoding}: {error:?}");
    }
    let twice = answer(200, "content-encoding: gzip\r\ncontent-encoding: gzip\r\n", b"x");
    let error = outcome_of_bytes(twice).await.unwrap_err();
    assert!(matches!(error, HttpError::UnsupportedEncoding { .. }), "{error:?}");
}

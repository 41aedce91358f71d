//! Requests that work.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, StatusCode, header};

use crate::http::{HttpError, Patience, Request};

use super::peer::{Names, Peer, World, answer};

#[tokio::test]
async fn a_request_carries_what_was_given_and_our_name() {
    let peer = Peer::saying(answer(201, "x-id: 7\r\n", b"done"));
    let world = World::new(&[]);
    let url = world.door.guard().operator(&peer.url("/path?query=1#fragment")).unwrap();
    let request = Request::new(Method::POST, url)
        .body(HeaderValue::from_static("application/json"), "{}")
        .secret_header(header::AUTHORIZATION, HeaderValue::from_static("bearer abc"));

    let response = world.send(request).await.unwrap();

    assert_eq!(response.status, StatusCode::CREATED);
    assert_eq!(response.headers["x-id"], "7");
    assert_eq!(response.origin.to_string(), peer.url(""));
    assert_eq!(response.body.bytes().await.unwrap(), "done");
    let heard = &peer.heard()[0];
    assert!(heard.starts_with("post /path?query=1 http/1.1\r\n"), "{heard}");
    for line in [
        "content-type: application/json",
        "authorization: bearer abc",
        "content-length: 2",
        "accept-encoding: gzip, deflate",
        concat!("user-agent: openfang/", env!("CARGO_PKG_VERSION")),
        &format!("host: {}", peer.address),
    ] {
        assert!(heard.contains(&format!("\r\n{line}\r\n")), "{line}: {heard}");
    }
    assert!(heard.ends_with("\r\n\r\n{}"), "{heard}");
    assert!(!heard.contains("referer") && !heard.contains("cookie"), "{heard}");
}

#[tokio::test]
async fn headers_that_frame_the_message_are_refused_before_anything_is_sent() {
    let peer = Peer::saying(answer(200, "", b""));
    let world = World::new(&[]);
    for name in ["host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "accept-encoding"] {
        let request = world.operator(&peer.url("/"));
        let request = request.header(HeaderName::from_static(name), HeaderValue::from_static("1"));

        let error = world.send(request).await.unwrap_err();

        assert!(matches!(error, HttpError::ReservedHeader { .. }), "{name}: {error:?}");
    }
    for method in [Method::CONNECT, Method::TRACE] {
        let url = world.door.guard().operator(&peer.url("/")).unwrap();

        let error = world.send(Request::new(method, url)).await.unwrap_err();

        assert!(matches!(error, HttpError::Method { .. }), "{error:?}");
    }
    assert_eq!((peer.accepted(), world.dials()), (0, 0));
}

#[tokio::test]
async fn cookies_are_not_kept() {
    let peer = Peer::saying(answer(200, "set-cookie: a=b\r\n", b""));
    let world = World::new(&[]);

    world.whole(world.operator(&peer.url("/"))).await.unwrap();
    world.whole(world.operator(&peer.url("/"))).await.unwrap();

    assert!(peer.heard().iter().all(|request| !request.contains("cookie")), "{:?}", peer.heard());
}

#[tokio::test]
async fn an_answer_without_a_body_is_empty_whatever_encoding_it_names() {
    let peer = Peer::saying(answer(200, "content-encoding: gzip\r\n", b""));
    let world = World::new(&[]);
    let url = world.door.guard().operator(&peer.url("/")).unwrap();

    assert_eq!(world.whole(Request::new(Method::HEAD, url.clone())).await.unwrap(), Bytes::new());
    assert_eq!(world.whole(Request::new(Method::GET, url)).await.unwrap(), Bytes::new());
}

#[test]
fn requests_may_run_on_any_thread() {
    fn is_send<T: Send>(_: &T) {}
    let world = World::new(&[]);

    is_send(&world.door.send(world.operator("http://127.0.0.1/")));
    is_send(&world.door);
}

#[tokio::test]
async fn every_character_that_a_url_may_hold_can_be_sent() {
    let peer = Peer::saying(answer(200, "", b""));
    let world = World::resolving(&[], Names::answering(&[&["127.0.0.1"]]));
    let port = peer.address.port();
    for character in (0..=0x17f).filter_map(char::from_u32) {
        for url in [
            format!("http://127.0.0.1:{port}/{character}?{character}"),
            format!("http://a{character}b.example.com:{port}/"),
        ] {
            let Ok(url) = world.door.guard().operator(&url) else { continue };

            let outcome = world.send(Request::new(Method::GET, url)).await;

            // Some characters end the host, and what is before them is asked at another port.
            let is_sent = matches!(outcome, Ok(_) | Err(HttpError::Unreachable { .. } | HttpError::CircuitOpen { .. }));
            assert!(is_sent, "{character:?}: {outcome:?}");
        }
    }
    assert!(peer.accepted() > 384, "{}", peer.accepted());
}

#[tokio::test]
async fn patience_without_end_is_patience() {
    let peer = Peer::saying(answer(200, "", b"hello"));
    let world = World::new(&[]);
    let endless =
        Patience { connect: Duration::MAX, first_byte: Duration::MAX, idle: Duration::MAX, total: Some(Duration::MAX) };

    let body = world.whole(world.operator(&peer.url("/")).patience(endless)).await.unwrap();

    assert_eq!(body, "hello");
}

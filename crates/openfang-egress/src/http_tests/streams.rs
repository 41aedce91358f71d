//! Event streams over real sockets.

use std::io::Write as _;
use std::time::Duration;

use crate::http::HttpError;
use crate::sse::{Event, SseError, SseLimits};

use super::peer::{Peer, World, impatient};

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

async fn first_error(body: &'static [u8], limits: SseLimits) -> HttpError {
    let peer = Peer::new(move |_, stream| {
        stream.write_all(HEAD).unwrap();
        while stream.write_all(body).is_ok() {}
    });
    let world = World::new(&[]);
    let response = world.send(world.operator(&peer.url("/")).for_events()).await.unwrap();
    let mut events = response.body.events(limits);
    loop {
        match events.next().await {
            Ok(event) => assert!(event.is_some(), "an endless stream ended"),
            Err(error) => return error,
        }
    }
}

#[tokio::test]
async fn events_come_as_they_are_sent_and_the_stream_ends_with_its_peer() {
    // The second event is sent when the first was received: nothing is held back for more.
    let (received, wait) = std::sync::mpsc::sync_channel(1);
    let wait = std::sync::Mutex::new(wait);
    let peer = Peer::new(move |_, stream| {
        stream.write_all(&[HEAD, b"retry: 5000\nid: 1\ndata: one\n\n"].concat()).unwrap();
        wait.lock().unwrap().recv().unwrap();
        stream.write_all("event: last\ndata: zw\u{f6}lf\n\ndata: cut off".as_bytes()).unwrap();
    });
    let world = World::new(&[]);
    let mut events = world
        .send(world.operator(&peer.url("/")).for_events())
        .await
        .unwrap()
        .body
        .events(SseLimits::default());

    let first = events.next().await.unwrap().unwrap();
    received.send(()).unwrap();
    let second = events.next().await.unwrap().unwrap();

    let id = Some("1".to_owned());
    assert_eq!(first, Event { name: "message".to_owned(), id: id.clone(), data: "one".to_owned() });
    assert_eq!(second, Event { name: "last".to_owned(), id, data: "zw\u{f6}lf".to_owned() });
    assert_eq!(events.retry(), Some(Duration::from_secs(5)));
    assert_eq!(events.next().await.unwrap(), None);
    assert!(peer.heard()[0].contains("accept-encoding: identity\r\n"), "{:?}", peer.heard());
}

#[tokio::test]
async fn an_endless_event_an_endless_comment_and_endless_events_each_end_the_stream() {
    let limits = SseLimits { event_bytes: 10_000, events: 1_000 };

    let endless_event = first_error(b"data: x\n", limits).await;
    let endless_line = first_error(b"xxxxxxxx", limits).await;
    let endless_events = first_error(b"data: x\n\n", limits).await;

    for error in [endless_event, endless_line] {
        let is_expected = matches!(error, HttpError::Events { cause: SseError::EventTooLarge { limit: 10_000 }, .. });
        assert!(is_expected, "{error:?}");
    }
    let is_expected =
        matches!(endless_events, HttpError::Events { cause: SseError::TooManyEvents { limit: 1_000 }, .. });
    assert!(is_expected, "{endless_events:?}");
}

#[tokio::test]
async fn a_silent_stream_is_stalled() {
    let peer = Peer::new(|_, stream| {
        stream.write_all(&[HEAD, b"data: one\n\n"].concat()).unwrap();
        drop(std::io::copy(stream, &mut std::io::sink()));
    });
    let world = World::new(&[]);
    let request = world.operator(&peer.url("/")).patience(impatient()).for_events();
    let mut events = world.send(request).await.unwrap().body.events(SseLimits::default());

    assert!(events.next().await.unwrap().is_some());
    let error = events.next().await.unwrap_err();

    assert!(matches!(error, HttpError::Stalled { .. }), "{error:?}");
}

//! What is sent again, what never is, and when an origin is left alone.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use http::{HeaderValue, Method};

use crate::http::{HttpError, Patience, Request, Retry};

use super::peer::{Peer, World, answer, impatient};

/// Fails in the given way as often as said, then answers.
fn failing(times: usize, fail: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> Peer {
    Peer::new(move |nth, stream| {
        if nth < times {
            fail(stream);
        } else {
            stream.write_all(&answer(200, "", b"at last")).unwrap();
        }
    })
}

fn hang_up(_: &mut TcpStream) {}

#[tokio::test]
async fn a_safe_request_is_sent_three_times_at_most() {
    let world = World::new(&[]);
    let (twice, thrice) = (failing(2, hang_up), failing(3, hang_up));

    let recovered = world.whole(world.operator(&twice.url("/")).retry(Retry::Safe)).await.unwrap();
    let error = world.send(world.operator(&thrice.url("/")).retry(Retry::Safe)).await.unwrap_err();

    assert_eq!(recovered, "at last");
    assert!(matches!(error, HttpError::Interrupted { .. }), "{error:?}");
    assert_eq!((twice.accepted(), thrice.accepted()), (3, 3));
}

#[tokio::test]
async fn statuses_that_pass_are_tried_again_and_the_last_one_is_handed_over() {
    for (status, attempts) in [(429, 3), (502, 3), (503, 3), (504, 3), (500, 1), (404, 1), (200, 1)] {
        let peer = Peer::saying(answer(status, "retry-after: 0\r\n", b""));
        let world = World::new(&[]);

        let response = world.send(world.operator(&peer.url("/")).retry(Retry::Safe)).await.unwrap();

        assert_eq!((response.status.as_u16(), peer.accepted()), (status, attempts));
    }
}

#[tokio::test]
async fn a_server_that_asks_for_too_much_time_is_not_asked_again() {
    for asked in ["31", "99999999999999999999", "Fri, 31 Dec 2027 23:59:59 GMT", "-1", "soon"] {
        let peer = Peer::saying(answer(503, &format!("retry-after: {asked}\r\n"), b""));
        let world = World::new(&[]);

        let response = world.send(world.operator(&peer.url("/")).retry(Retry::Safe)).await.unwrap();

        assert_eq!((response.status.as_u16(), peer.accepted()), (503, 1), "{asked}");
    }
}

#[tokio::test]
async fn a_pause_beyond_the_total_is_not_begun() {
    let peer = Peer::saying(answer(503, "retry-after: 30\r\n", b""));
    let world = World::new(&[]);
    let patience = Patience { total: Some(Duration::from_secs(10)), ..Patience::default() };

    let response = world
        .send(world.operator(&peer.url("/")).retry(Retry::Safe).patience(patience))
        .await
        .unwrap();

    assert_eq!((response.status.as_u16(), peer.accepted()), (503, 1));
}

#[tokio::test]
async fn a_request_that_may_not_be_repeated_is_sent_once_whatever_happens() {
    let silent = |stream: &mut TcpStream| drop(std::io::copy(stream, &mut std::io::sink()));
    let unavailable = |stream: &mut TcpStream| stream.write_all(&answer(503, "retry-after: 0\r\n", b"")).unwrap();
    let half = |stream: &mut TcpStream| stream.write_all(b"HTTP/1.1 200").unwrap();
    for peer in [failing(9, hang_up), failing(9, silent), failing(9, unavailable), failing(9, half)] {
        let world = World::new(&[]);
        let url = world.door.guard().operator(&peer.url("/")).unwrap();
        let post = Request::new(Method::POST, url).body(HeaderValue::from_static("text/plain"), "once");

        drop(world.send(post.patience(impatient())).await);

        assert_eq!(peer.heard().len(), 1, "{:?}", peer.heard());
    }
}

#[tokio::test]
async fn a_request_that_timed_out_is_not_repeated() {
    let peer = failing(9, |stream| drop(std::io::copy(stream, &mut std::io::sink())));
    let world = World::new(&[]);
    let request = world.operator(&peer.url("/")).retry(Retry::Safe).patience(impatient());

    let error = world.send(request).await.unwrap_err();

    assert!(matches!(error, HttpError::FirstByte { .. }), "{error:?}");
    assert_eq!(peer.accepted(), 1);
}

#[tokio::test]
async fn after_five_failures_in_a_row_an_origin_is_left_alone_and_others_are_not() {
    let world = World::new(&["127.0.0.1"]);
    let (broken, healthy) = (failing(9, hang_up), failing(0, hang_up));
    for _ in 0..5 {
        let error = world.send(world.operator(&broken.url("/"))).await.unwrap_err();
        assert!(matches!(error, HttpError::Interrupted { .. }), "{error:?}");
    }

    let error = world.send(world.operator(&broken.url("/"))).await.unwrap_err();

    let HttpError::CircuitOpen { retry_after, .. } = error else { panic!("{error:?}") };
    assert!(retry_after <= Duration::from_secs(30), "{retry_after:?}");
    assert_eq!(broken.accepted(), 5);
    assert!(world.send(world.operator(&healthy.url("/"))).await.is_ok());
    let by_a_stranger = world.send(world.foreign(&broken.url("/"))).await.unwrap_err();
    assert!(matches!(by_a_stranger, HttpError::Interrupted { .. }), "{by_a_stranger:?}");
}

#[tokio::test]
async fn running_out_of_time_counts_as_a_failure_and_giving_up_does_not() {
    let silent = |stream: &mut TcpStream| drop(std::io::copy(stream, &mut std::io::sink()));
    let (late, dropped) = (failing(99, silent), failing(99, silent));
    let world = World::new(&[]);
    let short = Patience { total: Some(Duration::from_millis(50)), ..Patience::default() };

    for _ in 0..5 {
        let error = world.send(world.operator(&late.url("/")).patience(short)).await.unwrap_err();
        assert!(matches!(error, HttpError::TookTooLong { .. }), "{error:?}");
        let given_up =
            tokio::time::timeout(Duration::from_millis(50), world.door.send(world.operator(&dropped.url("/"))));
        assert!(given_up.await.is_err());
    }
    let after_lateness = world.send(world.operator(&late.url("/")).patience(short)).await.unwrap_err();
    let after_giving_up = world.send(world.operator(&dropped.url("/")).patience(short)).await.unwrap_err();

    assert!(matches!(after_lateness, HttpError::CircuitOpen { .. }), "{after_lateness:?}");
    assert!(matches!(after_giving_up, HttpError::TookTooLong { .. }), "{after_giving_up:?}");
}

//! HTTP/2, as most of the web speaks it: the same caps hold, and an unread body stops its sender there too.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use openfang_types::limits::HTTP2_STREAM_WINDOW;
use tokio::net::TcpListener;

use crate::http::{Caps, HttpConfig, HttpError, Request, Response};
use crate::url::Guard;

use super::peer::{Names, World, impatient};
use super::tls::authority;

/// What the server says, and how much it got rid of.
#[derive(Clone)]
enum Says {
    Hello,
    Endless(Arc<AtomicU64>),
    Half,
}

struct Saying(Says, bool);

impl Body for Saying {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let is_first = !std::mem::replace(&mut self.1, true);
        let piece = match &self.0 {
            Says::Hello if is_first => Bytes::from_static(b"hello"),
            Says::Hello => return Poll::Ready(None),
            Says::Endless(said) => {
                said.fetch_add(16 * 1024, Ordering::SeqCst);
                Bytes::from_static(&[b'x'; 16 * 1024])
            }
            Says::Half if is_first => Bytes::from_static(b"some"),
            Says::Half => return Poll::Pending,
        };
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }
}

/// Runs `client` against a server that speaks HTTP/2 over TLS.
async fn against<T>(says: Says, client: impl AsyncFnOnce(&World, Request) -> T) -> T {
    let (pem, acceptor) = authority("www.example.com", &[b"h2"]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = async {
        let (stream, _) = listener.accept().await.unwrap();
        let stream = acceptor.accept(stream).await.unwrap();
        let answer = service_fn(|_: http::Request<Incoming>| {
            let says = says.clone();
            async move { Ok::<_, Infallible>(http::Response::new(Saying(says, false))) }
        });
        drop(
            http2::Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(stream), answer)
                .await,
        );
        std::future::pending().await
    };
    let guard = Guard::allowing(["127.0.0.0/8"]).unwrap();
    let resolver = Names::answering(&[&["127.0.0.1"]]);
    let world = World::with(HttpConfig { guard, extra_roots: vec![pem], resolver, ..HttpConfig::default() });
    let request = world.foreign(&format!("https://www.example.com:{port}/"));
    tokio::select! {
        outcome = client(&world, request) => outcome,
        () = serving => unreachable!(),
    }
}

#[tokio::test]
async fn an_answer_over_http2_is_an_answer() {
    let (first, second, dials) = against(Says::Hello, async |world: &World, request: Request| {
        let first = world.whole(request.clone()).await.unwrap();
        let second = world.whole(request).await.unwrap();
        (first, second, world.dials())
    })
    .await;

    assert_eq!((first.as_ref(), second.as_ref()), (b"hello".as_slice(), b"hello".as_slice()));
    assert_eq!(dials, 1, "one connection serves both");
}

#[tokio::test]
async fn an_endless_body_over_http2_is_too_large() {
    let says = Says::Endless(Arc::default());
    let caps = Caps { decoded_bytes: 1_000_000, ..Caps::default() };

    let outcome = against(says, async |world: &World, request: Request| world.whole(request.caps(caps)).await).await;

    let error = outcome.unwrap_err();
    assert!(matches!(error, HttpError::TooLarge { limit: 1_000_000, .. }), "{error:?}");
}

#[tokio::test]
async fn a_body_over_http2_that_nobody_reads_stops_at_the_window() {
    let said = Arc::new(AtomicU64::new(0));

    against(Says::Endless(Arc::clone(&said)), async |world: &World, request: Request| {
        let _unread: Response = world.send(request).await.unwrap();
        let mut before = u64::MAX;
        while before != said.load(Ordering::SeqCst) {
            before = said.load(Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    })
    .await;

    // The server keeps some frames of its own beyond the window.
    let said = said.load(Ordering::SeqCst);
    assert!(said <= 4 * u64::from(HTTP2_STREAM_WINDOW), "{said}");
}

#[tokio::test]
async fn a_body_over_http2_that_stops_is_stalled() {
    let outcome =
        against(Says::Half, async |world: &World, request: Request| world.whole(request.patience(impatient())).await)
            .await;

    let error = outcome.unwrap_err();
    assert!(matches!(error, HttpError::Stalled { .. }), "{error:?}");
}

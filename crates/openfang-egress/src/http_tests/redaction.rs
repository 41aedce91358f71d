//! A canary in every place where a secret can be, and nowhere in what is shown.

use std::error::Error;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use http::{HeaderName, HeaderValue, Method, header};
use prometheus_client::registry::Registry;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::http::{Caps, HttpConfig, HttpError, HttpMetrics, Request};
use crate::url::Guard;

use super::peer::{Names, Peer, World, answer, impatient, redirect};

const CANARY: &str = "s3cret-canary";

/// Keeps everything that spans and events say.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<String>>);

impl Visit for Listener {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        writeln!(self.0.lock().unwrap(), "{}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Listener {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut self.clone());
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn shown(error: &(dyn Error + 'static)) -> String {
    let mut text = String::new();
    let mut next = Some(error);
    while let Some(error) = next {
        write!(text, "{error} {error:?} ").unwrap();
        next = error.source();
    }
    text
}

fn secretive(world: &World, url: &str) -> Request {
    let url = world.door.guard().operator(&format!("{url}{CANARY}?key={CANARY}")).unwrap();
    Request::new(Method::POST, url)
        .secret_header(header::AUTHORIZATION, HeaderValue::from_static(CANARY))
        .header(HeaderName::from_static("x-plain"), HeaderValue::from_static(CANARY))
        .body(HeaderValue::from_static("text/plain"), CANARY)
        .patience(impatient())
        .caps(Caps { decoded_bytes: 10, ratio: 1 })
}

/// Peers that fail in many ways, each quoting the canary.
fn failing_peers() -> Vec<Peer> {
    let canary_header = format!("x-{CANARY}: {CANARY}\r\n");
    vec![
        Peer::saying(answer(200, &canary_header, CANARY.repeat(10).as_bytes())),
        Peer::saying(answer(200, "content-encoding: gzip\r\n", CANARY.as_bytes())),
        Peer::saying(answer(200, &format!("content-encoding: {CANARY}\r\n"), b"x")),
        Peer::saying(format!("{CANARY}\r\n\r\n")),
        Peer::saying(format!("HTTP/1.1 200 {CANARY}\r\n{CANARY}\r\n\r\n")),
        Peer::saying(format!("HTTP/1.1 200 OK\r\ncontent-length: {CANARY}\r\n\r\n")),
        Peer::saying(format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{CANARY}\r\n")),
        Peer::saying("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n"),
        Peer::saying(redirect(302, &format!("http://10.0.0.1/{CANARY}"))),
        Peer::saying(redirect(302, &format!("http://{CANARY}:{CANARY}@example.com/"))),
        Peer::saying(redirect(302, &format!("{CANARY}://example.com/"))),
        Peer::saying(redirect(307, &format!("http://127.0.0.9:9999/{CANARY}"))),
        Peer::saying(""),
        Peer::new(|_, stream| drop(std::io::copy(stream, &mut std::io::sink()))),
    ]
}

#[tokio::test]
async fn no_error_span_metric_or_debug_output_shows_a_secret() {
    let listener = Listener::default();
    // With one subscriber alone, a span that another thread reaches first would be asked of that thread's, which has none.
    let _another = tracing::Dispatch::new(Listener::default());
    let _listening = tracing::subscriber::set_default(listener.clone());
    let mut registry = Registry::default();
    let metrics = HttpMetrics::register(&mut registry);
    let guard = Guard::allowing(["127.0.0.9"]).unwrap();
    let world = World::with(HttpConfig { guard, metrics, resolver: Names::answering(&[&[]]), ..HttpConfig::default() });
    let mut text = String::new();

    for peer in failing_peers() {
        let request = secretive(&world, &peer.url("/"));
        write!(text, "{request:?} {:?} ", request.target).unwrap();
        let error = match world.send(request).await {
            Ok(response) => {
                write!(text, "{response:?} ").unwrap();
                response.body.bytes().await.unwrap_err()
            }
            Err(error) => error,
        };
        text += &shown(&error);
    }
    let nobody = world.send(secretive(&world, "http://127.0.0.1:1/")).await.unwrap_err();
    let no_name = world.send(secretive(&world, "http://www.example.com/")).await.unwrap_err();
    text += &(shown(&nobody) + &shown(&no_name));
    let mut scraped = String::new();
    prometheus_client::encoding::text::encode(&mut scraped, &registry).unwrap();

    let traced = listener.0.lock().unwrap().clone();
    assert!(traced.contains("outcome=\"refused\"") && traced.contains("reach=\"operator\""), "{traced}");
    assert!(scraped.contains("openfang_egress_requests_total{reach=\"operator\",outcome=\"refused\"} 3"), "{scraped}");
    assert!(scraped.contains("openfang_egress_refused_total{reason=\"local\"} 1"), "{scraped}");
    for (what, text) in [("output", text), ("spans", traced), ("metrics", scraped)] {
        // Header names are shown, so the peer's own is no secret.
        let text = text.replace(&format!("x-{CANARY}"), "");
        assert!(!text.contains(CANARY), "{what}: {text}");
    }
}

#[tokio::test]
async fn an_error_names_the_origin_and_the_way_out() {
    let world = World::new(&[]);
    let error = world.send(secretive(&world, "http://127.0.0.1:1/")).await.unwrap_err();

    assert!(matches!(error, HttpError::Unreachable { .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "cannot connect to http://127.0.0.1:1 (connection refused); check that it is running and reachable from here"
    );
}

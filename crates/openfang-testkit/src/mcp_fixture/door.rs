//! The fixture on a free loopback port, in this process.
//!
//! Host and Origin are checked first: requests that are not addressed to loopback get 403, which protects against DNS
//! rebinding.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt as _;
use http::{HeaderMap, HeaderName, Method, Request, Response, StatusCode, header};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Empty, Full, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use openfang_api::server::{Peer, serve};
use openfang_kernel::SystemClock;
use openfang_mcp::Server;
use openfang_mcp::server::http::{HttpBody, HttpRequest};
use openfang_mcp::server::{Parts, Shared};
use openfang_types::limits::{Limits, MAX_MCP_MESSAGE_SIZE};
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::Fixture;
use super::seal::FreshSeal;
use crate::http::Client;

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// The message endpoint of the transport of 2024-11-05.
const MESSAGES: &str = "/messages";

/// A fixture that serves until this is dropped.
pub struct RunningFixture {
    pub url: String,
    pub address: SocketAddr,
    _stop: DropGuard,
}

impl RunningFixture {
    /// A client of this fixture.
    pub const fn client(&self) -> Client {
        Client::new(self.address)
    }
}

/// A fresh fixture behind a server, for any transport.
pub fn server(tracker: TaskTracker, stop: CancellationToken) -> Server<Fixture> {
    let (seal, clock) = (Arc::new(FreshSeal::new()), Arc::new(SystemClock));
    let shared = Shared::new(&Limits::default());
    Server::new(Parts { host: Fixture::new(), seal, clock, tracker, stop, shared })
}

/// Serves a fresh fixture.
pub async fn start() -> RunningFixture {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port can be bound");
    let address = listener.local_addr().expect("a listener has an address");
    let (stop, tracker) = (CancellationToken::new(), TaskTracker::new());
    let (server, until) = (server(tracker.clone(), stop.clone()), stop.clone());
    tracker.spawn(async move {
        let answer = move |_: Peer, request| answered(server.clone(), address.port(), request);
        serve(listener, &Limits::default(), until, answer).await;
    });
    RunningFixture { url: format!("http://localhost:{}/mcp", address.port()), address, _stop: stop.drop_guard() }
}

async fn answered(
    server: Server<Fixture>,
    port: u16,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let (head, body) = request.into_parts();
    if !is_meant_for_us(&head.headers, port) {
        return Ok(status(StatusCode::FORBIDDEN));
    }
    let Ok(body) = Limited::new(body, MAX_MCP_MESSAGE_SIZE).collect().await else {
        return Ok(status(StatusCode::PAYLOAD_TOO_LARGE));
    };
    let asked = HttpRequest { caller: (), method: head.method, headers: head.headers, body: body.to_bytes() };
    let response = match (head.uri.path(), &asked.method) {
        ("/mcp", _) => server.serve_http(asked).await,
        ("/sse", &Method::GET) => server.open_sse((), MESSAGES),
        (MESSAGES, &Method::POST) => {
            let secret = head.uri.query().and_then(|query| query.strip_prefix("sessionId="));
            server.post_sse(&asked, secret.unwrap_or_default())
        }
        _ => return Ok(status(StatusCode::NOT_FOUND)),
    };
    Ok(response.map(written))
}

/// Whether Host is one loopback name and Origin, if present, too.
fn is_meant_for_us(headers: &HeaderMap, port: u16) -> bool {
    let all = |name: HeaderName| headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default());
    let is_ours = |host: &str| {
        let name = host.strip_suffix(&format!(":{port}")).unwrap_or(host);
        ["localhost", "127.0.0.1", "[::1]"].contains(&name)
    };
    let hosts: Vec<&str> = all(header::HOST).collect();
    let is_own_page = |origin: &str| origin.strip_prefix("http://").is_some_and(is_ours);
    hosts.len() == 1 && hosts.iter().all(|host| is_ours(host)) && all(header::ORIGIN).all(is_own_page)
}

fn written(body: HttpBody) -> Body {
    match body {
        HttpBody::Empty => Empty::new().boxed_unsync(),
        HttpBody::Whole(bytes) => Full::new(bytes).boxed_unsync(),
        HttpBody::Pieces(pieces) => pieces.boxed_unsync(),
        HttpBody::Events(events) => StreamBody::new(events.map(|event| Ok(Frame::data(event)))).boxed_unsync(),
    }
}

fn status(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(written(HttpBody::Empty));
    *response.status_mut() = status;
    response
}

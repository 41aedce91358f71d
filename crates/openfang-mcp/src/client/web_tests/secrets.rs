//! Headers of the operator go to the server, and nowhere else.

use std::net::Ipv4Addr;
use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use openfang_egress::http::{HttpConfig, HttpDoor};
use openfang_egress::resolve::{Resolve, Resolving};
use openfang_egress::url::Guard;
use serde_json::json;

use super::peer::{Client, Peer, answer, asks, legacy, modern, result};
use crate::client::ClientError;

const SECRET: &str = "Bearer sesame-open-42";

fn client() -> Client {
    let headers = vec![
        (HeaderName::from_static("authorization"), HeaderValue::from_static(SECRET)),
        (HeaderName::from_static("x-api-key"), HeaderValue::from_static("key-of-the-house")),
    ];
    Client { headers, ..Client::default() }
}

#[tokio::test]
async fn the_headers_go_with_every_request() {
    let peer = Peer::new(|heard| legacy(heard, |heard| result(heard, &json!({})))).await;

    let connection = client().connect(&peer.url("/mcp")).await.unwrap();
    asks(&connection).await.unwrap();

    let mut methods = peer.methods();
    methods.sort();
    assert_eq!(methods, ["get", "initialize", "notifications/initialized", "server/discover", "tools/list"]);
    for heard in peer.heard() {
        assert_eq!(heard.header("authorization"), Some("bearer sesame-open-42"), "{heard:?}");
        assert_eq!(heard.header("x-api-key"), Some("key-of-the-house"), "{heard:?}");
    }
}

/// Every name is this machine.
struct Here;

impl Resolve for Here {
    fn resolve(&self, _: &str) -> Resolving {
        Box::pin(async { Ok(vec![Ipv4Addr::LOCALHOST.into()]) })
    }
}

#[tokio::test]
async fn another_server_does_not_see_them_when_it_is_redirected_to() {
    let guard = Guard::allowing(["other.test"]).unwrap();
    let config = HttpConfig { guard, resolver: Arc::new(Here), ..HttpConfig::default() };
    let client = Client { door: HttpDoor::new(config).unwrap(), ..client() };
    let other = Peer::new(|_| answer(404, "", "")).await;
    for status in [301, 302, 303, 307, 308] {
        let location = format!("http://other.test:{}/mcp", other.address.port());
        let peer = Peer::new(move |_| answer(status, &format!("location: {location}\r\n"), "")).await;

        assert!(client.connect(&peer.url("/mcp")).await.is_err());
    }
    assert!(!other.heard().is_empty());
    for heard in other.heard() {
        assert_eq!(heard.line(), "get /mcp", "a message was passed on: {heard:?}");
        assert!(!heard.head.contains("sesame") && !heard.head.contains("key-of"), "{heard:?}");
    }
}

#[tokio::test]
async fn a_server_that_repeats_them_does_not_get_them_into_an_error() {
    for status in [400, 401, 500] {
        let said = format!("bad token sesame-open-42 in '{SECRET}', and key-of-the-house{}", "!".repeat(500));
        let peer = Peer::new(move |heard| modern(heard, |_| answer(status, "", &said))).await;
        let connection = client().connect(&peer.url("/mcp")).await.unwrap();

        let error = asks(&connection).await.unwrap_err();

        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("sesame") && !shown.contains("key-of"), "{shown}");
        let ClientError::Status { said, .. } = &error else { panic!("{error}") };
        assert!(said.starts_with("bad token [redacted]") && said.chars().count() == 200, "{said}");
    }
}

#[tokio::test]
async fn a_body_that_says_no_is_shown_on_one_line_without_control_characters() {
    let said = "<h1>\u{1b}[31mno\u{1b}[0m</h1>\r\n\t<p>\u{0}sorry</p>";
    let peer = Peer::new(move |heard| modern(heard, |_| answer(500, "content-type: text/html\r\n", said))).await;
    let connection = Client::default().connect(&peer.url("/mcp")).await.unwrap();

    let error = asks(&connection).await.unwrap_err();

    assert_eq!(error.to_string(), "the server answered with status 500: <h1>[31mno[0m</h1> <p>sorry</p>");
}

#[tokio::test]
async fn headers_that_are_ours_to_set_are_refused() {
    for name in ["host", "content-length", "accept", "content-type", "mcp-session-id", "mcp-method", "mcp-param-x"] {
        let headers = vec![(HeaderName::from_static(name), HeaderValue::from_static("x"))];

        let error = Client { headers, ..Client::default() }
            .connect("http://127.0.0.1:9/")
            .await
            .err()
            .unwrap();

        assert!(matches!(error, ClientError::Start(_)) && error.to_string().contains(name), "{error}");
    }
}

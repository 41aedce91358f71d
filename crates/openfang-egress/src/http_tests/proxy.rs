//! The proxy of the operator: for operator URLs, and for nothing else.

use super::peer::{Names, Peer, answer};
use crate::http::{HttpConfig, HttpDoor, OperatorProxy, ProxyScope, Request};

fn door(proxy: &Peer, scope: ProxyScope, except: &str) -> HttpDoor {
    let proxy = OperatorProxy::new(&proxy.url(""), scope, except).unwrap();
    HttpDoor::new(HttpConfig { proxy: Some(proxy), resolver: Names::answering(&[&[]]), ..HttpConfig::default() })
        .unwrap()
}

async fn ask(door: &HttpDoor, url: &str) -> Option<String> {
    let url = door.guard().operator(url).unwrap();
    let response = door.send(Request::new(http::Method::GET, url)).await.ok()?;
    Some(String::from_utf8(response.body.bytes().await.ok()?.to_vec()).unwrap())
}

#[tokio::test]
async fn operator_urls_go_through_the_proxy_which_resolves_their_names() {
    let proxy = Peer::saying(answer(200, "", b"by proxy"));
    let door = door(&proxy, ProxyScope::All, "");

    assert_eq!(ask(&door, "http://box.invalid/x").await.as_deref(), Some("by proxy"));

    assert_eq!(proxy.accepted(), 1);
}

#[tokio::test]
async fn this_machine_the_exceptions_and_plain_http_are_reached_directly() {
    let proxy = Peer::saying(answer(200, "", b"by proxy"));
    let peer = Peer::saying(answer(200, "", b"direct"));

    assert_eq!(ask(&door(&proxy, ProxyScope::All, ""), &peer.url("/")).await.as_deref(), Some("direct"));
    assert_eq!(ask(&door(&proxy, ProxyScope::All, ".invalid"), "http://box.invalid/").await, None);
    assert_eq!(ask(&door(&proxy, ProxyScope::Https, ""), "http://box.invalid/").await, None);

    assert_eq!(proxy.accepted(), 0);
}

#[tokio::test]
async fn foreign_urls_never_use_the_proxy() {
    let proxy = Peer::saying(answer(200, "", b"by proxy"));
    let door = door(&proxy, ProxyScope::All, "");
    let url = door.guard().foreign("http://www.example.com/").unwrap();

    assert!(door.send(Request::new(http::Method::GET, url)).await.is_err());

    assert_eq!(proxy.accepted(), 0);
}

#[test]
fn what_is_no_proxy_is_refused_without_being_quoted() {
    for wrong in ["", "proxy:3128", "socks5://x:1", "http://user:hunter2@"] {
        let error = OperatorProxy::new(wrong, ProxyScope::All, "").unwrap_err();
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}

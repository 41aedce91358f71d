//! A credential reaches the origins that are listed and no other: whatever cards say, redirects lead to and addresses are
//! repaired to.

use std::io::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

use http::{HeaderValue, header};
use serde_json::{Value, json};

use super::peer::{Peer, answer, card, door, error, event, ok, result, talk, task};
use crate::client::{RemoteAgent, RemoteSettings};

const TOKEN: &str = "s3cret-token-of-the-operator";

fn keyed(peer: &Peer, origins: Vec<String>) -> RemoteAgent {
    let value = HeaderValue::from_str(&format!("Bearer {TOKEN}")).unwrap();
    let headers = vec![(header::AUTHORIZATION, value)];
    RemoteAgent::new(door(), RemoteSettings { headers, origins, idle: Duration::from_secs(2), ..peer.settings() })
        .unwrap()
}

/// Addresses of another server, in every form that a card may write them in.
fn addresses_of(other: SocketAddr, own: &str) -> Vec<String> {
    let port = other.port();
    let (host, _) = own.trim_start_matches("http://").split_once(':').unwrap();
    vec![
        format!("http://{other}/rpc"),
        format!("http://localhost:{port}/rpc"),
        format!("http://LOCALHOST.:{port}/rpc"),
        format!("http://127.1:{port}/rpc"),
        format!("http://2130706433:{port}/rpc"),
        format!("http://[::ffff:127.0.0.1]:{port}/rpc"),
        format!("http://0.0.0.0:{port}/rpc"),
        format!("http://[::]:{port}/rpc"),
        format!("//127.0.0.1:{port}/rpc"),
        format!("\\\\127.0.0.1:{port}\\rpc"),
        format!("http:{host}:{port}/rpc"),
        format!("{own}@127.0.0.1:{port}/rpc"),
        format!("http://{host}@127.0.0.1:{port}/rpc"),
        format!("https://127.0.0.1:{port}/rpc"),
        format!("http://127.0.0.1:{port}/v1/message:send"),
    ]
}

/// What an agent says to a message, which may lead elsewhere.
#[derive(Clone, Copy)]
enum Lead {
    Honest,
    Redirect(u16),
    /// The stream is cut, and the next request is redirected.
    CutThenRedirect,
}

/// An agent whose card has these interfaces in this order, and that answers messages so.
fn agent(interfaces: impl Fn(&str) -> Vec<String> + Send + Sync + 'static, lead: Lead, thief: String) -> Peer {
    Peer::new(move |heard, stream| {
        let own = format!("http://{}", stream.local_addr().unwrap());
        let location = format!("location: {thief}\r\n");
        let said = match (heard.path.as_str(), heard.method().as_str()) {
            ("/.well-known/agent-card.json", _) => {
                let mut card = card(&own, true);
                let listed = interfaces(&own);
                let interface =
                    |url: &String| json!({ "url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0" });
                card["supportedInterfaces"] = listed.iter().map(interface).collect::<Vec<Value>>().into();
                card["capabilities"]["extendedAgentCard"] = true.into();
                ok(&card)
            }
            (path, _) if path.contains("/.well-known/") => answer(404, "", b""),
            (_, "SendStreamingMessage") => match lead {
                Lead::Honest => {
                    super::peer::events(&[json!({ "task": task("TASK_STATE_COMPLETED", &[("a", &["x"])]) })])
                }
                Lead::Redirect(status) => answer(status, &location, b""),
                Lead::CutThenRedirect => {
                    let begun = event(&json!({ "task": task("TASK_STATE_WORKING", &[]) }));
                    format!("{}{begun}", super::peer::EVENTS).into_bytes()
                }
            },
            (_, "GetTask" | "SubscribeToTask") => match lead {
                Lead::Honest => result(&task("TASK_STATE_COMPLETED", &[("a", &["x"])])),
                Lead::Redirect(_) | Lead::CutThenRedirect => answer(307, &location, b""),
            },
            _ => error(-32_601, "no such method"),
        };
        drop(stream.write_all(&said));
    })
}

fn assert_knows_nothing(thief: &Peer, what: &str) {
    for heard in thief.heard() {
        let text = format!("{} {}", heard.head, heard.body);
        assert!(!text.contains(TOKEN), "{what}: {text}");
        assert_eq!(heard.body, "", "{what}: a message went there: {text}");
    }
}

#[tokio::test]
async fn no_address_in_a_card_brings_a_credential_to_another_server() {
    let thief = Peer::new(|_, stream| drop(stream.write_all(&result(&json!({})))));
    let count = addresses_of(thief.address, "http://127.0.0.1:1").len();
    for number in 0..count {
        for is_first in [true, false] {
            let other = thief.address;
            let stated = move |own: &str| {
                let stated = addresses_of(other, own)[number].clone();
                let honest = format!("{own}/rpc");
                if is_first { vec![stated, honest] } else { vec![honest, stated] }
            };
            let peer = agent(stated, Lead::Honest, thief.url("/"));
            let said = talk(&keyed(&peer, Vec::new())).await;
            let shown = addresses_of(thief.address, &peer.url(""))[number].clone();
            assert!(said.is_ok(), "{shown}: an interface that is not allowed is left out: {said:?}");
            assert_knows_nothing(&thief, &shown);
        }
    }
}

#[tokio::test]
async fn no_redirect_of_a_message_a_stream_or_a_look_brings_one_there_either() {
    let thief = Peer::new(|_, stream| drop(stream.write_all(&result(&json!({})))));
    let leads = [301, 302, 303, 307, 308].map(Lead::Redirect);
    for lead in leads.into_iter().chain([Lead::CutThenRedirect]) {
        let peer = agent(|own| vec![format!("{own}/rpc")], lead, thief.url("/rpc"));
        assert!(talk(&keyed(&peer, Vec::new())).await.is_err());
        assert_knows_nothing(&thief, "a redirect");
    }
}

#[tokio::test]
async fn an_origin_that_is_listed_gets_it() {
    let other = Peer::new(|_, stream| {
        drop(
            stream
                .write_all(&super::peer::events(&[json!({ "task": task("TASK_STATE_COMPLETED", &[("a", &["x"])]) })])),
        );
    });
    let endpoint = other.url("/rpc");
    let peer = agent(move |_| vec![endpoint.clone()], Lead::Honest, String::new());

    talk(&keyed(&peer, vec![other.url("")])).await.unwrap();

    assert!(other.heard().iter().all(|heard| heard.header("authorization").is_some()));
    assert!(!other.heard().is_empty());
}

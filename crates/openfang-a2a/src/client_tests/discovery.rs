//! From a URL to an interface.

use std::io::Write as _;

use serde_json::{Value, json};

use super::peer::{Peer, answer, card, door, error, name, ok, result, talk, task};
use crate::client::{
    Binding, ClientError, DiscoveryError, Protocol, RemoteAgent, RemoteSettings, SignatureState, Verification,
};
use crate::dialect::Dialect;

/// A path, and what is there for a server with this address.
type Document = (&'static str, fn(&str) -> Value);

/// A server that has these documents and nothing else.
fn site(documents: &'static [Document]) -> Peer {
    Peer::new(move |heard, stream| {
        let own = format!("http://{}", stream.local_addr().unwrap());
        let found = documents.iter().find(|(path, _)| *path == heard.path);
        let said = match found {
            Some((_, document)) => ok(&document(&own)),
            None => answer(404, "content-type: text/html\r\n", b"<html>Not Found</html>"),
        };
        drop(stream.write_all(&said));
    })
}

fn at(peer: &Peer, path: &str) -> RemoteAgent {
    RemoteAgent::new(door(), RemoteSettings::operator(peer.url(path))).unwrap()
}

async fn refused(agent: &RemoteAgent) -> DiscoveryError {
    match agent.discover().await {
        Err(ClientError::Discovery(error)) => *error,
        other => panic!("{other:?}"),
    }
}

fn below_agents(own: &str) -> Value {
    let mut card = card(own, false);
    card["supportedInterfaces"][0]["url"] = format!("{own}/agents/one/rpc").into();
    card
}

#[tokio::test]
async fn a_card_is_found_on_every_path_that_a_version_has() {
    let cases: [(&'static [Document], &str); 8] = [
        (&[("/.well-known/agent-card.json", |own| card(own, false))], ""),
        (&[("/.well-known/agent.json", |own| json!({ "name": "o", "url": own, "protocolVersion": "0.2.5" }))], ""),
        (&[("/agents/one/.well-known/agent-card.json", below_agents)], "/agents/one"),
        (&[("/agents/one/.well-known/agent.json", below_agents)], "/agents/one/"),
        (&[("/.well-known/agent-card.json", below_agents)], "/agents/one"),
        (&[("/some/card.json", |own| card(own, false))], "/some/card.json"),
        (&[("/x/v1/card", |own| card(own, false))], "/x"),
        (&[("/all", |own| json!({ "agents": [card(own, false)] }))], "/all"),
    ];
    for (documents, path) in cases {
        let peer = site(documents);
        let found = at(&peer, path).discover().await;
        assert!(found.is_ok(), "{path} {}: {found:?}", documents[0].0);
    }
}

#[tokio::test]
async fn a_card_at_the_origin_that_leads_elsewhere_belongs_to_another_agent() {
    let peer = site(&[("/.well-known/agent-card.json", |own| card(own, false))]);
    assert!(matches!(refused(&at(&peer, "/agents/two")).await, DiscoveryError::NoAgent { .. }));
}

#[tokio::test]
async fn several_agents_at_one_url_are_named() {
    let peer = site(&[(
        "/",
        |_| json!({ "agents": [{ "name": "a", "url": "https://x/a" }, { "name": "b", "url": "https://x/b" }] }),
    )]);
    let said = refused(&at(&peer, "/")).await.to_string();
    assert!(said.contains("a (https://x/a), b (https://x/b)"), "{said}");
}

#[tokio::test]
async fn the_newest_version_is_chosen_then_the_order_of_the_card() {
    let interface = |binding: &str, version: &str, path: &str| json!({ "url": path, "protocolBinding": binding, "protocolVersion": version, "tenant": "" });
    let cases = [
        (vec![interface("JSONRPC", "0.3", "/a"), interface("HTTP+JSON", "1.0", "/b")], "/b", Dialect::V10),
        (vec![interface("GRPC", "1.0", "/a"), interface("JSONRPC", "0.3.0", "/b")], "/b", Dialect::V03),
        (vec![interface("HTTP+JSON", "1.0", "/a"), interface("JSONRPC", "1.0", "/b")], "/a", Dialect::V10),
        (vec![interface("JSONRPC", "1.2", "/a"), interface("JSONRPC", "1.0.3", "/b")], "/b", Dialect::V10),
        (vec![interface("HTTP+JSON", "0.3", "/a"), interface("GRPC", "1.0", "/b")], "/a", Dialect::V03Proto),
    ];
    for (interfaces, path, dialect) in cases {
        let shown = format!("{interfaces:?}");
        let peer = Peer::agent(
            move |own| {
                let mut card = card(own, false);
                card["supportedInterfaces"] = interfaces.iter().cloned().collect();
                card
            },
            |_| error(-32_601, "none"),
        );
        let found = peer.remote().discover().await.unwrap();
        assert_eq!((found.interface.url.clone(), found.interface.dialect), (peer.url(path), dialect), "{shown}");
        assert_eq!(found.interface.tenant, None);
    }
}

#[tokio::test]
async fn wrong_addresses_are_repaired_to_the_origin_of_the_card() {
    for (stated, path) in [
        ("http://0.0.0.0:9999/rpc", "/rpc"),
        ("http://[::]:1/rpc", "/rpc"),
        ("/rpc", "/rpc"),
        ("http://localhost:{port}/rpc", "/rpc"),
        ("http://127.0.0.1:{port}/v1/message:stream", "/"),
        ("http://127.0.0.1:{port}/x/v1/card", "/x"),
    ] {
        let peer = Peer::agent(
            move |own| {
                let mut card = card(own, false);
                let port = own.rsplit(':').next().unwrap();
                card["supportedInterfaces"][0]["url"] = stated.replace("{port}", port).into();
                card
            },
            |_| error(-32_601, "none"),
        );
        let found = peer.remote().discover().await.unwrap();
        assert_eq!(found.interface.url, peer.url(path), "{stated}");
        assert!(!found.repairs.is_empty(), "{stated}");
    }
}

#[tokio::test]
async fn an_address_at_another_origin_is_refused_before_anything_is_sent_there() {
    let other = Peer::new(|_, _| {});
    let elsewhere = [
        other.url("/rpc"),
        "https://evil.example/rpc".to_owned(),
        "http://169.254.169.254/latest".to_owned(),
        "http://127.0.0.1:1/rpc".to_owned(),
        "http://10.0.0.1/".to_owned(),
        "http://user:pass@127.0.0.1/".to_owned(),
        "file:///etc/passwd".to_owned(),
    ];
    for stated in elsewhere {
        let shown = stated.clone();
        let peer = Peer::agent(
            move |own| {
                let mut card = card(own, false);
                card["supportedInterfaces"][0]["url"] = stated.clone().into();
                card
            },
            |_| error(-32_601, "none"),
        );
        let error = refused(&peer.remote()).await;
        let is_refused = matches!(error, DiscoveryError::OtherOrigin { .. } | DiscoveryError::Address { .. });
        assert!(is_refused, "{shown}: {error}");
        assert_eq!(peer.heard().len(), 1, "{shown}");
    }
    assert!(other.heard().is_empty());
}

#[tokio::test]
async fn a_listed_origin_and_an_endpoint_override_are_followed() {
    let endpoint = Peer::new(|heard, stream| {
        let said = match heard.method().as_str() {
            "SendMessage" => result(&json!({ "task": task("TASK_STATE_COMPLETED", &[("a", &["x"])]) })),
            _ => error(-32_001, "no task"),
        };
        drop(stream.write_all(&said));
    });
    let url = endpoint.url("/rpc");
    let peer = Peer::agent(
        move |own| {
            let mut card = card(own, false);
            card["supportedInterfaces"][0]["url"] = url.clone().into();
            card
        },
        |_| error(-32_601, "none"),
    );
    let listed = RemoteSettings { origins: vec![endpoint.url("")], ..peer.settings() };
    let overridden = RemoteSettings { endpoint: Some(endpoint.url("/rpc")), ..peer.settings() };
    for settings in [listed, overridden] {
        let agent = RemoteAgent::new(door(), settings).unwrap();
        assert_eq!(talk(&agent).await.unwrap(), ["known t1 c1", "artifact a x", "ended completed"]);
    }
    assert_eq!(peer.methods(), Vec::<String>::new());
}

/// The answers of real servers to a foreign method.
#[tokio::test]
async fn the_version_of_a_silent_endpoint_is_probed_without_effect() {
    type Answer = fn(&str) -> Vec<u8>;
    let cases: [(Answer, Dialect); 4] = [
        (
            |method| if method == "GetTask" { error(-32_001, "Task not found") } else { error(-32_601, "no") },
            Dialect::V10,
        ),
        (
            |method| if method == "tasks/get" { error(-32_001, "Task not found") } else { error(-32_601, "no") },
            Dialect::V03,
        ),
        (
            |method| if method == "tasks/get" { error(-32_603, "Task not found: x") } else { error(-32_009, "1.0") },
            Dialect::V03,
        ),
        (
            |method| match method {
                "tasks/get" => error(-32_001, "Task not found"),
                _ => ok(&json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32_600, "message": "invalid",
                    "data": [{ "loc": ["GetTaskRequest", "method"] }] } })),
            },
            Dialect::V03,
        ),
    ];
    for (said, dialect) in cases {
        let peer = Peer::new(move |heard, stream| {
            let answered = if heard.path == "/rpc" && !heard.body.is_empty() {
                said(&heard.method())
            } else {
                answer(404, "", b"")
            };
            drop(stream.write_all(&answered));
        });
        let found = at(&peer, "/rpc").discover().await.unwrap();
        assert_eq!((found.interface.dialect, found.interface.binding), (dialect, Binding::JsonRpc));
        assert!(
            peer.methods().iter().all(|method| method == "GetTask" || method == "tasks/get"),
            "{:?}",
            peer.methods()
        );
    }
}

#[tokio::test]
async fn a_card_that_lies_about_the_version_costs_one_more_probe() {
    let peer = Peer::agent(
        |own| card(own, false),
        |heard| match heard.method().as_str() {
            "message/send" => result(&json!({ "kind": "task", "id": "t1", "contextId": "c1",
            "status": { "state": "completed" }, "artifacts": [{ "artifactId": "a", "parts": [{ "kind": "text", "text": "x" }] }] })),
            "tasks/get" => error(-32_001, "Task not found"),
            _ => error(-32_601, "Method not found"),
        },
    );
    let agent = peer.remote();
    let expected = ["known t1 c1", "artifact a x", "ended completed"];
    assert_eq!(talk(&agent).await.unwrap(), expected);
    assert_eq!(talk(&agent).await.unwrap(), expected);
    let sent = peer.methods().iter().filter(|method| *method == "message/send").count();
    assert_eq!(sent, 2, "{:?}", peer.methods());
    let headers: Vec<_> = peer
        .heard()
        .iter()
        .filter(|heard| heard.method() == "message/send")
        .map(|heard| heard.header("a2a-version").is_some())
        .collect();
    assert_eq!(headers, [false, false], "0.3 must not be asked under 1.0");
}

#[tokio::test]
async fn a_fixed_version_is_not_left() {
    let peer = Peer::agent(|own| card(own, false), |_| error(-32_601, "Method not found"));
    let agent = RemoteAgent::new(door(), RemoteSettings { protocol: Protocol::V10, ..peer.settings() }).unwrap();
    assert!(talk(&agent).await.is_err());
    assert!(peer.methods().iter().all(|method| method == "SendMessage" || method == "GetTask"), "{:?}", peer.methods());
}

#[tokio::test]
async fn a_required_extension_must_be_supported_and_is_named() {
    let demanding = |own: &str| {
        let mut card = card(own, false);
        card["capabilities"]["extensions"] = json!([{ "uri": "urn:x", "required": true }, { "uri": "urn:y" }]);
        card
    };
    let peer = Peer::agent(demanding, |_| result(&json!({ "task": task("TASK_STATE_COMPLETED", &[("a", &["x"])]) })));
    assert_eq!(refused(&peer.remote()).await, DiscoveryError::Extension("urn:x".to_owned()));
    assert_eq!(peer.methods(), Vec::<String>::new());
    let agent =
        RemoteAgent::new(door(), RemoteSettings { extensions: vec!["urn:x".to_owned()], ..peer.settings() }).unwrap();
    talk(&agent).await.unwrap();
    assert_eq!(peer.heard().last().unwrap().header("a2a-extensions"), Some("urn:x"));
}

#[tokio::test]
async fn a_card_is_asked_for_again_with_its_validators() {
    let peer = Peer::new(|heard, stream| {
        let own = format!("http://{}", stream.local_addr().unwrap());
        let headers = "content-type: application/json\r\netag: \"1\"\r\ncache-control: max-age=1\r\n";
        let said = match heard.header("if-none-match") {
            Some("\"1\"") => answer(304, "", b""),
            _ => answer(200, headers, card(&own, false).to_string().as_bytes()),
        };
        drop(stream.write_all(&said));
    });
    let agent = peer.remote();
    let found = agent.discover().await.unwrap();
    assert!(found.is_fresh());
    assert_eq!(found.max_age.as_secs(), 60, "a minute at least");
    agent.discover().await.unwrap();
    assert_eq!(peer.heard().len(), 1);
    agent.refresh().await.unwrap();
    assert_eq!(peer.heard().len(), 2);
    assert!(agent.known().unwrap().card.is_some());
}

#[tokio::test]
async fn what_was_known_survives_a_restart_and_a_server_that_is_gone() {
    let peer = Peer::agent(|own| card(own, false), |_| error(-32_001, "no task"));
    let agent = peer.remote();
    let found = agent.discover().await.unwrap();
    let record = serde_json::to_string(&found.to_record()).unwrap();
    let again = peer.remote();
    let restored = again.restore(&serde_json::from_str(&record).unwrap()).unwrap();
    assert_eq!((restored.interface.clone(), restored.pin()), (found.interface.clone(), found.pin()));
    assert!(!restored.is_fresh());
    assert!(matches!(again.get_task(&name("x")).await, Err(ClientError::TaskNotFound)));
    let elsewhere = RemoteAgent::new(door(), RemoteSettings::operator("http://127.0.0.1:9/")).unwrap();
    assert!(matches!(elsewhere.restore(&serde_json::from_str(&record).unwrap()), Err(DiscoveryError::Record(_))));
}

#[tokio::test]
async fn a_denied_card_says_that_a_credential_is_missing() {
    let peer = Peer::new(|_, stream| drop(stream.write_all(&answer(401, "", b""))));
    assert!(matches!(refused(&peer.remote()).await, DiscoveryError::Unauthorized { status: 401, .. }));
}

#[tokio::test]
async fn an_unsigned_card_is_refused_where_a_signature_is_required() {
    let peer = Peer::agent(|own| card(own, false), |_| error(-32_601, "none"));
    assert_eq!(peer.remote().discover().await.unwrap().signature, SignatureState::Unsigned);
    let strict = RemoteSettings { verification: Verification::Required, ..peer.settings() };
    let agent = RemoteAgent::new(door(), strict).unwrap();
    assert!(matches!(refused(&agent).await, DiscoveryError::Signature(_)));
}

#[tokio::test]
async fn a_signature_that_cannot_count_refuses_the_card_and_its_key_url_is_not_followed() {
    use base64::Engine as _;
    let evil = Peer::new(|_, _| {});
    let jku = evil.url("/jwks.json");
    let signed = move |header: Value| {
        let protected = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(header.to_string());
        Peer::agent(
            move |own| {
                let mut card = card(own, false);
                card["signatures"] = json!([{ "protected": protected, "signature": "AAAA" }]);
                card
            },
            |_| error(-32_601, "none"),
        )
    };
    for alg in ["none", "HS256"] {
        let peer = signed(json!({ "alg": alg, "jku": jku }));
        assert!(matches!(refused(&peer.remote()).await, DiscoveryError::Signature(_)), "{alg}");
    }
    let peer = signed(json!({ "alg": "ES256", "kid": "x", "jku": jku }));
    let found = peer.remote().discover().await.unwrap();
    assert!(matches!(found.signature, SignatureState::Unverified { .. }), "{:?}", found.signature);
    assert!(evil.heard().is_empty());
}

//! Agents that lie, flood and listen for credentials.

use std::io::Write as _;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use http::{HeaderName, HeaderValue, header};
use serde_json::json;

use super::peer::{
    EVENTS, Peer, all, answer, card, chunk, door, error, event, message, ok, result, short, status, talk, task,
};
use crate::client::{ClientError, DiscoveryError, RemoteAgent, RemoteSettings, SettingsError};

const TOKEN: &str = "s3cret-token-of-the-operator";

fn keyed(peer: &Peer) -> RemoteSettings {
    let value = HeaderValue::from_str(&format!("Bearer {TOKEN}")).unwrap();
    RemoteSettings { headers: vec![(header::AUTHORIZATION, value)], ..peer.settings() }
}

fn agent(settings: RemoteSettings) -> RemoteAgent {
    RemoteAgent::new(door(), settings).unwrap()
}

#[tokio::test]
async fn a_credential_goes_to_the_agent_and_never_along_with_a_redirect() {
    let thief = Peer::new(|_, stream| drop(stream.write_all(&answer(200, "", b"{}"))));
    for status in [301, 302, 303, 307, 308] {
        for path in ["/.well-known/agent-card.json", "/rpc"] {
            let location = format!("location: {}\r\n", thief.url("/"));
            let peer = Peer::new(move |heard, stream| {
                let own = format!("http://{}", stream.local_addr().unwrap());
                let said = match heard.path.as_str() {
                    asked if asked == path => answer(status, &location, b""),
                    "/.well-known/agent-card.json" => ok(&card(&own, true)),
                    _ => answer(404, "", b""),
                };
                drop(stream.write_all(&said));
            });
            assert!(talk(&agent(keyed(&peer))).await.is_err(), "{status} {path}");
            let keyed = peer.heard().iter().all(|heard| heard.header("authorization").is_some());
            assert!(keyed, "{status} {path}");
        }
    }
    for heard in thief.heard() {
        assert_eq!(heard.header("authorization"), None, "{}", heard.head);
        assert_eq!(heard.body, "", "{}", heard.head);
    }
}

#[tokio::test]
async fn a_credential_that_an_agent_repeats_is_taken_out() {
    let peer = Peer::agent(
        |own| {
            let mut card = card(own, true);
            card["description"] = format!("your token is {TOKEN}").into();
            card
        },
        |_| {
            let stream = [
                event(&json!({ "task": task("TASK_STATE_WORKING", &[]) })),
                event(&chunk("a", &format!("token {TOKEN}"), false)),
                event(&status("TASK_STATE_COMPLETED", Some(&format!("Bearer {TOKEN}")))),
            ];
            format!("{EVENTS}{}", stream.concat()).into_bytes()
        },
    );
    let agent = agent(keyed(&peer));
    let said = talk(&agent).await.unwrap().join("\n");
    assert!(!said.contains(TOKEN) && said.contains("[redacted]"), "{said}");
    let card = agent.known().unwrap().card.clone().unwrap();
    assert!(!card.description.contains(TOKEN) && !card.document.get().contains(TOKEN));
    let peer = Peer::agent(|own| super::peer::card(own, false), |_| error(-32_603, &format!("bad {TOKEN}")));
    let failed = talk(&RemoteAgent::new(door(), keyed(&peer)).unwrap()).await.unwrap_err();
    assert!(!failed.to_string().contains(TOKEN), "{failed}");
}

#[tokio::test]
async fn headers_of_the_protocol_cannot_be_configured() {
    for name in ["host", "content-length", "a2a-version", "user-agent", "accept"] {
        let header = (name.parse::<HeaderName>().unwrap(), HeaderValue::from_static("x"));
        let settings = RemoteSettings { headers: vec![header], ..RemoteSettings::operator("https://example.com") };
        assert!(matches!(RemoteAgent::new(door(), settings), Err(SettingsError::Header(_))), "{name}");
    }
}

#[tokio::test]
async fn a_foreign_url_reaches_public_addresses_only() {
    for url in [
        "http://127.0.0.1:9/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://localhost./",
        "http://169.254.169.254/",
        "http://[::1]/",
        "http://10.0.0.1/",
        "http://metadata.google.internal/",
        "http://100.64.0.1/",
        "http://0/",
    ] {
        let refused = RemoteAgent::new(door(), RemoteSettings::foreign(url));
        assert!(matches!(refused, Err(SettingsError::Url { .. })), "{url}");
    }
}

/// A card of 64 MiB in 64 KiB.
fn gzip_bomb() -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(b"{\"name\":\"").unwrap();
    for _ in 0..64 {
        gzip.write_all(&[b'a'; 1 << 20]).unwrap();
    }
    gzip.write_all(b"\"}").unwrap();
    gzip.finish().unwrap()
}

#[tokio::test]
async fn cards_that_are_too_large_endless_or_not_json_cost_little() {
    let begun = Instant::now();
    let large = Peer::new(|_, stream| {
        drop(stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 104857600\r\n\r\n{\"name\":\""));
    });
    let endless = Peer::new(|_, stream| {
        drop(stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"name\":\""));
        while stream.write_all(&[b'a'; 65_536]).is_ok() {}
    });
    let deep = Peer::new(|_, stream| drop(stream.write_all(&answer(200, "", &[b'['; 100_000]))));
    let wide: Vec<u8> = "{\"name\":\"a\"}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let utf16 =
        Peer::new(move |_, stream| drop(stream.write_all(&answer(200, "content-type: application/json\r\n", &wide))));
    let page =
        Peer::new(|_, stream| drop(stream.write_all(&answer(200, "content-type: text/html\r\n", b"<html></html>"))));
    let bomb = gzip_bomb();
    let compressed = Peer::new(move |_, stream| {
        drop(stream.write_all(&answer(200, "content-type: application/json\r\ncontent-encoding: gzip\r\n", &bomb)));
    });
    for peer in [large, endless, deep, utf16, page, compressed] {
        assert!(matches!(peer.remote().discover().await, Err(ClientError::Discovery(_))));
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// An agent with so many interfaces, all elsewhere.
fn with_interfaces(count: usize) -> Peer {
    Peer::agent(
        move |own| {
            let mut card = card(own, false);
            let path = "x".repeat(if count > 3_000 { 1 } else { 150 });
            let url = |at| format!("https://x{at}.example/{path}");
            let many = (0..count).map(|at| json!({ "url": url(at), "protocolBinding": "JSONRPC" }));
            card["supportedInterfaces"] = many.collect();
            card["skills"] = (0..1_000).map(|at| json!({ "id": at.to_string(), "name": "x".repeat(150) })).collect();
            card
        },
        |_| error(-32_601, "none"),
    )
}

#[tokio::test]
async fn a_card_with_three_thousand_interfaces_is_read_to_its_bound() {
    let peer = with_interfaces(3_000);
    let refused = peer.remote().discover().await.unwrap_err();
    let is_other_origin = |error: &ClientError| matches!(error, ClientError::Discovery(why) if matches!(**why, DiscoveryError::OtherOrigin { .. }));
    assert!(is_other_origin(&refused), "{refused:?}");
    assert_eq!(peer.heard().len(), 1);
}

#[tokio::test]
async fn a_card_with_ten_thousand_interfaces_is_none_and_nothing_is_sent_to_any_of_them() {
    let peer = with_interfaces(10_000);
    let begun = Instant::now();
    assert!(peer.remote().discover().await.is_err());
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert!(peer.methods().iter().all(|method| method == "GetTask" || method == "tasks/get"), "{:?}", peer.methods());
}

#[tokio::test]
async fn a_flood_of_content_is_cut_at_the_limit_and_the_task_is_canceled() {
    let peer = Peer::new(|heard, stream| {
        let own = format!("http://{}", stream.local_addr().unwrap());
        match (heard.path.as_str(), heard.method().as_str()) {
            ("/.well-known/agent-card.json", _) => drop(stream.write_all(&ok(&card(&own, true)))),
            (_, "SendStreamingMessage") => {
                drop(stream.write_all(EVENTS.as_bytes()));
                drop(stream.write_all(event(&json!({ "task": task("TASK_STATE_WORKING", &[]) })).as_bytes()));
                let large = event(&chunk("a", &"x".repeat(1024 * 1024), true));
                while stream.write_all(large.as_bytes()).is_ok() {}
            }
            _ => drop(stream.write_all(&result(&task("TASK_STATE_CANCELED", &[])))),
        }
    });
    let mut follower = peer.remote().send(message("hi")).await.unwrap();
    let mut bytes = 0;
    let failed = loop {
        match follower.next().await {
            Ok(Some(event)) => bytes += short(&event).len(),
            Ok(None) => panic!("it ended"),
            Err(error) => break error,
        }
    };
    assert!(matches!(failed, ClientError::TooMuch { .. }), "{failed}");
    assert!(bytes <= 51 * 1024 * 1024, "{bytes}");
    assert_eq!(peer.methods().last().map(String::as_str), Some("CancelTask"));
}

#[tokio::test]
async fn an_event_without_an_end_is_cut_at_its_limit() {
    let peer = Peer::new(|heard, stream| {
        let own = format!("http://{}", stream.local_addr().unwrap());
        match heard.path.as_str() {
            "/.well-known/agent-card.json" => drop(stream.write_all(&ok(&card(&own, true)))),
            _ => {
                drop(stream.write_all(EVENTS.as_bytes()));
                drop(stream.write_all(b"data: "));
                while stream.write_all(&[b'x'; 65_536]).is_ok() {}
            }
        }
    });
    let mut follower = peer.remote().send(message("hi")).await.unwrap();
    let failed = all(&mut follower).await.unwrap_err();
    assert!(failed.to_string().contains("larger than"), "{failed}");
}

#[tokio::test]
async fn a_task_id_with_path_characters_stays_one_segment() {
    let peer = Peer::agent(
        |own| {
            let mut card = card(own, false);
            card["supportedInterfaces"][0]["protocolBinding"] = "HTTP+JSON".into();
            card
        },
        |_| {
            answer(
                404,
                "content-type: application/json\r\n",
                br#"{"error":{"code":404,"details":[{"reason":"TASK_NOT_FOUND"}]}}"#,
            )
        },
    );
    let agent = peer.remote();
    for id in ["../../admin", "a/b?c#d", "x%2e"] {
        assert!(agent.get_task(&id.parse().unwrap()).await.is_err());
    }
    assert!(agent.get_task(&"..".parse().unwrap()).await.is_err());
    let paths: Vec<_> = peer.heard().into_iter().map(|heard| heard.path).collect();
    let expected =
        ["/.well-known/agent-card.json", "/rpc/tasks/..%2F..%2Fadmin", "/rpc/tasks/a%2Fb%3Fc%23d", "/rpc/tasks/x%252e"];
    assert_eq!(paths, expected);
}

#[tokio::test]
async fn a_message_is_sent_once_however_the_connection_fails() {
    let failures: [&'static [u8]; 4] = [
        b"",
        b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{",
        b"garbage\r\n\r\n",
        b"HTTP/1.1 503 X\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n",
    ];
    for failure in failures {
        for streaming in [false, true] {
            let peer = Peer::agent(move |own| card(own, streaming), move |_| failure.to_vec());
            assert!(talk(&peer.remote()).await.is_err());
            assert_eq!(peer.methods().len(), 1, "{:?} {:?}", String::from_utf8_lossy(failure), peer.methods());
        }
    }
}

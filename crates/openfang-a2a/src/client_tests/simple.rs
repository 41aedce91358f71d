//! The small client, with its documented wire and with agents that do not know it.

use openfang_types::config::ExternalAgent;
use serde_json::json;

use super::peer::{Peer, card, error, result, task};
use crate::A2aClient;
use crate::dialect::A2aTaskStatus;

#[tokio::test]
async fn a_text_is_sent_as_documented() {
    let peer = Peer::agent(
        |own| card(own, false),
        |heard| match heard.method().as_str() {
            "tasks/send" | "tasks/get" => {
                result(&json!({ "id": "t1", "sessionId": "s", "status": { "state": "working" } }))
            }
            other => error(-32_601, other),
        },
    );
    let client = A2aClient::new();
    let sent = client.send_task(&peer.url("/a2a"), "hi", Some("s")).await.unwrap();
    assert_eq!((sent.id.as_str(), sent.session_id.as_deref(), sent.status), ("t1", Some("s"), A2aTaskStatus::Working));
    let read = client.get_task(&peer.url("/a2a"), "t1").await.unwrap();
    assert_eq!(read, sent);
    let heard = peer.heard();
    let wanted = json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/send", "params": {
        "message": { "role": "user", "parts": [{ "type": "text", "text": "hi" }] }, "sessionId": "s",
    } });
    assert_eq!(heard[0].json(), wanted);
    assert_eq!(heard[0].header("user-agent"), Some("OpenFang/0.1 A2A"));
}

#[tokio::test]
async fn an_agent_of_a_newer_version_is_asked_in_its_own() {
    let peer = Peer::agent(
        |own| card(own, false),
        |heard| match heard.method().as_str() {
            "SendMessage" => result(&json!({ "task": task("TASK_STATE_COMPLETED", &[("a", &["x"])]) })),
            other => error(-32_601, other),
        },
    );
    let sent = A2aClient::new().send_task(&peer.url(""), "hi", None).await.unwrap();
    assert_eq!((sent.id.as_str(), sent.status), ("t1", A2aTaskStatus::Completed));
    assert_eq!(peer.methods(), ["tasks/send", "SendMessage"]);
}

#[tokio::test]
async fn agents_that_are_not_there_are_left_out() {
    let peer = Peer::agent(|own| card(own, false), |_| error(-32_601, "no"));
    let agents = [("gone", "http://127.0.0.1:9/".to_owned()), ("here", peer.url(""))];
    let agents =
        agents.map(|(name, url)| serde_json::from_value::<ExternalAgent>(json!({ "name": name, "url": url })).unwrap());
    let found = crate::discover_external_agents(&agents).await;
    let named: Vec<_> = found.iter().map(|(name, card)| (name.as_str(), card.name.as_str())).collect();
    assert_eq!(named, [("here", "echo")]);
}

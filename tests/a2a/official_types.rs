//! Everything that peers of 1.0 are told, in a run of all that they can ask for, parses as the official SDK's own types,
//! with everything unknown to them refused; and refusals have the form that both bindings want.

use std::collections::BTreeMap;

use openfang_a2a::dialect::Dialect;
use openfang_a2a::operation::Method;
use openfang_testkit::http::Answer;
use serde_json::{Value, json};

use super::calls::Call;
use super::schemas::{all_that_can_be_asked, documents, talking};
use super::wire::ask;
use crate::support::peers::judged10;

/// The official name of what a method answers with; none: nothing at all.
const fn kind(method: Method) -> Option<&'static str> {
    match method {
        Method::Send => Some("SendMessageResponse"),
        Method::Stream | Method::Subscribe => Some("StreamResponse"),
        Method::Get | Method::Cancel => Some("Task"),
        Method::List => Some("ListTasksResponse"),
        Method::SetPush | Method::GetPush => Some("TaskPushNotificationConfig"),
        Method::ListPush => Some("ListTaskPushNotificationConfigsResponse"),
        Method::DeletePush => None,
        Method::ExtendedCard => Some("AgentCard"),
    }
}

/// A refusal, as its binding writes it.
fn assert_refusal(call: &Call, answer: &Answer, document: &Value) {
    let error = &document["error"];
    let details = if call.is_rpc() {
        assert_eq!(
            (answer.status, &document["jsonrpc"], &document["id"]),
            (200, &json!("2.0"), &json!(1)),
            "{document}"
        );
        &error["data"]
    } else {
        assert_eq!(error["code"], answer.status, "{answer:?}");
        assert!(error["status"].is_string(), "{document}");
        &error["details"]
    };
    let info = &details[0];
    assert_eq!(
        (&info["@type"], &info["domain"]),
        (&json!("type.googleapis.com/google.rpc.ErrorInfo"), &json!("a2a-protocol.org")),
        "{document}"
    );
    assert!(info["reason"].is_string() && info["metadata"].is_object(), "{document}");
    assert!(error["message"].as_str().is_some_and(|why| !why.is_empty()), "{document}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_peers_of_the_newest_version_are_told_is_what_its_official_types_are() {
    let (_home, server) = talking().await;
    let client = server.client();
    let mut said: Vec<(&str, Value)> = Vec::new();
    let mut methods: BTreeMap<String, usize> = BTreeMap::new();
    for (call, answer) in all_that_can_be_asked(&client, Dialect::V10).await {
        for document in documents(&answer) {
            if document.get("error").is_some() {
                assert_refusal(&call, &answer, &document);
                continue;
            }
            let result = if call.is_rpc() { document["result"].clone() } else { document };
            *methods.entry(call.method.to_string()).or_default() += 1;
            match kind(call.method) {
                Some(kind) => said.push((kind, result)),
                None => assert!(result == json!({}) || result.is_null(), "{result}"),
            }
        }
    }
    for params in [json!({}), json!({"includeArtifacts": true, "historyLength": 3}), json!({"contextId": "none"})] {
        said.push(("ListTasksResponse", ask(&client, "ListTasks", params).await["result"].clone()));
    }
    said.push(("AgentCard", client.get("/a2a/strict/.well-known/agent-card.json").await.json()));
    println!("{} documents of {methods:?}", said.len());
    assert_eq!(methods.len(), Method::ALL.len(), "{methods:?}");

    let verdicts = judged10(said.iter().map(|(kind, value)| (*kind, value)));

    assert_eq!(verdicts.len(), said.len());
    for ((kind, value), verdict) in said.iter().zip(verdicts) {
        assert_eq!(verdict, None, "{kind} {value}");
    }
    server.stop().await;
}

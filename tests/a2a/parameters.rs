//! Parameters: what is lenient in spelling is strict in meaning, in every method of every dialect.

use std::time::Duration;

use openfang_a2a::dialect::Dialect;
use openfang_testkit::http::Answer;
use openfang_testkit::{TestHome, TestServer};
use openfang_types::config::Config;
use serde_json::{Value, json};

use super::calls::{Call, every};
use super::hostile::names;
use super::wire::{agents, ask, config, fresh, said, server};

/// A value and every value inside it, as paths.
fn places(value: &Value, at: String, into: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, member)| places(member, format!("{at}/{name}"), into));
        }
        Value::Array(all) => all.iter().enumerate().for_each(|(n, one)| places(one, format!("{at}/{n}"), into)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    into.push(at);
}

/// The body without what is at a place.
fn without(body: &Value, at: &str) -> Value {
    let mut body = body.clone();
    if let Some((parent, name)) = at.rsplit_once('/') {
        match body.pointer_mut(parent) {
            Some(Value::Object(members)) => {
                members.remove(name);
            }
            Some(Value::Array(all)) => {
                all.remove(name.parse().unwrap());
            }
            _ => {}
        }
    }
    body
}

/// The body with something else at a place.
fn with(body: &Value, at: &str, value: &Value) -> Value {
    let mut body = body.clone();
    if let Some(place) = body.pointer_mut(at) {
        *place = value.clone();
    }
    body
}

/// A success, or a refusal that says what is wrong.
fn is_precise(call: &Call, answer: &Answer) -> bool {
    if answer.body.contains("data: ") || answer.json().get("error").is_none() {
        return answer.status < 300;
    }
    let error = answer.json()["error"].clone();
    let says = error["message"].as_str().is_some_and(|why| why.len() > 5 && why.len() < 500);
    let code = error["code"].as_i64().unwrap_or_default();
    let known = if call.is_rpc() && call.dialect != Dialect::OpenFang {
        answer.status == 200 && (code == -32602 || (-32009..=-32001).contains(&code) || code == -32601)
    } else {
        (400..500).contains(&answer.status)
    };
    // The newest says also where.
    let located = call.dialect != Dialect::V10 || code != -32602 || error["data"].to_string().contains("BadRequest");
    says && known && located
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_method_of_every_dialect_refuses_every_wrong_parameter_precisely() {
    let home = agents(TestHome::new());
    let config = Config { default_agent: Some("starter".parse().unwrap()), ..config() };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    let client = server.client();
    let sent = ask(&client, "SendMessage", json!({"tenant": "starter", "message": said("first", "Ada")})).await;
    let names = names(sent["result"]["task"]["id"].as_str().unwrap(), "starter");
    let wrong = [
        Value::Null,
        json!(7),
        json!(-1),
        json!(1.5),
        json!(true),
        json!(""),
        json!("x".repeat(300)),
        json!("\u{0}"),
        json!([]),
        json!({}),
        json!([[{}]]),
    ];
    let mut count = 0;
    for call in every(&names) {
        // Those below an agent are read by the same code.
        let Some(body) = call.body.clone().filter(|_| !call.path.contains("starter")) else { continue };
        let root = if call.is_rpc() { "/params" } else { "" };
        let mut all = Vec::new();
        places(body.pointer(root).unwrap(), root.to_owned(), &mut all);
        for at in all {
            let tried = wrong.iter().map(|value| with(&body, &at, value)).chain([without(&body, &at)]);
            for mut body in tried {
                // A name of its own, so that no message is one that was sent before.
                let id = format!("{root}/message/messageId");
                if at != id
                    && let Some(name) = body.pointer_mut(&id)
                {
                    *name = json!(fresh());
                }
                let text = body.to_string();
                let answer = tokio::time::timeout(Duration::from_secs(20), call.send_body(&client, Some(&text))).await;
                let answer = answer.unwrap_or_else(|_| panic!("{text} hangs"));
                assert!(is_precise(&call, &answer), "{} {text}\n{answer:?}", call.path);
                count += 1;
            }
        }
    }
    println!("{count} requests");
    assert_eq!(client.get("/health").await.status, 200);
    server.stop().await;
}

#[tokio::test]
async fn the_newest_dialect_is_read_in_all_its_spellings() {
    let (_home, server) = server().await;
    let client = server.client();
    let spellings = [
        json!({"message_id": "s1", "role": 1, "parts": [{"text": "/current_time"}], "context_id": "c"}),
        json!({"messageId": "s2", "role": "ROLE_USER", "parts": [{"text": "/current_time", "raw": null, "url": null, "data": null, "metadata": null}], "contextId": "c", "taskId": null, "metadata": null, "extensions": null, "unknown": {"x": 1}}),
        json!({"messageId": "s3", "role": "ROLE_USER", "parts": [{"text": "/current_time"}, {"raw": "-_8", "media_type": "image/png"}, {"raw": "+/8=", "mediaType": "image/png"}], "contextId": "c", "taskId": ""}),
    ];
    for message in spellings {
        let params = json!({"tenant": "worker", "message": message, "configuration": {"return_immediately": false, "history_length": "1"}});
        let sent = ask(&client, "SendMessage", params).await;
        assert_eq!(sent["result"]["task"]["contextId"], "c", "{sent}");
        if message["messageId"] == "s3" {
            let parts = &sent["result"]["task"]["history"][0]["parts"];
            assert_eq!((&parts[1]["raw"], &parts[2]["raw"]), (&json!("+/8="), &json!("+/8=")), "{parts}");
        }
    }
    let by_number = ask(&client, "ListTasks", json!({"status": 3, "context_id": "c", "page_size": "2"})).await;
    assert_eq!(
        (&by_number["result"]["totalSize"], &by_number["result"]["pageSize"]),
        (&json!(3), &json!(2)),
        "{by_number}"
    );
    for raw in ["***", "aGk", "a", "aGk=="] {
        let message = json!({"messageId": fresh(), "role": "ROLE_USER", "parts": [{"raw": raw}]});
        let sent = ask(&client, "SendMessage", json!({"tenant": "worker", "message": message})).await;
        let is_read = sent["result"].is_object();
        assert_eq!(is_read, raw == "aGk", "{raw}: {sent}");
    }
    server.stop().await;
}

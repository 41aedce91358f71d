//! The agent answers as A2A 1.0 wants it.

use serde_json::{Value, json};

use super::*;

async fn said(method: &str, text: &str) -> (StatusCode, String) {
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{ "text": text }]});
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": method, "params": {"message": message, "id": "t"}});
    let response = answer(call.to_string().as_bytes()).unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn a_message_is_answered_with_a_task_that_repeats_it() {
    let (status, body) = said("SendMessage", "hello").await;

    let answer: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &answer["id"]), (StatusCode::OK, &json!(3)));
    let task = &answer["result"]["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED");
    assert_eq!(task["artifacts"][0]["parts"][0]["text"], "hello");
}

#[tokio::test]
async fn a_stream_ends_with_the_whole_task_and_no_task_is_kept() {
    let (_, stream) = said("SendStreamingMessage", "hello").await;
    let (_, asked) = said("GetTask", "hello").await;

    let events: Vec<&str> = stream.split_terminator("\n\n").collect();
    assert_eq!(events.len(), 2);
    assert!(events[1].contains("TASK_STATE_COMPLETED") && events[1].contains("\"hello\""));
    assert!(asked.contains("-32001"));
}

#[test]
fn a_card_says_whether_the_agent_streams() {
    let streams = |path: &str| {
        let card: Value = serde_json::from_str(&card("127.0.0.1:1", path)).unwrap();
        (card["supportedInterfaces"][0]["url"].clone(), card["capabilities"]["streaming"].clone())
    };

    assert_eq!(streams("/plain"), (json!("http://127.0.0.1:1/plain/"), json!(false)));
    assert_eq!(streams("/streaming"), (json!("http://127.0.0.1:1/streaming/"), json!(true)));
}

#[tokio::test]
async fn a_cancel_is_noted_under_the_words_of_the_message_and_once() {
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{ "text": "ticks-7" }]});
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "SendStreamingMessage", "params": {"message": message}});
    let mut body = answer(call.to_string().as_bytes()).unwrap().into_body();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    let event: Value = serde_json::from_slice(first.strip_prefix(b"data: ").unwrap()).unwrap();
    let id = event["result"]["task"]["id"].as_str().unwrap();
    let before = Timestamp::now();

    assert!(cancel(id).unwrap().contains("TASK_STATE_CANCELED"));

    assert!(lock().canceled["ticks-7"] >= before);
    assert_eq!((cancel(id), cancel("another")), (None, None));
}

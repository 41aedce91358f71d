//! What the doors say before the server does.

use axum::body::to_bytes;
use serde_json::{Value, json};

use super::*;

async fn said(binding: A2aBinding, status: StatusCode) -> Value {
    let answer = written(binding, status, "no").unwrap();
    assert_eq!((answer.status(), &answer.headers()[CONTENT_TYPE]), (status, &"application/json".parse().unwrap()));
    serde_json::from_slice(&to_bytes(answer.into_body(), 10_000).await.unwrap()).unwrap()
}

#[tokio::test]
async fn each_door_refuses_in_the_form_that_its_clients_read() {
    let rows = [
        (StatusCode::TOO_MANY_REQUESTS, -32_000, "RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED"),
        (StatusCode::PAYLOAD_TOO_LARGE, -32_600, "INVALID_ARGUMENT", "INVALID_REQUEST"),
        (StatusCode::REQUEST_TIMEOUT, -32_600, "INVALID_ARGUMENT", "INVALID_REQUEST"),
        (StatusCode::UNSUPPORTED_MEDIA_TYPE, -32_005, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED"),
    ];
    for (status, code, word, reason) in rows {
        for rpc in [A2aBinding::Rpc, A2aBinding::AgentRpc] {
            let said = said(rpc, status).await;
            assert_eq!((&said["jsonrpc"], &said["id"]), (&json!("2.0"), &Value::Null), "{said}");
            assert_eq!((&said["error"]["code"], &said["error"]["message"]), (&json!(code), &json!("no")), "{said}");
            assert_eq!(said["error"]["data"][0]["reason"], reason, "{said}");
        }
        for rest in [A2aBinding::Rest, A2aBinding::AgentRest] {
            let error = said(rest, status).await["error"].take();
            assert_eq!((&error["code"], &error["status"]), (&json!(status.as_u16()), &json!(word)), "{error}");
            assert_eq!((&error["message"], &error["details"][0]["reason"]), (&json!("no"), &json!(reason)), "{error}");
        }
        for openfang in [A2aBinding::OpenFangSend, A2aBinding::OpenFangTask, A2aBinding::OpenFangCancel] {
            assert_eq!(said(openfang, status).await, json!({"error": {"code": code, "message": "no"}}));
        }
    }
}

#[test]
fn what_is_about_credentials_and_addresses_is_said_as_everywhere() {
    for status in [401, 403, 404, 405, 421, 500] {
        let status = StatusCode::from_u16(status).unwrap();
        assert!(written(A2aBinding::Rpc, status, "no").is_none(), "{status}");
    }
}

//! The table of refusals, row by row, in the shapes that the providers document.

use std::time::Duration;

use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Value, json};

use super::{Refusal, RefusalKind};
use crate::error::{ModelError, Verdict};

fn refused(status: u16, body: &Value) -> Refusal {
    Refusal::of(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), body.to_string().as_bytes())
}

fn anthropic(kind: &str, message: &str) -> Value {
    json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": "req_1" })
}

fn openai(kind: &str, code: Value, param: Value, message: &str) -> Value {
    json!({ "error": { "message": message, "type": kind, "param": param, "code": code } })
}

fn gemini(code: u16, status: &str, message: &str, details: Value) -> Value {
    json!({ "error": { "code": code, "message": message, "status": status, "details": details } })
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table: each entry is plain")]
fn each_refusal_has_its_kind() {
    let none = Value::Null;
    let daily = json!([{ "@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [
        { "quotaMetric": "requests", "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier" },
    ] }]);
    let rows = [
        (
            429,
            anthropic("rate_limit_error", "Number of request tokens has exceeded your rate limit"),
            RefusalKind::Busy,
        ),
        (529, anthropic("overloaded_error", "Overloaded"), RefusalKind::Busy),
        (500, anthropic("api_error", "Internal server error"), RefusalKind::Busy),
        (
            400,
            anthropic("invalid_request_error", "Your credit balance is too low to access the API"),
            RefusalKind::Quota,
        ),
        (402, anthropic("billing_error", "Payment required"), RefusalKind::Quota),
        (
            400,
            anthropic("invalid_request_error", "prompt is too long: 205000 tokens > 200000 maximum"),
            RefusalKind::ContextTooLong,
        ),
        (413, anthropic("request_too_large", "Request exceeds the maximum size"), RefusalKind::ContextTooLong),
        (
            400,
            anthropic("invalid_request_error", "tools.3.custom.input_schema: JSON schema is invalid"),
            RefusalKind::BadTool { index: 3 },
        ),
        (
            400,
            anthropic("invalid_request_error", "messages.1.content.0: Invalid `signature` in `thinking` block"),
            RefusalKind::BadNative,
        ),
        (401, anthropic("authentication_error", "invalid x-api-key"), RefusalKind::Unauthorized),
        (403, anthropic("permission_error", "Your API key does not have permission"), RefusalKind::Unauthorized),
        (404, anthropic("not_found_error", "model: claude-9"), RefusalKind::NoSuchModel),
        (
            429,
            openai("insufficient_quota", json!("insufficient_quota"), none.clone(), "You exceeded your current quota"),
            RefusalKind::Quota,
        ),
        (
            429,
            openai("requests", json!("rate_limit_exceeded"), none.clone(), "Rate limit reached for gpt-5"),
            RefusalKind::Busy,
        ),
        (
            400,
            openai(
                "invalid_request_error",
                json!("context_length_exceeded"),
                json!("input"),
                "Your input exceeds the context window",
            ),
            RefusalKind::ContextTooLong,
        ),
        (
            400,
            openai(
                "invalid_request_error",
                json!("invalid_function_parameters"),
                json!("tools[12].function.parameters"),
                "Invalid schema for function",
            ),
            RefusalKind::BadTool { index: 12 },
        ),
        (
            400,
            openai(
                "invalid_request_error",
                json!("invalid_encrypted_content"),
                none.clone(),
                "The encrypted content could not be verified",
            ),
            RefusalKind::BadNative,
        ),
        (
            400,
            openai(
                "invalid_request_error",
                json!("content_policy_violation"),
                none.clone(),
                "Your request was rejected",
            ),
            RefusalKind::Blocked,
        ),
        (
            401,
            openai("invalid_request_error", json!("invalid_api_key"), none.clone(), "Incorrect API key provided"),
            RefusalKind::Unauthorized,
        ),
        (
            404,
            openai("invalid_request_error", json!("model_not_found"), none.clone(), "The model does not exist"),
            RefusalKind::NoSuchModel,
        ),
        (
            400,
            openai("invalid_request_error", none.clone(), json!("temperature"), "Unsupported value"),
            RefusalKind::BadRequest,
        ),
        (503, gemini(503, "UNAVAILABLE", "The model is overloaded.", json!([])), RefusalKind::Busy),
        (429, gemini(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted", json!([])), RefusalKind::Busy),
        (429, gemini(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota", daily), RefusalKind::Quota),
        (
            400,
            gemini(
                400,
                "INVALID_ARGUMENT",
                "The input token count (1200000) exceeds the maximum number of tokens allowed",
                json!([]),
            ),
            RefusalKind::ContextTooLong,
        ),
        (
            400,
            gemini(
                400,
                "INVALID_ARGUMENT",
                "* GenerateContentRequest.tools[0].function_declarations[7].name: Invalid function name",
                json!([]),
            ),
            RefusalKind::BadTool { index: 7 },
        ),
        (
            400,
            gemini(
                400,
                "INVALID_ARGUMENT",
                "Function call is missing a thought_signature in functionCall parts",
                json!([]),
            ),
            RefusalKind::BadNative,
        ),
        (
            400,
            gemini(
                400,
                "INVALID_ARGUMENT",
                "API key not valid. Please pass a valid API key.",
                json!([{ "reason": "API_KEY_INVALID" }]),
            ),
            RefusalKind::Unauthorized,
        ),
        (404, json!({ "error": "model \"qwen9\" not found, try pulling it first" }), RefusalKind::NoSuchModel),
        (
            400,
            json!({ "error": { "code": 400, "message": "the request exceeds the available context size", "type": "exceed_context_size_error", "n_ctx": 4096 } }),
            RefusalKind::ContextTooLong,
        ),
        (500, json!({ "error": "llama runner process has terminated" }), RefusalKind::Busy),
        (408, json!({}), RefusalKind::Busy),
        (409, json!({}), RefusalKind::Busy),
        (422, json!({ "detail": "Field required" }), RefusalKind::BadRequest),
    ];
    for (status, body, kind) in rows {
        let refusal = refused(status, &body);
        assert_eq!(refusal.kind, kind, "{status} {body}");
        assert_eq!(refusal.status, Some(status));
        assert!(!refusal.message.is_empty());
    }
}

#[test]
fn what_to_do_follows_from_the_kind() {
    let verdict = |kind: RefusalKind, retry_after| {
        let refusal =
            Refusal { kind, status: Some(400), code: None, message: "x".to_owned(), retry_after, request_id: None };
        ModelError::from(refusal).verdict()
    };
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    assert_eq!(verdict(RefusalKind::Busy, seconds(7)), Verdict::Retry { after: seconds(7), at_most: 4 });
    assert_eq!(
        verdict(RefusalKind::Busy, seconds(900)),
        Verdict::Fallback { leave_alone: seconds(900), needs_other_key: false }
    );
    assert_eq!(
        verdict(RefusalKind::Quota, None),
        Verdict::Fallback { leave_alone: seconds(3_600), needs_other_key: false }
    );
    assert_eq!(verdict(RefusalKind::ContextTooLong, None), Verdict::Compact);
    assert_eq!(verdict(RefusalKind::BadNative, None), Verdict::WithoutNative);
    assert_eq!(
        verdict(RefusalKind::Unauthorized, None),
        Verdict::Fallback { leave_alone: None, needs_other_key: true }
    );
    assert_eq!(
        verdict(RefusalKind::NoSuchModel, None),
        Verdict::Fallback { leave_alone: None, needs_other_key: false }
    );
    assert_eq!(verdict(RefusalKind::Blocked, None), Verdict::GiveUp);
    assert_eq!(verdict(RefusalKind::BadRequest, None), Verdict::GiveUp);
}

#[test]
fn a_page_of_a_proxy_is_known_by_its_status() {
    let page = b"<html><body><h1>502 Bad Gateway</h1>nginx</body></html>";
    let refusal = Refusal::of(StatusCode::BAD_GATEWAY, &HeaderMap::new(), page);
    assert_eq!((refusal.kind, refusal.message.as_str()), (RefusalKind::Busy, "Bad Gateway"));
}

#[test]
fn the_words_of_a_provider_are_cut_and_carry_no_control_characters() {
    let refusal = refused(400, &json!({ "error": { "message": format!("\u{1b}[31m{}", "x".repeat(5_000)) } }));
    assert_eq!(refusal.message.chars().count(), 600);
    assert!(!refusal.message.contains('\u{1b}'));
}

#[test]
fn the_ids_and_waits_of_the_headers_are_kept() {
    let mut headers = HeaderMap::new();
    headers.insert("retry-after", HeaderValue::from_static("7"));
    headers.insert("x-request-id", HeaderValue::from_static("req_9"));
    let refusal = Refusal::of(StatusCode::TOO_MANY_REQUESTS, &headers, b"");
    assert_eq!(refusal.retry_after, Some(Duration::from_secs(7)));
    assert_eq!(refusal.request_id.as_deref(), Some("req_9"));
    let info = json!([{ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s" }]);
    let refusal = refused(429, &gemini(429, "RESOURCE_EXHAUSTED", "Slow down", info));
    assert_eq!(refusal.retry_after, Some(Duration::from_millis(34_500)));
}

//! Our client against a provider that does what its script says.

use std::time::Duration;

use openfang_model::{Endpoint, ModelClient, ModelError, RefusalKind, Stop, Verdict, WireFault, WireKind};
use openfang_testkit::FakeProvider;
use openfang_testkit::fake_provider::Reply;
use openfang_testkit::fake_provider::answers::{Say, answer};
use openfang_types::secret::Secret;
use serde_json::json;

use super::{asked, client, door, request};

#[tokio::test]
async fn every_wire_streams_an_answer_with_a_call() {
    for wire in WireKind::ALL {
        let mut provider = FakeProvider::start().await;
        let says = [Say::text("Let me add."), Say::call("call_1", "add_numbers", json!({ "a": 3, "b": 7 }))];
        provider.script([answer(wire, &says)]);

        let (told, answer) = asked(&client(wire, &provider.url()), &request("What is 3 + 7?")).await;

        let answer = answer.unwrap();
        assert_eq!((told.as_str(), answer.text().as_str()), ("Let me add.", "Let me add."), "{wire}");
        let call = answer.runnable_calls().next().unwrap();
        assert_eq!((call.name.as_str(), call.arguments.as_json()), ("add_numbers", "{\"a\":3,\"b\":7}"), "{wire}");
        assert_eq!((answer.stop.clone(), answer.usage.input, answer.usage.output), (Stop::Calls, Some(20), Some(9)));
        let sent = provider.next_request().await;
        let path = match wire {
            WireKind::Anthropic => "POST /v1/messages",
            WireKind::Responses => "POST /v1/responses",
            WireKind::Chat => "POST /v1/chat/completions",
            WireKind::Gemini => "POST /v1beta/models/m:streamGenerateContent?alt=sse",
            WireKind::Ollama => "POST /api/chat",
        };
        assert_eq!(sent.line, path);
        assert_eq!(sent.header("content-type"), Some("application/json"));
        assert!(sent.body.contains("What is 3 + 7?"), "{wire}");
    }
}

#[tokio::test]
async fn the_key_goes_in_the_header_that_the_provider_wants_and_never_into_an_error() {
    for (wire, header, value) in [
        (WireKind::Anthropic, "x-api-key", "sk-secret-1"),
        (WireKind::Gemini, "x-goog-api-key", "sk-secret-1"),
        (WireKind::Chat, "authorization", "Bearer sk-secret-1"),
    ] {
        let mut provider = FakeProvider::start().await;
        let refusal =
            json!({ "error": { "message": "Incorrect API key provided: sk-secret-1", "code": "invalid_api_key" } });
        provider.script([Reply::refusal(401, &refusal)]);
        let endpoint = Endpoint::at(wire, &provider.url()).key(Secret::new("sk-secret-1".to_owned()));
        let client = ModelClient::new(door(), endpoint).unwrap();

        let error = asked(&client, &request("Hi")).await.1.unwrap_err();

        assert_eq!(provider.next_request().await.header(header), Some(value));
        assert_eq!(error.verdict(), Verdict::Fallback { leave_alone: None, needs_other_key: true });
        assert!(!format!("{error} {error:?}").contains("sk-secret-1"), "{error:?}");
    }
}

#[tokio::test]
async fn a_busy_provider_is_asked_once_and_its_wait_is_handed_on() {
    let mut provider = FakeProvider::start().await;
    provider.script([Reply::Status {
        status: 429,
        headers: vec![("retry-after", "7".to_owned()), ("request-id", "req_9".to_owned())],
        body: json!({ "type": "error", "error": { "type": "rate_limit_error", "message": "Slow down" } }).to_string(),
    }]);

    let error = asked(&client(WireKind::Anthropic, &provider.url()), &request("Hi")).await.1.unwrap_err();

    assert_eq!(error.verdict(), Verdict::Retry { after: Some(Duration::from_secs(7)), at_most: 4 });
    let ModelError::Refused(refusal) = error else { panic!("{error}") };
    assert_eq!((refusal.kind, refusal.request_id.as_deref()), (RefusalKind::Busy, Some("req_9")));
    assert_eq!(provider.unread_requests(), 1, "the client does not retry by itself");
}

#[tokio::test]
async fn a_tool_that_the_provider_rejects_is_named() {
    let provider = FakeProvider::start().await;
    let refusal = json!({ "error": { "message": "Invalid schema", "param": "tools[0].function.parameters", "type": "invalid_request_error" } });
    provider.script([Reply::refusal(400, &refusal)]);

    let error = asked(&client(WireKind::Chat, &provider.url()), &request("Hi")).await.1.unwrap_err();

    assert_eq!(error.verdict(), Verdict::WithoutTool("add_numbers".to_owned()));
    assert!(error.to_string().contains("the tool is add_numbers"), "{error}");
}

#[tokio::test]
async fn a_connection_that_breaks_in_an_answer_is_an_error_that_is_worth_a_retry() {
    for wire in [WireKind::Anthropic, WireKind::Responses, WireKind::Chat, WireKind::Gemini] {
        let provider = FakeProvider::start().await;
        let Reply::Stream { bytes, .. } = answer(wire, &[Say::text("Ten."), Say::text("Truly.")]) else { panic!() };
        let half = bytes[..bytes.len() / 2].to_vec();
        provider.script([Reply::Cut(half.clone()), Reply::events(half)]);
        let client = client(wire, &provider.url());

        let broken = asked(&client, &request("Hi")).await.1.unwrap_err();
        let ended = asked(&client, &request("Hi")).await.1.unwrap_err();

        assert!(matches!(broken, ModelError::Http(_)), "{wire}: {broken:?}");
        assert!(matches!(ended, ModelError::Fault(WireFault::Cut)), "{wire}: {ended:?}");
        for error in [broken, ended] {
            assert_eq!(error.verdict(), Verdict::Retry { after: None, at_most: 2 }, "{wire}");
        }
    }
}

#[tokio::test]
async fn an_answer_is_whole_at_its_end_mark_even_if_the_connection_stays_open() {
    for wire in [WireKind::Anthropic, WireKind::Responses, WireKind::Chat] {
        let mut provider = FakeProvider::start().await;
        let Reply::Stream { bytes, .. } = answer(wire, &[Say::text("Ten.")]) else { panic!() };
        provider.script([Reply::Hold(bytes)]);

        let (_, answer) = asked(&client(wire, &provider.url()), &request("Hi")).await;

        assert_eq!(answer.unwrap().text(), "Ten.", "{wire}");
        provider.client_closed().await;
    }
}

#[tokio::test]
async fn dropping_the_request_closes_the_connection() {
    let mut provider = FakeProvider::start().await;
    provider.script([Reply::Hold(b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Ten\"}}]}\n\n".to_vec())]);
    let client = client(WireKind::Chat, &provider.url());
    let (begun, mut first) = tokio::sync::mpsc::channel(1);
    let request = request("Hi");

    let mut told = |_: openfang_model::Delta<'_>| {
        let _ = begun.try_send(());
    };
    tokio::select! {
        answer = client.answer(&request, &mut told) => panic!("an answer without an end: {answer:?}"),
        _ = first.recv() => {}
    }

    provider.client_closed().await;
}

#[tokio::test]
async fn a_login_page_instead_of_an_answer_names_the_base_url() {
    let provider = FakeProvider::start().await;
    let page = b"<!doctype html><title>Sign in</title>".to_vec();
    provider.script([Reply::Stream { media_type: "text/html", bytes: page, chunk: 10 }]);

    let error = asked(&client(WireKind::Responses, &provider.url()), &request("Hi")).await.1.unwrap_err();

    assert!(error.to_string().contains("check the base url"), "{error}");
    assert_eq!(error.verdict(), Verdict::Fallback { leave_alone: None, needs_other_key: false });
}

#[tokio::test]
async fn a_provider_that_is_not_there_is_worth_a_retry() {
    let provider = FakeProvider::start().await;
    let client = client(WireKind::Chat, &provider.url());
    drop(provider);

    let error = asked(&client, &request("Hi")).await.1.unwrap_err();

    assert_eq!(error.verdict(), Verdict::Retry { after: None, at_most: 4 }, "{error}");
}

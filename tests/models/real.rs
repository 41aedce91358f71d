//! A real model: SmolLM2 with 135 million parameters, served by llama.cpp on this machine. Its words are its own, so
//! only what follows from the protocol is asserted.

use std::time::Duration;

use openfang_model::{Item, ModelError, RefusalKind, Stop, ToolChoice, Verdict, WireKind};
use serde_json::Value;

use super::{asked, client, request};
use crate::support::peers::models::LlamaServer;

/// The wires that the server has. Tools on the Responses wire are not among what it can do.
const WIRES: [WireKind; 3] = [WireKind::Chat, WireKind::Anthropic, WireKind::Responses];

#[tokio::test]
async fn a_real_model_chats_calls_a_tool_stops_and_refuses_what_is_too_long() {
    let server = tokio::task::spawn_blocking(LlamaServer::start).await.unwrap();
    for wire in WIRES {
        let client = client(wire, &server.url());
        let mut plain = request("Say hello.");
        plain.tools = Default::default();
        plain.options.max_tokens = 12;
        let (told, answer) = asked(&client, &plain).await;
        let answer = answer.unwrap_or_else(|error| panic!("{wire}: {error}"));
        assert!(!told.is_empty() && answer.text() == told, "{wire}: {told:?}, {answer:?}");
        assert!(matches!(answer.stop, Stop::Finished | Stop::Length), "{wire}: {:?}", answer.stop);
        assert!(answer.usage.output.is_some_and(|tokens| (1..=12).contains(&tokens)), "{wire}: {:?}", answer.usage);

        let mut long = plain.clone();
        long.items = vec![Item::user("word ".repeat(4_000)).into()];
        let error = asked(&client, &long).await.1.unwrap_err();
        assert_eq!(error.verdict(), Verdict::Compact, "{wire}: {error}");
        let ModelError::Refused(refusal) = error else { panic!("{wire}: {error}") };
        assert_eq!(refusal.kind, RefusalKind::ContextTooLong, "{wire}");
    }
    for wire in [WireKind::Chat, WireKind::Anthropic] {
        let mut adding = request("What is 3 + 7? Call add_numbers.");
        adding.options.max_tokens = 120;
        adding.options.tool_choice = ToolChoice::Required;
        let answer = asked(&client(wire, &server.url()), &adding).await.1.unwrap();
        let call = answer.runnable_calls().next().unwrap_or_else(|| panic!("{wire}: no call in {answer:?}"));
        assert_eq!(call.name, "add_numbers", "{wire}");
        let arguments: Value = serde_json::from_str(call.arguments.as_json()).unwrap();
        assert!(arguments["a"].is_i64() && arguments["b"].is_i64(), "{wire}: {arguments}");
    }
    stops_when_it_is_dropped(&server).await;
}

/// The server has one slot: while an answer is made, no other one is. So an answer after a dropped one shows that the
/// server stopped.
async fn stops_when_it_is_dropped(server: &LlamaServer) {
    let client = client(WireKind::Chat, &server.url());
    let mut endless = request("Count to a thousand, with all numbers as words.");
    endless.tools = Default::default();
    endless.options.max_tokens = 1_500;
    let (begun, mut first) = tokio::sync::mpsc::channel(1);
    let mut told = |_: openfang_model::Delta<'_>| {
        let _ = begun.try_send(());
    };
    tokio::select! {
        answer = client.answer(&endless, &mut told) => drop(answer.unwrap()),
        _ = first.recv() => {}
    }

    let mut short = request("Say hello.");
    short.tools = Default::default();
    short.options.max_tokens = 2;
    let answer = tokio::time::timeout(Duration::from_secs(20), asked(&client, &short)).await;
    assert!(answer.is_ok_and(|(_, answer)| answer.is_ok()), "the server did not stop the first answer");
}

//! Whatever happened, and wherever it was cut: the view is one that every provider accepts.

use std::sync::Arc;

use openfang_model::{
    Block, Call, CallArguments, Item, ModelRequest, NativeItems, Part, Quirks, Stop, ToolSpec, Toolbox, Usage,
    WireKind, encode,
};
use openfang_types::ids::TaskId;
use openfang_types::taint::{Label, Labels};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{CallOutcome, Compaction, CoveredTask, Stub, TranscriptBody, TranscriptEntry, view};

#[path = "transcript/plan_tests.rs"]
mod plan;
#[path = "transcript/stored_tests.rs"]
mod stored;

const MODEL: &str = "claude-sonnet-4-6";

fn text(text: &str) -> Vec<Part> {
    vec![Part::Text { text: text.to_owned() }]
}

fn user(words: &str) -> TranscriptBody {
    TranscriptBody::User { parts: text(words) }
}

fn call(id: &str) -> Block {
    let arguments = CallArguments::parse("{\"a\":3}");
    Block::Call(Call { id: id.to_owned(), name: "add_numbers".to_owned(), arguments })
}

fn answer(blocks: Vec<Block>, native: Option<NativeItems>, stop: Stop) -> TranscriptBody {
    answer_to(u64::MAX, blocks, native, stop)
}

/// An answer of a model that had read so far.
fn answer_to(seen: u64, blocks: Vec<Block>, native: Option<NativeItems>, stop: Stop) -> TranscriptBody {
    let (usage, decided_with) = (Usage::default(), Labels::none());
    TranscriptBody::Answer { blocks, native, stop, usage, cost: None, seen, decided_with }
}

fn done(call: &str) -> TranscriptBody {
    let outcome = CallOutcome::Returned { parts: text("10"), is_error: false };
    ended(call, outcome)
}

fn ended(call: &str, outcome: CallOutcome) -> TranscriptBody {
    TranscriptBody::CallDone { call: call.to_owned(), outcome, millis: 12 }
}

fn begun(call: &str) -> TranscriptBody {
    TranscriptBody::CallBegun {
        call: call.to_owned(),
        tool: "add_numbers".to_owned(),
        definition: String::new(),
        arguments: String::new(),
        approval: None,
    }
}

fn compaction(summary: &str, covers: u64) -> Compaction {
    Compaction { summary: summary.to_owned(), covers, ..Compaction::default() }
}

fn entries(bodies: Vec<TranscriptBody>) -> Vec<TranscriptEntry> {
    let task = TaskId::from_uuid(uuid::Uuid::nil());
    let entry = |(body, seq)| TranscriptEntry { seq, task, turn: 1, tokens: None, body, labels: Labels::none() };
    bodies.into_iter().zip(1..).map(entry).collect()
}

fn result_texts(entries: &[TranscriptEntry]) -> Vec<String> {
    let items = view(entries).items;
    let results = items.iter().filter_map(|item| match &**item {
        Item::Results { results } => Some(results.clone()),
        Item::User { .. } | Item::Answer { .. } => None,
    });
    results
        .flatten()
        .map(|result| match result.parts.first() {
            Some(Part::Text { text }) => text.clone(),
            other => format!("{other:?}"),
        })
        .collect()
}

#[test]
fn a_crash_between_a_call_and_its_result_leaves_a_result_that_says_so() {
    let calls = || answer(vec![call("a"), call("b"), call("c")], None, Stop::Calls);
    let entries = entries(vec![user("Hi"), calls(), begun("a"), done("a"), begun("b")]);
    let expected = ["10", "This call was interrupted. Whether it took effect is not known.", "This call was not run."];
    assert_eq!(result_texts(&entries), expected);
    assert!(view(&entries).awaits_model);
}

#[test]
fn calls_of_an_answer_that_was_cut_say_that_they_were_cut() {
    let entries = entries(vec![user("Hi"), answer(vec![call("a")], None, Stop::Length)]);
    assert_eq!(result_texts(&entries), ["This call was cut at the output limit and not run. Send less, or in pieces."]);
}

#[test]
fn what_a_person_denied_carries_the_reason() {
    let outcome = CallOutcome::Denied { reason: "not on a Friday".to_owned() };
    let denied = ended("a", outcome);
    let entries = entries(vec![user("Hi"), answer(vec![call("a")], None, Stop::Calls), denied]);
    assert_eq!(result_texts(&entries), ["This call was denied: not on a Friday"]);
}

#[test]
fn a_message_that_arrives_while_calls_run_stands_behind_their_results() {
    let entries = entries(vec![
        user("Hi"),
        answer(vec![call("a")], None, Stop::Calls),
        begun("a"),
        user("Faster!"),
        done("a"),
        done("a"),
    ]);
    let view = view(&entries);
    assert_eq!(result_texts(&entries), ["10"]);
    assert!(matches!(&**view.items.last().unwrap(), Item::User { parts } if *parts == text("Faster!")));
}

#[test]
fn a_summary_stands_for_what_it_covers_and_keeps_the_labels() {
    let mut entries = entries(vec![
        user("Hi"),
        answer(vec![call("a")], None, Stop::Calls),
        done("a"),
        TranscriptBody::Compacted(Box::new(compaction("They said hi.", 3))),
        user("And now?"),
    ]);
    entries[0].labels = Labels::one(Label::Secret, "not in the view");
    entries[3].labels = Labels::one(Label::ExternalNetwork, "example.com");
    let view = view(&entries);
    assert_eq!(view.items.len(), 1, "{:?}", view.items);
    assert_eq!(view.labels, Labels::one(Label::ExternalNetwork, "example.com"));
}

#[test]
fn after_a_whole_answer_nobody_waits_for_the_model() {
    let said = || vec![Block::Text { text: "Ten.".to_owned() }];
    assert!(!view(&entries(vec![user("Hi"), answer(said(), None, Stop::Finished)])).awaits_model);
    assert!(view(&entries(vec![user("Hi"), answer(said(), None, Stop::Paused)])).awaits_model);
    assert!(!view(&[]).awaits_model);
}

#[test]
fn a_message_that_arrives_while_the_model_speaks_is_still_to_be_answered() {
    let words = || vec![Block::Text { text: "Ten.".to_owned() }];
    let asked = entries(vec![user("Hi"), user("And Bob?"), answer_to(1, words(), None, Stop::Finished)]);
    let said = |items: &[Arc<Item>]| items.iter().map(|item| serde_json::to_string(item).unwrap()).collect::<Vec<_>>();
    let first = view(&asked[..1]);

    let next = view(&asked);

    assert!(next.awaits_model);
    assert_eq!(said(&next.items)[..1], said(&first.items), "what was sent before is sent again as it was");
    assert!(matches!(&**next.items.last().unwrap(), Item::User { parts } if *parts == text("And Bob?")));
    let answered = [asked, entries(vec![answer_to(3, words(), None, Stop::Finished)])].concat();
    assert!(!view(&answered).awaits_model);
    assert_eq!(said(&view(&answered).items)[..3], said(&next.items));
}

#[test]
fn a_message_that_arrives_while_the_model_asks_for_a_call_stands_behind_the_result() {
    let calls = answer_to(1, vec![call("a")], None, Stop::Calls);
    let entries = entries(vec![user("Hi"), user("Stop!"), calls, begun("a"), done("a")]);
    let view = view(&entries);
    assert!(matches!(&*view.items[1], Item::Answer { .. }));
    assert!(matches!(&*view.items[2], Item::Results { .. }));
    assert!(matches!(&*view.items[3], Item::User { parts } if *parts == text("Stop!")));
}

/// The native form of an answer with these blocks.
fn native_of(wire: WireKind, blocks: &[Block]) -> Option<NativeItems> {
    let mut items = Vec::new();
    let mut tool_calls = Vec::new();
    let mut words = String::new();
    for block in blocks {
        match (wire, block) {
            (_, Block::Thinking { .. }) => {}
            // No decoder keeps blank text.
            (_, Block::Text { text }) if text.trim().is_empty() => {}
            (WireKind::Anthropic, Block::Text { text }) => items.push(json!({ "type": "text", "text": text })),
            (WireKind::Anthropic, Block::Call(call)) => {
                items.push(json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": {} }));
            }
            (WireKind::Responses, Block::Text { text }) => {
                items.push(json!({ "type": "message", "role": "assistant", "content": text }))
            }
            (WireKind::Responses, Block::Call(call)) => {
                items.push(json!({ "type": "function_call", "call_id": call.id, "name": call.name, "arguments": "{}" }))
            }
            (WireKind::Gemini, Block::Text { text }) => items.push(json!({ "text": text })),
            (WireKind::Gemini, Block::Call(call)) => {
                items.push(json!({ "functionCall": { "name": call.name, "args": {} }, "thoughtSignature": "c2ln" }));
            }
            (WireKind::Chat | WireKind::Ollama, Block::Text { text }) => words.push_str(text),
            (WireKind::Chat | WireKind::Ollama, Block::Call(call)) => tool_calls.push(
                json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": "{}" } }),
            ),
        }
    }
    match wire {
        WireKind::Ollama => return None,
        WireKind::Chat if tool_calls.is_empty() => items.push(json!({ "role": "assistant", "content": words })),
        WireKind::Chat => items.push(json!({ "role": "assistant", "content": words, "tool_calls": tool_calls })),
        WireKind::Anthropic | WireKind::Responses | WireKind::Gemini => {}
    }
    let items = items.iter().map(|item| serde_json::value::to_raw_value(item).unwrap()).collect();
    Some(NativeItems { wire, model: MODEL.to_owned(), items })
}

fn any_blocks() -> impl Strategy<Value = Vec<Block>> {
    let id = prop::sample::select(vec!["a", "b", "c", "call_0"]);
    let block = prop_oneof![
        prop::sample::select(vec!["Ten.", "", "  "]).prop_map(|text| Block::Text { text: text.to_owned() }),
        Just(Block::Thinking { text: "Hm.".to_owned() }),
        id.prop_map(call),
    ];
    prop::collection::vec(block, 0..5)
}

/// How far a model had read: mostly everything.
fn any_seen() -> impl Strategy<Value = u64> {
    prop_oneof![2 => Just(u64::MAX), 1 => 0_u64..24]
}

/// Any compaction, of any place and with stubs for whatever there is: more than can happen.
fn any_compaction() -> impl Strategy<Value = Compaction> {
    let words = || prop::sample::select(vec!["Sum.", "", "  "]);
    let stub = (0_u64..24, prop::option::of(Just("0190a000-0000-7000-8000-000000000001".to_owned())));
    let stub = stub.prop_map(|(seq, handle)| Stub {
        seq,
        text: "[left out]".to_owned(),
        of: "add_numbers".to_owned(),
        handle,
    });
    let messages = prop::collection::vec(words().prop_map(text), 0..3);
    (words(), 0_u64..30, messages, prop::collection::vec(stub, 0..4))
        .prop_map(|(summary, covers, messages, stubs)| Compaction { messages, stubs, ..compaction(summary, covers) })
}

/// Anything that may be in a transcript, in any order: more than can happen.
fn any_body() -> impl Strategy<Value = TranscriptBody> {
    let id = || prop::sample::select(vec!["a", "b", "c", "call_0", "nobody"]).prop_map(str::to_owned);
    let stop = prop::sample::select(vec![Stop::Calls, Stop::Finished, Stop::Length, Stop::Paused]);
    let outcome = prop_oneof![
        Just(CallOutcome::Returned { parts: text("10"), is_error: false }),
        Just(CallOutcome::Returned { parts: Vec::new(), is_error: true }),
        Just(CallOutcome::Unknown),
        Just(CallOutcome::Canceled),
        Just(CallOutcome::Denied { reason: "no".to_owned() }),
    ];
    prop_oneof![
        2 => prop::sample::select(vec!["Hello", "", "Stop!"]).prop_map(user),
        4 => (any_blocks(), stop, prop::option::of(prop::sample::select(WireKind::ALL.to_vec())), any_seen()).prop_map(
            |(blocks, stop, wire, seen)| {
                let native = wire.and_then(|wire| native_of(wire, &blocks));
                answer_to(seen, blocks, native, stop)
            }
        ),
        2 => id().prop_map(|id| begun(&id)),
        4 => (id(), outcome).prop_map(|(call, outcome)| ended(&call, outcome)),
        1 => Just(TranscriptBody::Switched { model: "other".to_owned(), reason: "busy".to_owned() }),
        1 => any_compaction().prop_map(|compaction| TranscriptBody::Compacted(Box::new(compaction))),
    ]
}

fn request(items: Vec<Arc<Item>>, model: &str) -> ModelRequest {
    let mut request = ModelRequest::new(model, items);
    let schema = json!({ "type": "object", "properties": { "a": { "type": "integer" } } });
    let tool = ToolSpec { name: "add_numbers".to_owned(), description: "Adds.".to_owned(), schema };
    request.tools = Arc::new(Toolbox::new(vec![tool]));
    request
}

/// What a provider would refuse in a request.
fn check(wire: WireKind, body: &Value) -> Result<(), String> {
    match wire {
        WireKind::Anthropic => check_anthropic(body["messages"].as_array().unwrap()),
        WireKind::Responses => check_responses(body["input"].as_array().unwrap()),
        WireKind::Chat => check_chat(body["messages"].as_array().unwrap(), "tool_call_id"),
        WireKind::Gemini => check_gemini(body["contents"].as_array().unwrap()),
        WireKind::Ollama => check_chat(body["messages"].as_array().unwrap(), "tool_name"),
    }
}

fn ensure(is_fine: bool, problem: &str) -> Result<(), String> {
    if is_fine { Ok(()) } else { Err(problem.to_owned()) }
}

fn ids<'a>(blocks: &'a [Value], kind: &str, member: &str) -> Vec<&'a str> {
    blocks
        .iter()
        .filter(|block| block["type"] == kind)
        .filter_map(|block| block[member].as_str())
        .collect()
}

fn check_anthropic(messages: &[Value]) -> Result<(), String> {
    let empty = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let mut all = std::collections::HashSet::new();
    for (place, message) in messages.iter().enumerate() {
        let role = if place % 2 == 0 { "user" } else { "assistant" };
        ensure(message["role"] == role, "roles alternate and begin with the user")?;
        let content = message["content"].as_array().unwrap_or(&empty);
        ensure(!content.is_empty(), "a message has content")?;
        let is_blank = |block: &Value| block["type"] == "text" && block["text"].as_str().unwrap().trim().is_empty();
        ensure(!content.iter().any(is_blank), "text is not blank")?;
        ensure(ids(content, "tool_result", "tool_use_id") == open, "every call has its result in the next message")?;
        let results = content.iter().take_while(|block| block["type"] == "tool_result").count();
        ensure(results == open.len(), "results come first")?;
        open = ids(content, "tool_use", "id");
        ensure(open.iter().all(|id| all.insert(*id)), "ids are unique")?;
    }
    ensure(open.is_empty(), "no call stays open")
}

fn check_responses(input: &[Value]) -> Result<(), String> {
    ensure(input[0]["role"] == "user", "the user begins")?;
    let mut open: Vec<&Value> = Vec::new();
    for item in input {
        match item["type"].as_str() {
            Some("function_call") => {
                ensure(!open.contains(&&item["call_id"]), "ids are unique")?;
                open.push(&item["call_id"]);
            }
            Some("function_call_output") => {
                let place = open.iter().position(|id| **id == item["call_id"]).ok_or("a result has its call")?;
                open.remove(place);
            }
            _ => ensure(open.is_empty() || item["role"] == "assistant", "results come before anything else")?,
        }
    }
    ensure(open.is_empty(), "no call stays open")
}

fn check_chat(messages: &[Value], id_member: &str) -> Result<(), String> {
    ensure(messages[0]["role"] == "user", "the user begins")?;
    let mut open: Vec<&Value> = Vec::new();
    for message in messages {
        if message["role"] == "tool" {
            ensure(!open.is_empty(), "a result has its call")?;
            let expected = open.remove(0);
            let is_named = id_member == "tool_name" || expected["id"] == message[id_member];
            ensure(is_named, "a result names its call")?;
            continue;
        }
        ensure(open.is_empty(), "results come right behind their calls")?;
        open = message["tool_calls"].as_array().map(|calls| calls.iter().collect()).unwrap_or_default();
    }
    ensure(open.is_empty(), "no call stays open")
}

fn check_gemini(contents: &[Value]) -> Result<(), String> {
    ensure(contents[0]["role"] == "user", "the user begins")?;
    let count = |content: &Value, member: &str| {
        content["parts"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|part| part.get(member).is_some())
            .count()
    };
    let mut open = 0;
    for content in contents {
        ensure(!content["parts"].as_array().unwrap().is_empty(), "a content has parts")?;
        ensure(count(content, "functionResponse") == open, "as many responses as calls, in the next content")?;
        open = count(content, "functionCall");
    }
    ensure(open == 0, "no call stays open")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn every_history_makes_a_request_that_every_provider_accepts(bodies in prop::collection::vec(any_body(), 1..24)) {
        let view = view(&entries(bodies));
        for model in [MODEL, "other"] {
            for wire in WireKind::ALL {
                if !view.awaits_model {
                    continue;
                }
                let request = request(view.items.clone(), model);
                let encoded = encode(wire, &request, &Quirks::default());
                let encoded = encoded.map_err(|error| TestCaseError::fail(format!("{wire}: {error}")))?;
                let body: Value = serde_json::from_slice(&encoded.body).unwrap();
                check(wire, &body).map_err(|problem| TestCaseError::fail(format!("{wire}: {problem} in {body}")))?;
            }
        }
    }

    #[test]
    fn a_longer_history_keeps_the_beginning_of_the_view(bodies in prop::collection::vec(any_body(), 2..16)) {
        let plain: Vec<TranscriptBody> =
            bodies.into_iter().filter(|body| !matches!(body, TranscriptBody::Compacted(_))).collect();
        let all = entries(plain);
        let (longer, shorter) = (view(&all), view(&all[..all.len().saturating_sub(1)]));
        // The newest items may still grow: results of open calls, and the message that waits behind them.
        let settled = shorter.items.len().saturating_sub(3);
        for (one, two) in shorter.items[..settled].iter().zip(&longer.items) {
            prop_assert_eq!(serde_json::to_string(one).unwrap(), serde_json::to_string(two).unwrap());
        }
    }
}

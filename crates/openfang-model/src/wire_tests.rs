//! The wires against bytes in the shapes that the providers document: what is read, what is sent, and what happens to
//! streams that are cut, split, broken or endless.

#[path = "wire_tests/cuts.rs"]
mod cuts;
#[path = "wire_tests/faults.rs"]
mod faults;
#[path = "wire_tests/replays.rs"]
mod replays;
#[path = "wire_tests/requests.rs"]
mod requests;
#[path = "wire_tests/samples.rs"]
mod samples;
#[path = "wire_tests/samples_openai.rs"]
mod samples_openai;
#[path = "wire_tests/samples_other.rs"]
mod samples_other;

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::{Encoded, WireFault, WireKind, encode};
use crate::answer::{Block, CallArguments, Delta, ModelAnswer, Stop};
use crate::endpoint::Quirks;
use crate::request::{Item, ModelRequest};
use crate::tools::{ToolSpec, Toolbox};
use samples::{Sample, samples};

/// A request with two tools, as every sample answers one.
fn request(wire: WireKind) -> ModelRequest {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } },
        "required": ["a", "b"],
    });
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: "Adds two numbers.".to_owned(),
        schema: schema.clone(),
    };
    let model = match wire {
        WireKind::Anthropic => "claude-sonnet-4-6",
        WireKind::Responses => "gpt-5.2",
        WireKind::Chat => "gpt-4.1",
        WireKind::Gemini => "gemini-3-pro",
        WireKind::Ollama => "qwen3:8b",
    };
    let mut request = ModelRequest::new(model, vec![Arc::new(Item::user("What is 3 + 7?"))]);
    request.tools = Arc::new(Toolbox::new(vec![tool("add_numbers"), tool("multiply")]));
    request.system = Arc::from("Be brief.");
    request
}

fn encoded(wire: WireKind) -> Encoded {
    encode(wire, &request(wire), &Quirks::default()).unwrap()
}

/// Reads bytes that come in these chunks.
fn read_chunks<'a>(wire: WireKind, chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<ModelAnswer, WireFault> {
    let mut reader = encoded(wire).reader(None);
    for chunk in chunks {
        // The same error comes again at the end.
        drop(reader.push(&Bytes::copy_from_slice(chunk), &mut |_| {}));
    }
    reader.finish(&mut |_| {})
}

fn read(wire: WireKind, bytes: &[u8]) -> Result<ModelAnswer, WireFault> {
    read_chunks(wire, [bytes])
}

/// What was told while bytes were read: the text, the thoughts, the calls with the bytes of their arguments.
fn told(wire: WireKind, bytes: &[u8]) -> (String, String, Vec<(String, usize)>) {
    let (mut text, mut thinking, mut calls) = (String::new(), String::new(), Vec::new());
    let mut reader = encoded(wire).reader(None);
    let mut listen = |delta: Delta<'_>| match delta {
        Delta::Text(more) => text.push_str(more),
        Delta::Thinking(more) => thinking.push_str(more),
        Delta::CallBegins { index, name } => {
            assert_eq!(index, calls.len(), "calls are told in order");
            calls.push((name.to_owned(), 0));
        }
        Delta::CallGrows { index, bytes } => calls[index].1 += bytes,
    };
    reader.push(&Bytes::copy_from_slice(bytes), &mut listen).unwrap();
    reader.finish(&mut listen).unwrap();
    (text, thinking, calls)
}

fn calls(answer: &ModelAnswer) -> Vec<(String, Value)> {
    let calls = crate::answer::calls(&answer.blocks);
    calls
        .map(|call| match &call.arguments {
            CallArguments::Object(object) => (call.name.clone(), serde_json::from_str(object.get()).unwrap()),
            CallArguments::Invalid { text, .. } => (call.name.clone(), json!({ "invalid": text })),
        })
        .collect()
}

fn thinking(answer: &ModelAnswer) -> String {
    let thoughts = answer.blocks.iter().filter_map(|block| match block {
        Block::Thinking { text } => Some(text.as_str()),
        Block::Text { .. } | Block::Call(_) => None,
    });
    thoughts.collect()
}

#[test]
fn every_documented_shape_is_read_as_what_it_means() {
    for Sample { name, wire, bytes, meaning } in samples() {
        let answer = read(wire, &bytes).unwrap_or_else(|fault| panic!("{wire} {name}: {fault}"));
        assert_eq!(answer.text(), meaning.text, "{wire} {name}");
        assert_eq!(thinking(&answer), meaning.thinking, "{wire} {name}");
        assert_eq!(calls(&answer), meaning.calls, "{wire} {name}");
        assert_eq!(answer.stop, meaning.stop, "{wire} {name}");
        assert_eq!(answer.usage, meaning.usage, "{wire} {name}");
        let runnable = answer.runnable_calls().count();
        let expected = if answer.stop == Stop::Calls { meaning.calls.len() } else { 0 };
        assert_eq!(runnable, expected, "{wire} {name}: calls run only after a whole answer that asks for them");
    }
}

#[test]
fn what_is_told_on_the_way_is_what_the_answer_says_at_the_end() {
    for Sample { name, wire, bytes, meaning } in samples() {
        let (text, thinking, calls) = told(wire, &bytes);
        assert_eq!(text, meaning.text, "{wire} {name}");
        assert_eq!(thinking, meaning.thinking, "{wire} {name}");
        let names: Vec<&str> = calls.iter().map(|(name, _)| name.as_str()).collect();
        let expected: Vec<&str> = meaning.calls.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, expected, "{wire} {name}");
    }
}

#[test]
fn every_wire_has_a_sample_of_every_kind() {
    for wire in WireKind::ALL {
        let names: Vec<&str> =
            samples().iter().filter(|sample| sample.wire == wire).map(|sample| sample.name).collect();
        for kind in samples::KINDS {
            assert!(names.contains(&kind), "{wire} has no sample `{kind}`, only {names:?}");
        }
    }
}

#[test]
fn calls_of_one_answer_always_have_ids_of_their_own() {
    for Sample { name, wire, bytes, .. } in samples() {
        let answer = read(wire, &bytes).unwrap();
        let mut ids: Vec<String> = crate::answer::calls(&answer.blocks).map(|call| call.id.clone()).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count, "{wire} {name}");
        assert!(ids.iter().all(|id| !id.is_empty()), "{wire} {name}");
    }
}

//! An answer of OpenAI Chat Completions or of a lookalike. Calls grow by index, usage comes behind the last choice, and
//! `[DONE]` ends the stream. Some servers leave `[DONE]` out: a finish reason and the end of the bytes are an end too.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::encode::assistant;
use crate::answer::{CallArguments, Delta, ModelAnswer, Stop};
use crate::frame::Frame;
use crate::json::{Object, array, count, or_default};
use crate::wire::assembly::{Assembly, CallSlot, parse, raw};
use crate::wire::openai::{InputDetails, OutputDetails, filtered};
use crate::wire::{Decoder, WireFault};

const END_MARK: &str = "[DONE]";
/// Members of a call that are known; the others are kept for the replay.
const KNOWN_IN_CALL: [&str; 4] = ["index", "id", "type", "function"];

pub(in crate::wire) struct ChatDecoder {
    assembly: Assembly,
    text: String,
    refusal: String,
    /// The reasoning, and the member it came in.
    reasoning: Option<(&'static str, String)>,
    reasoning_details: Vec<Box<RawValue>>,
    calls: Vec<OpenCall>,
    finish: Option<String>,
    is_complete: bool,
}

struct OpenCall {
    index: Option<u64>,
    slot: CallSlot,
    /// Members that this wire does not define, such as signatures.
    extra: Vec<(String, Value)>,
}

#[derive(Deserialize)]
struct Chunk<'a> {
    id: Option<String>,
    #[serde(default, borrow, deserialize_with = "or_default")]
    choices: Vec<Choice<'a>>,
    usage: Option<Tokens>,
    timings: Option<Timings>,
    error: Option<&'a RawValue>,
}

/// What servers of llama.cpp say about their cache.
#[derive(Deserialize)]
struct Timings {
    #[serde(default, deserialize_with = "count")]
    cache_n: Option<u64>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    delta: Option<ChoiceDelta<'a>>,
    /// The whole answer, from servers that do not stream.
    #[serde(borrow)]
    message: Option<ChoiceDelta<'a>>,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ChoiceDelta<'a> {
    #[serde(borrow)]
    content: Option<Content<'a>>,
    #[serde(borrow)]
    reasoning_content: Option<Cow<'a, str>>,
    #[serde(borrow)]
    reasoning: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "or_default")]
    reasoning_details: Vec<&'a RawValue>,
    refusal: Option<String>,
    #[serde(deserialize_with = "or_default")]
    tool_calls: Vec<serde_json::Map<String, Value>>,
}

/// Content is a string, or with some servers a list of parts.
struct Content<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let written = <&'de RawValue>::deserialize(from)?.get();
        if written.starts_with('"') {
            let text: String = serde_json::from_str(written).map_err(serde::de::Error::custom)?;
            return Ok(Self(Cow::Owned(text)));
        }
        let parts: Vec<Value> = serde_json::from_str(written).map_err(serde::de::Error::custom)?;
        let texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
        Ok(Self(Cow::Owned(texts.collect())))
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tokens {
    #[serde(deserialize_with = "count")]
    prompt_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    completion_tokens: Option<u64>,
    #[serde(deserialize_with = "or_default")]
    prompt_tokens_details: InputDetails,
    #[serde(deserialize_with = "or_default")]
    completion_tokens_details: OutputDetails,
    /// DeepSeek's name for cached tokens.
    #[serde(deserialize_with = "count")]
    prompt_cache_hit_tokens: Option<u64>,
}

impl ChatDecoder {
    pub(in crate::wire) fn new(assembly: Assembly) -> Self {
        Self {
            assembly,
            text: String::new(),
            refusal: String::new(),
            reasoning: None,
            reasoning_details: Vec::new(),
            calls: Vec::new(),
            finish: None,
            is_complete: false,
        }
    }

    fn delta(&mut self, delta: ChoiceDelta<'_>, told: &mut dyn FnMut(Delta<'_>)) -> Result<(), WireFault> {
        let reasoning = match (&delta.reasoning_content, &delta.reasoning) {
            (Some(text), _) if !text.is_empty() => Some(("reasoning_content", text)),
            (_, Some(text)) if !text.is_empty() => Some(("reasoning", text)),
            _ => None,
        };
        if let Some((member, text)) = reasoning {
            self.reasoning.get_or_insert_with(|| (member, String::new())).1.push_str(text);
            self.assembly.thinking(text, told)?;
        }
        if let Some(Content(text)) = &delta.content {
            self.text.push_str(text);
            self.assembly.text(text, told)?;
        }
        self.refusal.push_str(delta.refusal.as_deref().unwrap_or_default());
        self.reasoning_details.extend(delta.reasoning_details.into_iter().map(ToOwned::to_owned));
        for call in delta.tool_calls {
            self.call(call, told)?;
        }
        Ok(())
    }

    fn call(&mut self, call: serde_json::Map<String, Value>, told: &mut dyn FnMut(Delta<'_>)) -> Result<(), WireFault> {
        let index = call.get("index").and_then(Value::as_u64);
        let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
        let function = |name: &str| call.get("function").and_then(|function| function.get(name));
        let name = function("name").and_then(Value::as_str).unwrap_or_default();
        let arguments = match function("arguments") {
            Some(Value::String(text)) => text.clone(),
            // Some servers write the object itself.
            Some(Value::Object(object)) => Value::Object(object.clone()).to_string(),
            _ => String::new(),
        };
        let known = self.calls.iter().rposition(|open| match index {
            Some(_) => open.index == index,
            None => true,
        });
        // Some servers give every call the index 0 and an id of its own.
        let known = known.filter(|at| {
            let own = self.assembly.id_of(self.calls[*at].slot);
            id.is_empty() || own.is_empty() || own == id
        });
        let at = match known {
            Some(at) => at,
            None => {
                let slot = self.assembly.begin_call(id, name, told)?;
                self.calls.push(OpenCall { index, slot, extra: Vec::new() });
                self.calls.len() - 1
            }
        };
        let is_new = known.is_none();
        let slot = self.calls[at].slot;
        if !is_new && id.is_empty() {
            self.assembly.name_call(slot, name);
        }
        self.assembly.grow_call(slot, &arguments, told);
        let extra = call.into_iter().filter(|(key, _)| !KNOWN_IN_CALL.contains(&key.as_str()));
        self.calls[at].extra.extend(extra);
        Ok(())
    }

    fn add_tokens(&mut self, tokens: &Tokens) {
        let usage = &mut self.assembly.usage;
        usage.input = tokens.prompt_tokens.or(usage.input);
        let cached = tokens.prompt_tokens_details.cached_tokens.or(tokens.prompt_cache_hit_tokens);
        usage.cached = cached.or(usage.cached);
        usage.cache_written = tokens.prompt_tokens_details.cache_write_tokens.or(usage.cache_written);
        usage.output = tokens.completion_tokens.or(usage.output);
        usage.reasoning = tokens.completion_tokens_details.reasoning_tokens.or(usage.reasoning);
    }

    /// The message as it can be sent back. Reasoning goes back only with calls, and in the member it came in: whoever
    /// sent it there reads it there.
    fn native(&self) -> Option<String> {
        if self.text.is_empty() && self.calls.is_empty() {
            return None;
        }
        let calls: Vec<String> = self
            .assembly
            .drafts()
            .zip(&self.calls)
            .map(|((id, name, arguments), open)| {
                let arguments = CallArguments::parse(arguments);
                let function = Object::new().text("name", name).text("arguments", arguments.as_json()).end();
                let call = Object::new().text("id", id).text("type", "function").raw("function", &function);
                let with_extra = |call: Object, (key, value): &(String, Value)| call.raw(key, &value.to_string());
                open.extra.iter().fold(call, with_extra).end()
            })
            .collect();
        let mut message = assistant(&self.text, &calls);
        if !calls.is_empty() {
            message = message.with(self.reasoning.as_ref(), |message, (member, text)| message.text(member, text));
            if !self.reasoning_details.is_empty() {
                let details = array(self.reasoning_details.iter().map(|detail| detail.get()));
                message = message.raw("reasoning_details", &details);
            }
        }
        Some(message.end())
    }
}

impl Decoder for ChatDecoder {
    fn take(&mut self, frame: Frame<'_>, told: &mut dyn FnMut(Delta<'_>)) -> Result<(), WireFault> {
        if frame.data.trim() == END_MARK {
            self.is_complete = true;
            return Ok(());
        }
        let chunk: Chunk<'_> = parse(frame.data)?;
        if chunk.error.is_some_and(|error| error.get() != "null") {
            return Err(WireFault::refused(frame.data));
        }
        self.assembly.request_id = chunk.id.or(self.assembly.request_id.take());
        if let Some(tokens) = &chunk.usage {
            self.add_tokens(tokens);
        }
        let cached = chunk.timings.and_then(|timings| timings.cache_n);
        self.assembly.usage.cached = self.assembly.usage.cached.or(cached);
        for choice in chunk.choices.into_iter().filter(|choice| choice.index == 0) {
            if let Some(delta) = choice.delta.or(choice.message) {
                self.delta(delta, told)?;
            }
            self.finish = choice.finish_reason.or(self.finish.take());
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }

    fn end(mut self: Box<Self>) -> Result<ModelAnswer, WireFault> {
        let Some(finish) = self.finish.take() else { return Err(WireFault::Cut) };
        self.assembly.stop = Some(match finish.as_str() {
            _ if !self.refusal.is_empty() => Stop::Refused(std::mem::take(&mut self.refusal)),
            "stop" | "eos" | "end_turn" => Stop::Finished,
            "tool_calls" | "function_call" => Stop::Calls,
            "length" | "max_tokens" => Stop::Length,
            "content_filter" => filtered(),
            other => Stop::Other(other.to_owned()),
        });
        // A call without an id gets one now, so that the replay and the result name the same.
        self.assembly.name_ids();
        if let Some(message) = self.native() {
            self.assembly.keep(raw(message)?)?;
        }
        self.assembly.finish()
    }
}

//! An answer of Anthropic Messages: blocks that begin, grow and end, then a reason, then `message_stop`.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::answer::{CallArguments, Delta, ModelAnswer, Stop};
use crate::frame::Frame;
use crate::json::{count, or_default, with_member};
use crate::wire::assembly::{Assembly, CallSlot, parse, raw};
use crate::wire::{Decoder, WireFault};

pub(in crate::wire) struct AnthropicDecoder {
    assembly: Assembly,
    open: Vec<OpenBlock>,
    tokens: Tokens,
    is_complete: bool,
}

/// A block that has not ended.
struct OpenBlock {
    index: u64,
    members: Map<String, Value>,
    /// What was added to the member that grows.
    grown: String,
    call: Option<CallSlot>,
}

/// The parts of the usage. The input comes in three numbers that exclude each other.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Tokens {
    #[serde(deserialize_with = "count")]
    input_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    cache_creation_input_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    cache_read_input_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    output_tokens: Option<u64>,
    #[serde(deserialize_with = "or_default")]
    output_tokens_details: OutputDetails,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    #[serde(deserialize_with = "count")]
    thinking_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    index: u64,
    message: Option<Message>,
    content_block: Option<Map<String, Value>>,
    delta: Option<EventDelta>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Message {
    id: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    usage: Tokens,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct EventDelta {
    #[serde(rename = "type", deserialize_with = "or_default")]
    kind: String,
    #[serde(deserialize_with = "or_default")]
    text: String,
    #[serde(deserialize_with = "or_default")]
    thinking: String,
    #[serde(deserialize_with = "or_default")]
    signature: String,
    #[serde(deserialize_with = "or_default")]
    partial_json: String,
    citation: Option<Value>,
    stop_reason: Option<String>,
    stop_details: Option<StopDetails>,
}

#[derive(Deserialize)]
struct StopDetails {
    category: Option<String>,
    explanation: Option<String>,
}

impl AnthropicDecoder {
    pub(in crate::wire) fn new(assembly: Assembly) -> Self {
        Self { assembly, open: Vec::new(), tokens: Tokens::default(), is_complete: false }
    }

    fn begin(&mut self, event: Event, told: &mut dyn FnMut(Delta<'_>)) -> Result<(), WireFault> {
        let Some(mut members) = event.content_block else {
            return Err(WireFault::malformed("content_block_start without content_block"));
        };
        let member = |name: &str| members.get(name).and_then(Value::as_str).unwrap_or_default();
        let kind = member("type").to_owned();
        let mut call = None;
        let mut grown = String::new();
        match kind.as_str() {
            "text" => {
                grown = member("text").to_owned();
                self.assembly.text(&grown, told)?;
            }
            "thinking" => {
                grown = member("thinking").to_owned();
                self.assembly.thinking(&grown, told)?;
            }
            "tool_use" => {
                let slot = self.assembly.begin_call(member("id"), member("name"), told)?;
                // A whole input may stand here already; usually it is empty and grows.
                if let Some(Value::Object(input)) =
                    members.remove("input").filter(|input| *input != Value::Object(Map::new()))
                {
                    grown = Value::Object(input).to_string();
                    self.assembly.grow_call(slot, &grown, told);
                }
                call = Some(slot);
            }
            _ => {}
        }
        self.open.push(OpenBlock { index: event.index, members, grown, call });
        Ok(())
    }

    fn grow(&mut self, event: Event, told: &mut dyn FnMut(Delta<'_>)) -> Result<(), WireFault> {
        let delta = event.delta.unwrap_or_default();
        let Some(block) = self.open.iter_mut().rfind(|block| block.index == event.index) else {
            return Err(WireFault::malformed("a delta for a block that did not begin"));
        };
        match delta.kind.as_str() {
            "text_delta" => {
                block.grown.push_str(&delta.text);
                self.assembly.text(&delta.text, told)?;
            }
            "thinking_delta" => {
                block.grown.push_str(&delta.thinking);
                self.assembly.thinking(&delta.thinking, told)?;
            }
            "signature_delta" => {
                let signature = block.members.get("signature").and_then(Value::as_str).unwrap_or_default();
                let signature = format!("{signature}{}", delta.signature);
                block.members.insert("signature".to_owned(), Value::String(signature));
            }
            "input_json_delta" => {
                block.grown.push_str(&delta.partial_json);
                if let Some(slot) = block.call {
                    self.assembly.grow_call(slot, &delta.partial_json, told);
                }
            }
            "citations_delta" => {
                let citations = block.members.entry("citations").or_insert_with(|| Value::Array(Vec::new()));
                match citations {
                    Value::Array(citations) => citations.extend(delta.citation),
                    other => *other = Value::Array(delta.citation.into_iter().collect()),
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Keeps a block as it can be sent back.
    fn close(&mut self, block: OpenBlock) -> Result<(), WireFault> {
        let OpenBlock { mut members, grown, .. } = block;
        let kind = members.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let item = match kind.as_str() {
            "text" if grown.trim().is_empty() => return Ok(()),
            "text" | "thinking" => {
                // Without its signature a thought is rejected.
                let is_signed = members.get("signature").and_then(Value::as_str).is_some_and(|text| !text.is_empty());
                if kind == "thinking" && !is_signed {
                    return Ok(());
                }
                members.insert(kind, Value::String(grown));
                Value::Object(members).to_string()
            }
            "tool_use" | "server_tool_use" => {
                let input = CallArguments::parse(&grown);
                members.remove("input");
                with_member(&Value::Object(members).to_string(), "input", input.as_json())
            }
            _ => Value::Object(members).to_string(),
        };
        self.assembly.keep(raw(item)?)
    }

    fn add_tokens(&mut self, more: Tokens) {
        let known = &mut self.tokens;
        known.input_tokens = more.input_tokens.or(known.input_tokens);
        known.cache_creation_input_tokens = more.cache_creation_input_tokens.or(known.cache_creation_input_tokens);
        known.cache_read_input_tokens = more.cache_read_input_tokens.or(known.cache_read_input_tokens);
        known.output_tokens = more.output_tokens.or(known.output_tokens);
        let details = more.output_tokens_details.thinking_tokens;
        known.output_tokens_details.thinking_tokens = details.or(known.output_tokens_details.thinking_tokens);
    }

    fn stopped(&mut self, event: Event) {
        let delta = event.delta.unwrap_or_default();
        if let Some(reason) = &delta.stop_reason {
            self.assembly.stop = Some(stop(reason, delta.stop_details));
        }
        self.add_tokens(event.usage.unwrap_or_default());
    }
}

impl Decoder for AnthropicDecoder {
    fn take(&mut self, frame: Frame<'_>, told: &mut dyn FnMut(Delta<'_>)) -> Result<(), WireFault> {
        let event: Event = parse(frame.data)?;
        match event.kind.as_str() {
            "message_start" => {
                if let Some(message) = event.message {
                    self.assembly.request_id = message.id;
                    self.add_tokens(message.usage);
                }
            }
            "content_block_start" => self.begin(event, told)?,
            "content_block_delta" => self.grow(event, told)?,
            "content_block_stop" => {
                if let Some(place) = self.open.iter().rposition(|block| block.index == event.index) {
                    let block = self.open.remove(place);
                    self.close(block)?;
                }
            }
            "message_delta" => self.stopped(event),
            "message_stop" => self.is_complete = true,
            "error" => return Err(WireFault::refused(frame.data)),
            // `ping`, and what is not known yet.
            _ => {}
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }

    fn end(mut self: Box<Self>) -> Result<ModelAnswer, WireFault> {
        if !self.is_complete {
            return Err(WireFault::Cut);
        }
        for block in std::mem::take(&mut self.open) {
            self.close(block)?;
        }
        let tokens = self.tokens;
        let usage = &mut self.assembly.usage;
        usage.cached = tokens.cache_read_input_tokens;
        usage.cache_written = tokens.cache_creation_input_tokens;
        usage.input = tokens.input_tokens.map(|fresh| {
            let cached = usage.cached.unwrap_or(0).saturating_add(usage.cache_written.unwrap_or(0));
            fresh.saturating_add(cached)
        });
        usage.output = tokens.output_tokens;
        usage.reasoning = tokens.output_tokens_details.thinking_tokens;
        self.assembly.finish()
    }
}

fn stop(reason: &str, details: Option<StopDetails>) -> Stop {
    match reason {
        "end_turn" | "stop_sequence" => Stop::Finished,
        "tool_use" => Stop::Calls,
        "max_tokens" => Stop::Length,
        "model_context_window_exceeded" => Stop::ContextFull,
        "pause_turn" => Stop::Paused,
        "refusal" => {
            let words = details.and_then(|details| details.explanation.or(details.category));
            Stop::Refused(words.unwrap_or_else(|| "the model declined to answer".to_owned()))
        }
        other => Stop::Other(other.to_owned()),
    }
}

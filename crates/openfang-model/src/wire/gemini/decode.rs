//! An answer of Gemini: every event is a piece of the answer, and the last one has a finish reason. Parts with a
//! signature, and calls, are kept exactly as they came; a later request without them is rejected.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::answer::{Delta, ModelAnswer, Stop};
use crate::frame::Frame;
use crate::json::{Object, count, or_default};
use crate::wire::assembly::{Assembly, parse, raw};
use crate::wire::{Decoder, WireFault};

pub(in crate::wire) struct GeminiDecoder {
    assembly: Assembly,
    /// Plain text that becomes one part of the replay.
    open_text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(default, borrow, deserialize_with = "or_default")]
    candidates: Vec<Candidate<'a>>,
    prompt_feedback: Option<PromptFeedback>,
    usage_metadata: Option<Tokens>,
    response_id: Option<String>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(default)]
    index: u64,
    #[serde(default, borrow, deserialize_with = "or_default")]
    content: Content<'a>,
    finish_reason: Option<String>,
    finish_message: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Content<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    parts: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    text: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    thought: bool,
    thought_signature: Option<String>,
    #[serde(borrow)]
    function_call: Option<FunctionCall<'a>>,
}

#[derive(Deserialize)]
struct FunctionCall<'a> {
    #[serde(default, deserialize_with = "or_default")]
    id: String,
    #[serde(default, deserialize_with = "or_default")]
    name: String,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PromptFeedback {
    block_reason: Option<String>,
    block_reason_message: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Tokens {
    #[serde(deserialize_with = "count")]
    prompt_token_count: Option<u64>,
    #[serde(deserialize_with = "count")]
    cached_content_token_count: Option<u64>,
    #[serde(deserialize_with = "count")]
    candidates_token_count: Option<u64>,
    #[serde(deserialize_with = "count")]
    thoughts_token_count: Option<u64>,
    #[serde(deserialize_with = "count")]
    tool_use_prompt_token_count: Option<u64>,
}

impl GeminiDecoder {
    pub(in crate::wire) fn new(assembly: Assembly) -> Self {
        Self { assembly, open_text: String::new() }
    }

    fn part(&mut self, written: &RawValue, told: &mut dyn FnMut(Delta<'_>)) -> Result<(), WireFault> {
        let part: Part<'_> = parse(written.get())?;
        let is_signed = part.thought_signature.is_some();
        match (&part.text, part.function_call) {
            (_, Some(call)) => {
                self.close_text()?;
                let slot = self.assembly.begin_call(&call.id, &call.name, told)?;
                let arguments = call.args.map_or("{}", RawValue::get);
                self.assembly.grow_call(slot, if arguments == "null" { "{}" } else { arguments }, told);
                self.assembly.keep(written.to_owned())
            }
            (Some(text), None) if part.thought => {
                self.assembly.thinking(text, told)?;
                if is_signed { self.keep(written) } else { Ok(()) }
            }
            (Some(text), None) => {
                self.assembly.text(text, told)?;
                if is_signed {
                    return self.keep(written);
                }
                self.open_text.push_str(text);
                Ok(())
            }
            // Kept and replayed without being understood.
            (None, None) => self.keep(written),
        }
    }

    fn keep(&mut self, written: &RawValue) -> Result<(), WireFault> {
        self.close_text()?;
        self.assembly.keep(written.to_owned())
    }

    fn close_text(&mut self) -> Result<(), WireFault> {
        let text = std::mem::take(&mut self.open_text);
        if text.is_empty() { Ok(()) } else { self.assembly.keep(raw(Object::new().text("text", &text).end())?) }
    }

    fn add_tokens(&mut self, tokens: &Tokens) {
        let sum = |one: Option<u64>, two: Option<u64>| match (one, two) {
            (None, None) => None,
            (one, two) => Some(one.unwrap_or(0).saturating_add(two.unwrap_or(0))),
        };
        let usage = &mut self.assembly.usage;
        usage.input = sum(tokens.prompt_token_count, tokens.tool_use_prompt_token_count).or(usage.input);
        usage.cached = tokens.cached_content_token_count.or(usage.cached);
        usage.output = sum(tokens.candidates_token_count, tokens.thoughts_token_count).or(usage.output);
        usage.reasoning = tokens.thoughts_token_count.or(usage.reasoning);
    }
}

impl Decoder for GeminiDecoder {
    fn take(&mut self, frame: Frame<'_>, told: &mut dyn FnMut(Delta<'_>)) -> Result<(), WireFault> {
        let chunk: Chunk<'_> = parse(frame.data)?;
        if chunk.error.is_some() {
            return Err(WireFault::refused(frame.data));
        }
        self.assembly.request_id = chunk.response_id.or(self.assembly.request_id.take());
        if let Some(tokens) = &chunk.usage_metadata {
            self.add_tokens(tokens);
        }
        if let Some(PromptFeedback { block_reason: Some(reason), block_reason_message }) = chunk.prompt_feedback {
            self.assembly.stop = Some(Stop::Filtered(block_reason_message.unwrap_or(reason)));
        }
        for candidate in chunk.candidates.into_iter().filter(|candidate| candidate.index == 0) {
            for part in candidate.content.parts {
                self.part(part, told)?;
            }
            if let Some(reason) = candidate.finish_reason {
                self.assembly.stop = Some(stop(reason, candidate.finish_message));
            }
        }
        Ok(())
    }

    /// There is no mark behind the last event: the end of the bytes is the end.
    fn is_complete(&self) -> bool {
        false
    }

    fn end(mut self: Box<Self>) -> Result<ModelAnswer, WireFault> {
        self.close_text()?;
        self.assembly.finish()
    }
}

fn stop(reason: String, message: Option<String>) -> Stop {
    match reason.as_str() {
        "STOP" => Stop::Finished,
        "MAX_TOKENS" => Stop::Length,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "MODEL_ARMOR" => Stop::Filtered(message.unwrap_or(reason)),
        _ => Stop::Other(reason),
    }
}

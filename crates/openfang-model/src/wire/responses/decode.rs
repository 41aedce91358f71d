//! An answer of OpenAI Responses. An item is whole when `response.output_item.done` brings it; only whole items count.
//! `response.completed` or `response.incomplete` ends the stream.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::answer::{Delta, ModelAnswer, Stop, Usage};
use crate::frame::Frame;
use crate::json::{count, or_default};
use crate::wire::assembly::{Assembly, parse};
use crate::wire::openai::{InputDetails, OutputDetails, filtered};
use crate::wire::{Decoder, WireFault};

pub(in crate::wire) struct ResponsesDecoder {
    assembly: Assembly,
    /// Calls that were announced: their item id and place.
    announced: Vec<(String, usize)>,
    refusal: Option<String>,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: Cow<'a, str>,
    #[serde(default)]
    item_id: Option<Cow<'a, str>>,
    /// A text in the deltas that are known, and anything else in others.
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct OutputItem<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    call_id: String,
    #[serde(default, deserialize_with = "or_default")]
    name: String,
    #[serde(default, deserialize_with = "or_default")]
    arguments: String,
    #[serde(default, deserialize_with = "or_default")]
    content: Vec<ContentPart>,
    #[serde(default, deserialize_with = "or_default")]
    summary: Vec<ContentPart>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ContentPart {
    #[serde(rename = "type", deserialize_with = "or_default")]
    kind: String,
    #[serde(deserialize_with = "or_default")]
    text: String,
    #[serde(deserialize_with = "or_default")]
    refusal: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Response<'a> {
    id: Option<String>,
    #[serde(borrow, deserialize_with = "or_default")]
    output: Vec<&'a RawValue>,
    #[serde(deserialize_with = "or_default")]
    incomplete_details: IncompleteDetails,
    #[serde(deserialize_with = "or_default")]
    usage: Tokens,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct IncompleteDetails {
    #[serde(deserialize_with = "or_default")]
    reason: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tokens {
    #[serde(deserialize_with = "count")]
    input_tokens: Option<u64>,
    #[serde(deserialize_with = "or_default")]
    input_tokens_details: InputDetails,
    #[serde(deserialize_with = "count")]
    output_tokens: Option<u64>,
    #[serde(deserialize_with = "or_default")]
    output_tokens_details: OutputDetails,
}

impl ResponsesDecoder {
    pub(in crate::wire) fn new(assembly: Assembly) -> Self {
        Self { assembly, announced: Vec::new(), refusal: None }
    }

    /// Tells about a call that begins. It becomes part of the answer when its item is whole.
    fn announce(&mut self, item: &RawValue, told: &mut dyn FnMut(Delta<'_>)) -> Result<(), WireFault> {
        let item: OutputItem<'_> = parse(item.get())?;
        if item.kind == "function_call" {
            let index = self.announced.len();
            if index == openfang_types::limits::MODEL_CALLS_MAX {
                return Err(WireFault::TooManyCalls);
            }
            let name = self.assembly.original_name(&item.name).to_owned();
            self.announced.push((item.id.unwrap_or_default(), index));
            told(Delta::CallBegins { index, name: &name });
        }
        Ok(())
    }

    /// Takes a whole item into the answer. Its text was told already.
    fn item(&mut self, written: &RawValue) -> Result<(), WireFault> {
        let item: OutputItem<'_> = parse(written.get())?;
        let silent = &mut |_: Delta<'_>| {};
        match &*item.kind {
            "message" => {
                for part in item.content {
                    match part.kind.as_str() {
                        "refusal" => self.refusal.get_or_insert_default().push_str(&part.refusal),
                        _ => self.assembly.text(&part.text, silent)?,
                    }
                }
            }
            "reasoning" => {
                let shown = if item.summary.is_empty() { item.content } else { item.summary };
                for part in shown {
                    self.assembly.thinking(&part.text, silent)?;
                }
            }
            "function_call" => {
                let slot = self.assembly.begin_call(&item.call_id, &item.name, silent)?;
                self.assembly.grow_call(slot, &item.arguments, silent);
            }
            // Kept and replayed without being understood.
            _ => {}
        }
        self.assembly.keep(written.to_owned())
    }

    fn delta(&mut self, event: &Event<'_>, told: &mut dyn FnMut(Delta<'_>)) -> Result<(), WireFault> {
        let Some(written) = event.delta else { return Ok(()) };
        let Ok(text) = serde_json::from_str::<String>(written.get()) else { return Ok(()) };
        match &*event.kind {
            "response.output_text.delta" => told(Delta::Text(&text)),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => told(Delta::Thinking(&text)),
            "response.function_call_arguments.delta" => {
                let item = event.item_id.as_deref().unwrap_or_default();
                let known = self.announced.iter().rfind(|(id, _)| id == item).or(self.announced.last());
                if let Some((_, index)) = known {
                    told(Delta::CallGrows { index: *index, bytes: text.len() });
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn ended(&mut self, written: &RawValue, is_whole: bool) -> Result<(), WireFault> {
        let response: Response<'_> = parse(written.get())?;
        // Items usually came one by one; this is the same list once more.
        if self.assembly.is_empty() {
            for item in &response.output {
                self.item(item)?;
            }
        }
        let tokens = response.usage;
        self.assembly.request_id = response.id.or(self.assembly.request_id.take());
        self.assembly.usage = Usage {
            input: tokens.input_tokens,
            cached: tokens.input_tokens_details.cached_tokens,
            cache_written: tokens.input_tokens_details.cache_write_tokens,
            output: tokens.output_tokens,
            reasoning: tokens.output_tokens_details.reasoning_tokens,
        };
        self.assembly.stop = Some(match (self.refusal.take(), is_whole) {
            (Some(words), _) => Stop::Refused(words),
            (None, true) => Stop::Finished,
            (None, false) => incomplete(response.incomplete_details.reason),
        });
        Ok(())
    }
}

fn incomplete(reason: String) -> Stop {
    match reason.as_str() {
        "max_output_tokens" => Stop::Length,
        "content_filter" => filtered(),
        _ => Stop::Other(reason),
    }
}

impl Decoder for ResponsesDecoder {
    fn take(&mut self, frame: Frame<'_>, told: &mut dyn FnMut(Delta<'_>)) -> Result<(), WireFault> {
        if frame.data.trim() == "[DONE]" {
            return Ok(());
        }
        let event: Event<'_> = parse(frame.data)?;
        match (&*event.kind, event.item, event.response) {
            ("response.output_item.added", Some(item), _) => self.announce(item, told)?,
            ("response.output_item.done", Some(item), _) => self.item(item)?,
            ("response.completed", _, Some(response)) => self.ended(response, true)?,
            ("response.incomplete", _, Some(response)) => self.ended(response, false)?,
            ("response.failed", _, Some(response)) => {
                return Err(WireFault::refused(response.get()));
            }
            ("error", ..) => return Err(WireFault::refused(frame.data)),
            _ => self.delta(&event, told)?,
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.assembly.stop.is_some()
    }

    fn end(self: Box<Self>) -> Result<ModelAnswer, WireFault> {
        self.assembly.finish()
    }
}

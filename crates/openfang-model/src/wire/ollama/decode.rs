//! An answer of Ollama: lines of JSON, the last one with `done: true`.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::answer::{Delta, ModelAnswer, Stop};
use crate::frame::Frame;
use crate::json::{count, or_default};
use crate::wire::assembly::{Assembly, parse};
use crate::wire::{Decoder, WireFault};

/// Below this many tokens an estimate says little.
const ESTIMATE_FLOOR: u64 = 2_048;
/// A server that read so many times less than was sent has cut the prompt.
const CUT_FACTOR: u64 = 3;

pub(in crate::wire) struct OllamaDecoder {
    assembly: Assembly,
    estimated: u64,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    message: Option<Message<'a>>,
    #[serde(default)]
    done: bool,
    done_reason: Option<String>,
    #[serde(default, deserialize_with = "count")]
    prompt_eval_count: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    eval_count: Option<u64>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(default, deserialize_with = "or_default")]
    content: String,
    #[serde(default, deserialize_with = "or_default")]
    thinking: String,
    #[serde(default, borrow, deserialize_with = "or_default")]
    tool_calls: Vec<ToolCall<'a>>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(default, deserialize_with = "or_default")]
    id: String,
    #[serde(borrow)]
    function: Function<'a>,
}

#[derive(Deserialize)]
struct Function<'a> {
    name: String,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

impl OllamaDecoder {
    pub(in crate::wire) fn new(assembly: Assembly, estimated: u64) -> Self {
        Self { assembly, estimated }
    }

    /// The server cuts a prompt that does not fit without a word; the count of what it read betrays it.
    fn check_context(&self, read: Option<u64>) -> Result<(), WireFault> {
        match read {
            Some(read) if self.estimated > ESTIMATE_FLOOR && self.estimated > read.saturating_mul(CUT_FACTOR) => {
                Err(WireFault::ContextCut { sent: self.estimated, read })
            }
            _ => Ok(()),
        }
    }
}

impl Decoder for OllamaDecoder {
    fn take(&mut self, frame: Frame<'_>, told: &mut dyn FnMut(Delta<'_>)) -> Result<(), WireFault> {
        let line: Line<'_> = parse(frame.data)?;
        if line.error.is_some() {
            return Err(WireFault::refused(frame.data));
        }
        if let Some(message) = line.message {
            self.assembly.thinking(&message.thinking, told)?;
            self.assembly.text(&message.content, told)?;
            for call in message.tool_calls {
                let slot = self.assembly.begin_call(&call.id, &call.function.name, told)?;
                self.assembly.grow_call(slot, call.function.arguments.map_or("{}", RawValue::get), told);
            }
        }
        if line.done {
            self.check_context(line.prompt_eval_count)?;
            self.assembly.usage.input = line.prompt_eval_count;
            self.assembly.usage.output = line.eval_count;
            self.assembly.stop = Some(match line.done_reason.as_deref() {
                None | Some("stop") => Stop::Finished,
                Some("length") => Stop::Length,
                Some(other) => Stop::Other(other.to_owned()),
            });
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

//! An answer that is being put together. All decoders fill one, and its limits hold for all of them.

use std::collections::HashSet;
use std::sync::Arc;

use openfang_types::limits::{MODEL_BLOCKS_MAX, MODEL_CALLS_MAX};
use openfang_types::scan::scan_text;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{WireFault, WireKind};
use crate::answer::{Block, Call, CallArguments, Delta, ModelAnswer, NativeItems, Stop, Usage};
use crate::tools::Toolbox;

pub(super) struct Assembly {
    wire: WireKind,
    model: String,
    tools: Arc<Toolbox>,
    blocks: Vec<Draft>,
    calls: usize,
    native: Vec<Box<RawValue>>,
    pub(super) usage: Usage,
    pub(super) request_id: Option<String>,
    /// Why the model stopped. Without it, the answer is not whole.
    pub(super) stop: Option<Stop>,
}

enum Draft {
    Text(String),
    Thinking(String),
    Call(CallDraft),
}

struct CallDraft {
    id: String,
    /// The name at the provider.
    name: String,
    arguments: String,
}

/// A call of an [`Assembly`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CallSlot {
    block: usize,
    index: usize,
}

impl Assembly {
    pub(super) fn new(wire: WireKind, model: &str, tools: Arc<Toolbox>) -> Self {
        Self {
            wire,
            model: model.to_owned(),
            tools,
            blocks: Vec::new(),
            calls: 0,
            native: Vec::new(),
            usage: Usage::default(),
            request_id: None,
            stop: None,
        }
    }

    /// Adds text to the current block of text, or begins one.
    pub(super) fn text(&mut self, text: &str, told: &mut dyn FnMut(Delta<'_>)) -> Result<(), WireFault> {
        if text.is_empty() {
            return Ok(());
        }
        told(Delta::Text(text));
        match self.blocks.last_mut() {
            Some(Draft::Text(open)) => open.push_str(text),
            _ => self.push(Draft::Text(text.to_owned()))?,
        }
        Ok(())
    }

    /// Adds to the current thought, or begins one.
    pub(super) fn thinking(&mut self, text: &str, told: &mut dyn FnMut(Delta<'_>)) -> Result<(), WireFault> {
        if text.is_empty() {
            return Ok(());
        }
        told(Delta::Thinking(text));
        match self.blocks.last_mut() {
            Some(Draft::Thinking(open)) => open.push_str(text),
            _ => self.push(Draft::Thinking(text.to_owned()))?,
        }
        Ok(())
    }

    pub(super) fn begin_call(
        &mut self,
        id: &str,
        name: &str,
        told: &mut dyn FnMut(Delta<'_>),
    ) -> Result<CallSlot, WireFault> {
        if self.calls == MODEL_CALLS_MAX {
            return Err(WireFault::TooManyCalls);
        }
        let slot = CallSlot { block: self.blocks.len(), index: self.calls };
        told(Delta::CallBegins { index: slot.index, name: self.original_name(name) });
        self.push(Draft::Call(CallDraft { id: id.to_owned(), name: name.to_owned(), arguments: String::new() }))?;
        self.calls += 1;
        Ok(slot)
    }

    pub(super) fn grow_call(&mut self, slot: CallSlot, arguments: &str, told: &mut dyn FnMut(Delta<'_>)) {
        if let Some(Draft::Call(call)) = self.blocks.get_mut(slot.block)
            && !arguments.is_empty()
        {
            call.arguments.push_str(arguments);
            told(Delta::CallGrows { index: slot.index, bytes: arguments.len() });
        }
    }

    /// Names a call whose name comes in pieces or late.
    pub(super) fn name_call(&mut self, slot: CallSlot, more: &str) {
        if let Some(Draft::Call(call)) = self.blocks.get_mut(slot.block) {
            call.name.push_str(more);
        }
    }

    pub(super) fn id_of(&self, slot: CallSlot) -> &str {
        match self.blocks.get(slot.block) {
            Some(Draft::Call(call)) => &call.id,
            _ => "",
        }
    }

    /// The id, the name at the provider, and the arguments of every call so far.
    pub(super) fn drafts(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.blocks.iter().filter_map(|block| match block {
            Draft::Call(call) => Some((call.id.as_str(), call.name.as_str(), call.arguments.as_str())),
            Draft::Text(_) | Draft::Thinking(_) => None,
        })
    }

    /// Gives an id to every call that has none, or one that another call has.
    pub(super) fn name_ids(&mut self) {
        let answer = self.request_id.clone().unwrap_or_default();
        let mut used = HashSet::new();
        for (place, draft) in self.blocks.iter_mut().enumerate() {
            if let Draft::Call(call) = draft
                && (call.id.is_empty() || !used.insert(call.id.clone()))
            {
                call.id = format!("call_{answer}_{place}");
                used.insert(call.id.clone());
            }
        }
    }

    /// The real name of a tool that the model named.
    pub(super) fn original_name<'a>(&'a self, wire_name: &'a str) -> &'a str {
        self.tools.advertised(self.wire).original_name(wire_name)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.native.is_empty()
    }

    /// Keeps an item as the provider wrote it.
    pub(super) fn keep(&mut self, item: Box<RawValue>) -> Result<(), WireFault> {
        if self.native.len() == MODEL_BLOCKS_MAX {
            return Err(WireFault::TooManyBlocks { limit: MODEL_BLOCKS_MAX });
        }
        self.native.push(item);
        Ok(())
    }

    /// The whole answer, if the model has stopped. A model that finished while its calls wait has stopped for its calls.
    pub(super) fn finish(mut self) -> Result<ModelAnswer, WireFault> {
        self.name_ids();
        let stop = match self.stop.ok_or(WireFault::Cut)? {
            Stop::Finished | Stop::Calls if self.calls > 0 => Stop::Calls,
            Stop::Calls => Stop::Finished,
            other => other,
        };
        let tools = Arc::clone(&self.tools);
        let advertised = tools.advertised(self.wire);
        let blocks = self.blocks.into_iter().map(|draft| match draft {
            Draft::Text(text) => Block::Text { text },
            Draft::Thinking(text) => Block::Thinking { text },
            Draft::Call(CallDraft { id, name, arguments }) => {
                let arguments = advertised.restored(&name, CallArguments::parse(&arguments));
                Block::Call(Call { id, name: advertised.original_name(&name).to_owned(), arguments })
            }
        });
        Ok(ModelAnswer {
            blocks: blocks.collect(),
            native: NativeItems { wire: self.wire, model: self.model, items: self.native },
            stop,
            usage: self.usage.plausible(),
            request_id: self.request_id,
        })
    }

    fn push(&mut self, draft: Draft) -> Result<(), WireFault> {
        if self.blocks.len() == MODEL_BLOCKS_MAX {
            return Err(WireFault::TooManyBlocks { limit: MODEL_BLOCKS_MAX });
        }
        self.blocks.push(draft);
        Ok(())
    }
}

/// Parses a frame, strictly scanned first, because parts of it are kept as they are.
pub(super) fn parse<'a, T: Deserialize<'a>>(data: &'a str) -> Result<T, WireFault> {
    scan_text(data.as_bytes()).map_err(|error| WireFault::malformed(error.to_string()))?;
    serde_json::from_str(data).map_err(|error| WireFault::malformed(error.to_string()))
}

/// JSON that was made here as a raw value.
pub(super) fn raw(json: String) -> Result<Box<RawValue>, WireFault> {
    RawValue::from_string(json).map_err(|error| WireFault::malformed(error.to_string()))
}

//! `memory_store`: keeps a text under a key, with the labels of the context it was written in.

use std::sync::Arc;

use openfang_store::{KeyValueStore, StoredValue};
use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::limits::{MEMORY_KEY_MAX_BYTES, MEMORY_VALUE_MAX_BYTES};
use openfang_types::taint::SinkKind;
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Tool, ToolFailure, ToolFuture, name, parse};
use crate::context::CallContext;
use crate::pipeline::Permit;

pub(super) struct MemoryStore {
    pub(super) memory: Arc<dyn KeyValueStore>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Under which key, such as project/deadline.
    key: String,
    /// The text to keep.
    value: String,
}

impl Tool for MemoryStore {
    fn definition(&self) -> ToolDefinition {
        let says = "Keeps a text under a key, replacing what was there. memory_recall finds it again.";
        ToolDefinition::of::<Args>(name("memory_store"), says, SinkKind::Writes, ToolAnnotations::REPLACES)
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let Args { key, value } = parse(arguments)?;
            check(&key, &value)?;
            let kept = StoredValue { value, labels: cx.context_labels() };
            self.memory.put(cx.principal.owner(), &key, kept).await?;
            Ok(Outcome::Done(ToolOutput::text(format!("kept under {key}"))))
        })
    }
}

fn check(key: &str, value: &str) -> Result<(), ToolFailure> {
    if key.is_empty() || key.len() > MEMORY_KEY_MAX_BYTES || key.chars().any(char::is_control) {
        return Err(ToolFailure::new("a key has 1 to 256 bytes and no control characters"));
    }
    if value.len() > MEMORY_VALUE_MAX_BYTES {
        return Err(ToolFailure::new("a value has at most 64 KiB; keep a shorter text, or write a file"));
    }
    Ok(())
}

//! `memory_recall`: what was kept under a key, with the labels it was kept with; without a key, the keys there are.

use std::sync::Arc;

use openfang_store::KeyValueStore;
use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::limits::PAGE_MAX_TASKS;
use openfang_types::taint::{Labels, SinkKind};
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Tool, ToolFailure, ToolFuture, name, parse};
use crate::context::CallContext;
use crate::pipeline::Permit;

pub(super) struct MemoryRecall {
    pub(super) memory: Arc<dyn KeyValueStore>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The key; leave it out to see which keys there are.
    #[serde(default)]
    key: Option<String>,
    /// Only keys that begin with this.
    #[serde(default)]
    prefix: Option<String>,
}

impl Tool for MemoryRecall {
    fn definition(&self) -> ToolDefinition {
        let says = "Recalls what memory_store kept under a key, or lists the keys.";
        ToolDefinition::of::<Args>(name("memory_recall"), says, SinkKind::Reads, ToolAnnotations::READ_ONLY)
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let Args { key, prefix } = parse(arguments)?;
            let owner = cx.principal.owner();
            let Some(key) = key else {
                let listed = self.memory.keys(owner, prefix.as_deref().unwrap_or(""), PAGE_MAX_TASKS).await?;
                // Whoever kept a value chose its key.
                let labels = listed.iter().fold(Labels::none(), |labels, entry| labels.joined(&entry.labels));
                let keys: Vec<&str> = listed.iter().map(|entry| entry.key.as_str()).collect();
                let output = ToolOutput::text(keys.join("\n")).with_structured(&json!({ "keys": keys }));
                return Ok(Outcome::Done(output.labelled(&labels)));
            };
            let kept = self.memory.get(owner, &key).await?;
            let kept = kept.ok_or_else(|| ToolFailure::new(format!("nothing is kept under {key}")))?;
            Ok(Outcome::Done(ToolOutput::text(kept.value).labelled(&kept.labels)))
        })
    }
}

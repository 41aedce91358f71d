//! `get_counter`: counts its own calls since the start. Harmless, and shows that state is kept.

use std::sync::atomic::{AtomicU64, Ordering};

use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::taint::SinkKind;
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Tool, ToolFuture, name};
use crate::context::CallContext;
use crate::pipeline::Permit;

#[derive(Default)]
pub(super) struct GetCounter {
    calls: AtomicU64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {}

impl Tool for GetCounter {
    fn definition(&self) -> ToolDefinition {
        let says = "Tells how often this tool was called since the start, this call included.";
        ToolDefinition::of::<Args>(name("get_counter"), says, SinkKind::Reads, ToolAnnotations::ADDS)
    }

    fn call<'a>(&'a self, _: &'a CallContext, _: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let calls = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
            Ok(Outcome::Done(ToolOutput::text(calls.to_string()).with_structured(&json!({ "calls": calls }))))
        })
    }
}

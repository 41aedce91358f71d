//! `get_greeting`: says hello. The starter agent's default tool, because it can do no harm.

use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::taint::SinkKind;
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Tool, ToolFuture, name, parse};
use crate::context::CallContext;
use crate::pipeline::Permit;

pub(super) struct GetGreeting;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The name of whoever is greeted.
    #[serde(default)]
    name: Option<String>,
}

impl Tool for GetGreeting {
    fn definition(&self) -> ToolDefinition {
        let says = "Greets somebody by name.";
        ToolDefinition::of::<Args>(name("get_greeting"), says, SinkKind::Reads, ToolAnnotations::READ_ONLY)
    }

    fn call<'a>(&'a self, _: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let Args { name } = parse(arguments)?;
            Ok(Outcome::Done(ToolOutput::text(format!("Hello, {}!", name.as_deref().unwrap_or("world")))))
        })
    }
}

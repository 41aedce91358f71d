//! `add_numbers`: exact for integers, floating otherwise.

use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::taint::SinkKind;
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::{Tool, ToolFailure, ToolFuture, name, parse};
use crate::context::CallContext;
use crate::pipeline::Permit;

pub(super) struct AddNumbers;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The first number to add.
    #[schemars(with = "f64")]
    a: Number,
    /// The second number to add.
    #[schemars(with = "f64")]
    b: Number,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The sum of both.
    #[schemars(with = "f64")]
    result: Number,
}

impl Tool for AddNumbers {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition::of::<Args>(
            name("add_numbers"),
            "Adds two numbers.",
            SinkKind::Reads,
            ToolAnnotations::READ_ONLY,
        )
        .returning::<Output>()
    }

    fn call<'a>(&'a self, _: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let Args { a, b } = parse(arguments)?;
            let sum = add(&a, &b).ok_or_else(|| ToolFailure::new(format!("the sum of {a} and {b} is out of range")))?;
            Ok(Outcome::Done(ToolOutput::text(sum.to_string()).with_structured(&Output { result: sum })))
        })
    }
}

fn add(a: &Number, b: &Number) -> Option<Number> {
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => a.checked_add(b).and_then(Number::from_i128),
        _ => Number::from_f64(a.as_f64()? + b.as_f64()?),
    }
}

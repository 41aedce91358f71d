//! The arguments against the tool's schema. No reference leaves the schema, patterns run in linear time, and the steps of a
//! check are counted.

use std::sync::Arc;

use openfang_types::call::Arguments;
use openfang_types::tool::ToolTraits;
use serde_json::Value;

use super::{Callee, Manner, ToolError};
use crate::catalog::Registered;
use crate::context::CallContext;
use crate::schema_check::Misfit;

/// Refuses arguments that do not fit. Returns them, because they were away on another thread if the check was not quick.
pub(super) async fn check<'a, C: Callee>(
    cx: &CallContext,
    callee: &C,
    arguments: Arguments<'a>,
    manner: Manner,
) -> Result<Arguments<'a>, ToolError> {
    let Some(tool) = callee.checked_tool().filter(|_| manner == Manner::Checked) else { return Ok(arguments) };
    let steps = cx.config.limits.schema_check_steps;
    let known = tool.known_schema().transpose().map_err(|why| unusable(&tool.traits, why))?;
    let value = arguments.value().map_err(|error| ToolError::InvalidArguments {
        tool: tool.traits.name.clone(),
        problems: vec![error.to_string()],
    })?;
    match known.and_then(|schema| schema.check_quickly(value, steps)) {
        Some(checked) => judged(&tool.traits, checked).map(|()| arguments),
        // Boxed: it is rare, and should not make every call larger.
        None => Box::pin(check_elsewhere(cx, tool, arguments, steps)).await,
    }
}

/// On a thread of its own, where the schema is compiled too if it was not yet.
async fn check_elsewhere<'a>(
    cx: &CallContext,
    tool: &Arc<Registered>,
    mut arguments: Arguments<'a>,
    steps: u64,
) -> Result<Arguments<'a>, ToolError> {
    let (checked, name) = (Arc::clone(tool), &tool.traits.name);
    let value = arguments.take_parsed();
    let work = tool.checks().run(cx.principal.owner(), move || {
        let fits = |value: &Value| checked.schema().map_err(str::to_owned).map(|schema| schema.check(value, steps));
        (fits(&value), value)
    });
    let done = tokio::select! {
        biased;
        () = cx.cancel.cancelled() => return Err(ToolError::Cancelled(name.clone())),
        done = work => done,
    };
    match done {
        Some((Ok(checked), value)) => judged(&tool.traits, checked).map(|()| arguments.with_parsed(value)),
        Some((Err(why), _)) => Err(unusable(&tool.traits, &why)),
        None => Err(ToolError::Unchecked(name.clone())),
    }
}

fn judged(tool: &ToolTraits, checked: Result<(), Misfit>) -> Result<(), ToolError> {
    let tool = tool.name.clone();
    checked.map_err(|misfit| match misfit {
        Misfit::Problems(problems) => ToolError::InvalidArguments { tool, problems },
        Misfit::TooManySteps => ToolError::Unchecked(tool),
    })
}

fn unusable(tool: &ToolTraits, why: &str) -> ToolError {
    ToolError::UnusableSchema { tool: tool.name.clone(), why: why.to_owned() }
}

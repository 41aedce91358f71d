//! The arguments against the tool's schema. No reference leaves the schema, patterns run in linear time, and the steps of a
//! check are counted.

use std::sync::Arc;

use super::{Permit, ToolCall, ToolError};
use crate::context::CallContext;
use crate::schema_check::Misfit;

/// Refuses arguments that do not fit. Returns the call, which was away on another thread if the check was not quick.
pub(super) async fn check(cx: &CallContext, permit: &Permit, call: ToolCall) -> Result<ToolCall, ToolError> {
    let steps = cx.config.limits.schema_check_steps;
    let known = permit.tool().known_schema().transpose().map_err(|why| unusable(permit, why))?;
    match known.and_then(|schema| schema.check_quickly(&call.arguments, steps)) {
        Some(checked) => judged(permit, checked).map(|()| call),
        // Boxed: it is rare, and should not make every call larger.
        None => Box::pin(check_elsewhere(cx, permit, call, steps)).await,
    }
}

/// On a thread of its own, where the schema is compiled too if it was not yet.
async fn check_elsewhere(cx: &CallContext, permit: &Permit, call: ToolCall, steps: u64) -> Result<ToolCall, ToolError> {
    let (tool, name) = (Arc::clone(permit.tool()), call.name.clone());
    let work = permit.tool().checks().run(cx.principal.owner(), move || {
        let checked = tool.schema().map_err(str::to_owned).map(|schema| schema.check(&call.arguments, steps));
        (checked, call)
    });
    let done = tokio::select! {
        biased;
        () = cx.cancel.cancelled() => return Err(ToolError::Cancelled(name)),
        done = work => done,
    };
    match done {
        Some((Ok(checked), call)) => judged(permit, checked).map(|()| call),
        Some((Err(why), _)) => Err(unusable(permit, &why)),
        None => Err(ToolError::Unchecked(name)),
    }
}

fn judged(permit: &Permit, checked: Result<(), Misfit>) -> Result<(), ToolError> {
    let tool = permit.traits().name.clone();
    checked.map_err(|misfit| match misfit {
        Misfit::Problems(problems) => ToolError::InvalidArguments { tool, problems },
        Misfit::TooManySteps => ToolError::Unchecked(tool),
    })
}

fn unusable(permit: &Permit, why: &str) -> ToolError {
    ToolError::UnusableSchema { tool: permit.traits().name.clone(), why: why.to_owned() }
}

//! Calling the tool, for as long as its kind may take. Cancel, timeout and a panic all drop the tool's future.

use std::any::Any;
use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_util::FutureExt as _;
use openfang_types::content::ToolOutput;
use openfang_types::limits::{Limits, MCP_CALL_MAX};
use openfang_types::tool::ToolKind;
use serde_json::Value;
use tokio::time::Instant;

use super::{Permit, ToolError};
use crate::context::CallContext;

/// Calls the tool with the permit.
pub(super) async fn within(cx: &CallContext, permit: Permit, arguments: Value) -> Result<ToolOutput, ToolError> {
    let registered = Arc::clone(permit.tool());
    let name = &registered.traits.name;
    let after = time_for(registered.traits.kind, cx);
    let mut work = pin!(AssertUnwindSafe(registered.tool.call(cx, arguments, permit)).catch_unwind());
    if cx.cancel.is_cancelled() {
        return Err(ToolError::Cancelled(name.clone()));
    }
    // What is done at once needs no clock, and no place among those who wait for a cancel.
    let finished = match poll_fn(|task| Poll::Ready(work.as_mut().poll(task))).await {
        Poll::Ready(finished) => Ok(finished),
        Poll::Pending => tokio::select! {
            biased;
            () = cx.cancel.cancelled() => return Err(ToolError::Cancelled(name.clone())),
            finished = tokio::time::timeout(after, work) => finished,
        },
    };
    match finished {
        Ok(Ok(Ok(output))) => Ok(output),
        Ok(Ok(Err(failure))) => Ok(ToolOutput::error(failure.to_string())),
        Ok(Err(panic)) => {
            tracing::error!(tool = %name, trace = %cx.trace, message = panic_message(&*panic), "a tool panicked");
            Err(ToolError::Panicked(name.clone()))
        }
        Err(_) => Err(ToolError::TimedOut { tool: name.clone(), after }),
    }
}

fn time_for(kind: ToolKind, cx: &CallContext) -> Duration {
    let by_kind = limit_of(kind, &cx.config.limits);
    match cx.deadline {
        Some(deadline) => by_kind.min(deadline.saturating_duration_since(Instant::now())),
        None => by_kind,
    }
}

/// However long a server may take to start, and a call of it may report progress.
const UPSTREAM_MAX: Duration = MCP_CALL_MAX.saturating_mul(2);

/// How long a kind of tool may take.
pub const fn limit_of(kind: ToolKind, limits: &Limits) -> Duration {
    match kind {
        ToolKind::Plain => limits.tool_timeout(),
        ToolKind::RunsAgent => limits.run_timeout(),
        // The server's own limit is shorter, and is reset by progress.
        ToolKind::Upstream => UPSTREAM_MAX,
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

//! Calling the tool, for as long as its kind may take. Cancel, timeout and a panic all drop the tool's future.

use std::any::Any;
use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use futures_util::FutureExt as _;
use openfang_mcp::client::Withdrawn;
use openfang_types::call::{Arguments, Outcome};
use openfang_types::limits::{EXEC_AROUND, EXEC_TIMEOUT_MAX, EXTERNAL_MAX, Limits, MCP_CALL_MAX};
use openfang_types::tool::{ToolKind, ToolTraits};
use tokio::time::Instant;

use super::{CallOutput as _, Callee, Hidden, Permit, ToolError, capability};
use crate::context::CallContext;

/// Calls the callee with the permit.
pub(super) async fn within<'a, C: Callee>(
    cx: &'a CallContext,
    callee: &'a C,
    arguments: Arguments<'a>,
    permit: Permit,
) -> Result<Outcome<C::Output>, ToolError> {
    let (name, manner) = (&callee.traits().name, permit.manner());
    let after = time_for(callee.traits().kind, cx);
    let mut work = pin!(AssertUnwindSafe(callee.call(cx, arguments, permit)).catch_unwind());
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
        Ok(Ok(Ok(outcome))) => Ok(outcome),
        Ok(Ok(Err(failure))) => match failure.withdrawal() {
            Some(why) => Err(withdrawn(cx, callee.traits(), why)),
            None => match C::Output::of_failure(failure, manner) {
                Ok(output) => Ok(Outcome::Done(output)),
                Err(failure) => Err(ToolError::Failed { tool: name.clone(), failure }),
            },
        },
        Ok(Err(panic)) => {
            tracing::error!(tool = %name, trace = %cx.trace, message = panic_message(&*panic), "a tool panicked");
            Err(ToolError::Panicked(name.clone()))
        }
        Err(_) => Err(ToolError::TimedOut { tool: name.clone(), after }),
    }
}

/// The tool was there when the call was looked at, and is not what it was now that its server is connected.
fn withdrawn(cx: &CallContext, traits: &ToolTraits, why: Withdrawn) -> ToolError {
    match why {
        Withdrawn::Quarantined => capability::refusal(cx, traits, Hidden::Quarantined),
        Withdrawn::Changed => ToolError::NotApproved { tool: traits.name.clone() },
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

/// However long a program may run, start and end included.
const PROGRAM_MAX: Duration = EXEC_TIMEOUT_MAX.saturating_add(EXEC_AROUND);

/// How long a kind of tool may take.
pub const fn limit_of(kind: ToolKind, limits: &Limits) -> Duration {
    match kind {
        ToolKind::Plain => limits.tool_timeout(),
        ToolKind::RunsAgent => limits.run_timeout(),
        // Its own limit is shorter.
        ToolKind::RunsProgram => PROGRAM_MAX,
        // The server's own limit is shorter, and is reset by progress.
        ToolKind::Upstream => UPSTREAM_MAX,
        ToolKind::ExternalAgent => EXTERNAL_MAX,
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

//! What becomes of a turn whose process died, by the newest entry of its transcript:
//!
//! | newest entry | then |
//! |---|---|
//! | a message, or the result of a call | the model is asked |
//! | an answer whose calls have not begun | they run, with the same arguments and without another question |
//! | a call that may be repeated has begun | it runs again |
//! | any other call has begun | nobody knows whether it happened: the task asks its owner, and the call never runs again by itself |
//! | a question | the task waits for its answer; there is nothing to recover |

use openfang_types::ids::ToolName;
use openfang_types::limits::RECOVERED_TOOLS_WAIT;

use super::conversation::CallState;
use crate::answerer::may_repeat;
use crate::catalog::Catalog;

/// What is done with the calls that a process left behind.
#[derive(Debug, PartialEq)]
pub(super) struct OpenCalls {
    /// Those that run now.
    pub(super) to_run: Vec<CallState>,
    /// Those that may or may not have happened.
    pub(super) unknown: Vec<CallState>,
}

/// Waits until the tools of open calls are there: after a start the servers that have them are still being connected. A tool
/// that is gone is not waited for longer than a moment.
pub(super) async fn tools_of(calls: &[CallState], catalog: &Catalog) {
    let mut changes = catalog.changes();
    let is_there = |state: &CallState| state.call.name.parse().is_ok_and(|tool: ToolName| catalog.get(&tool).is_some());
    let arrival = async {
        while !calls.iter().filter(|state| !state.is_done).all(is_there) {
            if changes.changed().await.is_err() {
                return;
            }
        }
    };
    if tokio::time::timeout(RECOVERED_TOOLS_WAIT, arrival).await.is_err() {
        tracing::debug!("a call of a process that died names a tool that is not there");
    }
}

/// Sorts the calls of the newest answer. If one of them may have happened, none of the others runs before a person has looked.
pub(super) fn open_calls(calls: Vec<CallState>, catalog: &Catalog) -> OpenCalls {
    // What a tool that is gone may have done nobody can say.
    let is_repeatable = |state: &CallState| {
        let tool = state.call.name.parse::<ToolName>();
        tool.is_ok_and(|tool| catalog.get(&tool).is_some() && may_repeat(catalog, &tool))
    };
    let open = calls.into_iter().filter(|state| !state.is_done);
    let (unknown, to_run): (Vec<_>, Vec<_>) = open.partition(|state| state.is_begun && !is_repeatable(state));
    let to_run = if unknown.is_empty() { to_run } else { Vec::new() };
    OpenCalls { to_run, unknown }
}

#[cfg(test)]
#[path = "recovery_tests.rs"]
mod tests;

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

/// Sorts the calls of the newest answer. If one of them may have happened, none of the others runs before a person has looked.
pub(super) fn open_calls(calls: Vec<CallState>, catalog: &Catalog) -> OpenCalls {
    let is_repeatable =
        |state: &CallState| state.call.name.parse::<ToolName>().is_ok_and(|tool| may_repeat(catalog, &tool));
    let open = calls.into_iter().filter(|state| !state.is_done);
    let (unknown, to_run): (Vec<_>, Vec<_>) = open.partition(|state| state.is_begun && !is_repeatable(state));
    let to_run = if unknown.is_empty() { to_run } else { Vec::new() };
    OpenCalls { to_run, unknown }
}

#[cfg(test)]
#[path = "recovery_tests.rs"]
mod tests;

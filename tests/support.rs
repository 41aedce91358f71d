//! Shorthands of the tests in this folder.

pub(crate) mod binary;
pub(crate) mod cutting_proxy;
pub(crate) mod frames;
pub(crate) mod peers;
pub(crate) mod recorder;
pub(crate) mod schemas;

use openfang_kernel::{Caller, Kernel, KernelError, Reply, ToolCall};
use openfang_types::content::ToolOutput;
use openfang_types::task::{Part, Task, TaskState};
use serde_json::Value;

/// Calls a tool directly.
pub(crate) async fn call(
    kernel: &Kernel,
    caller: &Caller,
    tool: &str,
    arguments: Value,
) -> Result<ToolOutput, KernelError> {
    kernel
        .execute_tool(caller, ToolCall { name: tool.parse().unwrap(), arguments: arguments.into() })
        .await
}

/// Sends a text and waits for the task.
pub(crate) async fn send(kernel: &Kernel, caller: &Caller, agent: &str, text: &str) -> Task {
    match kernel.send_message(caller, &agent.parse().unwrap(), kernel.message(text)).await.unwrap() {
        Reply::Task(task) => *task,
        Reply::Message(message) => panic!("expected a task, not {message:?}"),
    }
}

/// Sends a text and returns at once.
pub(crate) async fn submit(kernel: &Kernel, caller: &Caller, agent: &str, text: &str) -> Task {
    match kernel.submit(caller, &agent.parse().unwrap(), kernel.message(text)).await.unwrap() {
        Reply::Task(task) => *task,
        Reply::Message(message) => panic!("expected a task, not {message:?}"),
    }
}

/// The names of a task's artifacts, in order.
pub(crate) fn artifact_names(task: &Task) -> Vec<&str> {
    task.artifacts.iter().map(|artifact| artifact.name.as_deref().unwrap_or("")).collect()
}

/// The texts of a task's artifact.
pub(crate) fn artifact_text(task: &Task, name: &str) -> String {
    let artifact = task.artifacts.iter().find(|artifact| artifact.name.as_deref() == Some(name));
    let parts = &artifact.unwrap_or_else(|| panic!("no artifact {name} in {task:?}")).parts;
    parts.iter().filter_map(Part::as_text).collect()
}

/// What the agent says about the task's state.
pub(crate) fn status_text(task: &Task) -> String {
    task.status
        .message
        .as_ref()
        .map(openfang_types::task::Message::joined_text)
        .unwrap_or_default()
}

/// The task is in this state, or the test shows what it is in.
#[track_caller]
pub(crate) fn assert_state(task: &Task, state: TaskState) {
    assert_eq!(task.status.state, state, "{}", status_text(task));
}

/// How many rounds a test makes: the number in this variable for a longer run by hand, else this one.
pub(crate) fn rounds(variable: &str, else_this: u64) -> u64 {
    #[expect(clippy::disallowed_methods, reason = "set by hand for a longer run")]
    let asked = std::env::var(variable).ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(else_this)
}

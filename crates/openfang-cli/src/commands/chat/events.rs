//! What happens in a chat, one thing at a time. `--json` prints each on a line; docs/chat.md describes the members.

use openfang_types::api::ApprovalView;
use openfang_types::ids::{AgentName, ContextId, TaskId};
use openfang_types::task::{CallNote, TaskState, TurnUsage};
use serde::Serialize;

/// Something that happens in a chat.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum ChatEvent {
    /// Which conversation it is. Comes before the first answer.
    Conversation { agent: AgentName, context: ContextId, task: TaskId },
    /// A piece of the answer.
    Text {
        text: String,
        /// Whether the answer begins again: what was said of it before does not count.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        again: bool,
    },
    /// Calls of tools begin.
    Calls { tools: Vec<String> },
    /// A call of a tool has ended.
    Call(CallNote),
    /// How far something is.
    Progress { text: String },
    /// Something that the agent or the server says beside the answer.
    Note { text: String },
    /// A call waits for a person.
    Approval(Box<ApprovalView>),
    /// A decision was taken on a call, with the reason.
    Decision { id: String, tool: String, decision: String, why: String },
    /// What the turn took.
    Usage(TurnUsage),
    /// The turn has ended, or waits for an answer: the next message is the answer.
    End {
        state: TaskState,
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
}

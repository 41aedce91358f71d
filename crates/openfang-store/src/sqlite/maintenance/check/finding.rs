//! What a check can find, and how it is told.

use std::fmt;

use openfang_types::event::Seq;
use openfang_types::ids::TaskId;
use serde::Serialize;

use crate::audit::AuditProblem;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// The file is damaged, in SQLite's words.
    Damaged(String),
    /// A counter does not match its rows.
    Count {
        owner: String,
        state: String,
        /// The value of the counter.
        kept: i64,
        counted: i64,
    },
    /// The size counter of an owner is wrong.
    Bytes {
        owner: String,
        /// Tasks, transcripts, memory, files or results.
        what: String,
        /// The value of the counter.
        kept: i64,
        /// The actual size in bytes.
        counted: i64,
    },
    /// The events of a task have a gap, or end elsewhere than the task says.
    Events {
        task: TaskId,
        /// The first event that is missing or misplaced.
        seq: Seq,
    },
    /// Events without a task.
    NoTask { task: TaskId },
    /// A transcript has a gap, an entry that cannot be read, or another end than it says.
    Transcript {
        owner: String,
        agent: String,
        context: String,
        /// The first entry that is missing or cannot be read.
        seq: u64,
    },
    /// A transcript of a conversation without tasks.
    NoConversation { owner: String, agent: String, context: String },
    /// Entries without a transcript.
    NoTranscript { entries: u64 },
    /// The audit log was changed.
    Audit(AuditProblem),
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(what) => write!(f, "the file is damaged: {what}"),
            Self::Count { owner, state, kept, counted } => {
                write!(f, "the counter says {kept} {state} tasks of {owner}, and there are {counted}")
            }
            Self::Bytes { owner, what, kept, counted } => {
                write!(f, "the counter says {kept} bytes of {what} of {owner}, and there are {counted}")
            }
            Self::Events { task, seq } => write!(f, "the events of task {task} are not right from number {seq} on"),
            Self::NoTask { task } => write!(f, "there are events of task {task}, which is not there"),
            Self::Transcript { owner, agent, context, seq } => {
                write!(
                    f,
                    "the transcript of {owner} with agent {agent} in context {context} is not right from entry {seq} on"
                )
            }
            Self::NoConversation { owner, agent, context } => {
                write!(f, "there is a transcript of {owner} with agent {agent} in context {context}, which has no task")
            }
            Self::NoTranscript { entries } => {
                write!(f, "there are {entries} entries of transcripts that are not there")
            }
            Self::Audit(problem) => write!(f, "the audit log: {problem}"),
        }
    }
}

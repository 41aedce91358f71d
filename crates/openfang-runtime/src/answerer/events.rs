//! What an answerer tells about its work, and where that goes: to the log of the task, and to the transcript of the
//! conversation. Both are stored in the same commit.

use futures_util::future::BoxFuture;
use openfang_store::{RemoteRecord, TranscriptItem};
use openfang_types::event::ArtifactUpdate;
use openfang_types::ids::ArtifactId;
use openfang_types::task::Part;

use super::Inbox;
use crate::transcript::{TranscriptEntry, TranscriptError};

/// Something to tell about the work.
#[derive(Debug, Clone, PartialEq)]
pub enum RunEvent {
    /// Still working, and what about.
    Working(Vec<Part>),
    /// An artifact, or more of one. Each is committed as it is.
    Artifact(ArtifactUpdate),
    /// More text of an artifact. It is joined with what follows soon.
    Text(TextDelta),
}

/// A piece of an artifact's text, as somebody says it who says it bit by bit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextDelta {
    /// Which artifact. The first piece makes it.
    pub artifact_id: ArtifactId,
    /// What the artifact is called.
    pub name: Option<String>,
    pub text: String,
    /// Whether it replaces what the artifact has held so far.
    pub begins: bool,
    /// Whether the artifact ends with it.
    pub is_last: bool,
}

/// Where events go. They are stored before anybody sees them.
pub trait EventSink: Send + Sync {
    /// Stores an event; an error means that the task has ended meanwhile.
    fn emit(&self, event: RunEvent) -> BoxFuture<'_, Result<(), RunStopped>>;
    /// Stores an event together with what is told next, which comes at once: another event, or the end.
    fn emit_with_next(&self, event: RunEvent) -> BoxFuture<'_, ()>;
    /// Stores the remote side of the task with the next event, or at the next durable point.
    fn remember(&self, remote: RemoteRecord) -> BoxFuture<'_, ()>;
    /// The transcript of the conversation, as it stands. From now on this run is the only one of this process that writes to
    /// it; another run of the conversation waits here until this one has ended.
    fn open_transcript(&self) -> BoxFuture<'_, Result<Vec<TranscriptEntry>, TranscriptError>>;
    /// Adds items to the transcript, after it was opened. They are stored with the next event, at the next durable point, or
    /// by [`EventSink::commit`]. Gives the place of the first one.
    fn record(&self, items: Vec<TranscriptItem>) -> BoxFuture<'_, u64>;
    /// Stores everything that was told and recorded.
    fn commit(&self) -> BoxFuture<'_, Result<(), RunStopped>>;
    /// The messages that arrive for the task while the run works on it.
    fn inbox(&self) -> &Inbox;
}

/// The task ended while the model worked: there is nothing more to say.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the task has ended")]
pub struct RunStopped;

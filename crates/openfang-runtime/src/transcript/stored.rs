//! Entries of a transcript as items of the store, and back. What is read is what was written, to the byte.

use openfang_store::{ItemBody, ItemTooLarge, StoreError, TranscriptItem, TranscriptKind, TranscriptRow};
use openfang_types::taint::Labels;

use super::{TranscriptBody, TranscriptEntry};

/// Why an entry cannot be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum TranscriptError {
    #[error(transparent)]
    TooLarge(#[from] ItemTooLarge),
    #[error("an entry of a transcript cannot be written as JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// The reason has no content of the entry in it.
    #[error("entry {seq} of the transcript cannot be read: {reason}; run `openfang db check`")]
    Unreadable { seq: u64, reason: String },
    #[error("the transcript of the conversation cannot be read: {0}")]
    Store(#[from] StoreError),
    /// The conversation has more than one request can hold.
    #[error("the conversation is too long to go on; begin a new one, without this context id")]
    TooLong,
    /// The caller may not see all that was said in the conversation.
    #[error("there is no such conversation; leave out the context id to begin one")]
    Foreign,
}

impl TranscriptBody {
    /// What it is called in the store.
    pub const fn kind(&self) -> TranscriptKind {
        match self {
            Self::User { .. } => TranscriptKind::User,
            Self::Answer { .. } => TranscriptKind::Answer,
            Self::CallBegun { .. } => TranscriptKind::CallBegun,
            Self::CallDone { .. } => TranscriptKind::CallDone,
            Self::Asked { .. } => TranscriptKind::Asked,
            Self::Decided { .. } => TranscriptKind::Decided,
            Self::Compacted(_) => TranscriptKind::Compacted,
            Self::Switched { .. } => TranscriptKind::Switched,
        }
    }

    /// An item with this body and these labels, for a turn of a task.
    pub fn to_item(&self, turn: u32, labels: Labels) -> Result<TranscriptItem, TranscriptError> {
        let json = serde_json::to_string(self).map_err(TranscriptError::NotJson)?;
        let covers = match self {
            Self::Compacted(compaction) => Some(compaction.covers),
            Self::User { .. }
            | Self::Answer { .. }
            | Self::CallBegun { .. }
            | Self::CallDone { .. }
            | Self::Asked { .. }
            | Self::Decided { .. }
            | Self::Switched { .. } => None,
        };
        Ok(TranscriptItem { turn, kind: self.kind(), covers, tokens: None, labels, body: ItemBody::new(json)? })
    }
}

impl TryFrom<TranscriptRow> for TranscriptEntry {
    type Error = TranscriptError;

    fn try_from(row: TranscriptRow) -> Result<Self, TranscriptError> {
        let TranscriptRow { seq, task, item, .. } = row;
        let unreadable = |reason: String| TranscriptError::Unreadable { seq, reason };
        let body: TranscriptBody = serde_json::from_str(item.body.as_str())
            .map_err(|error| unreadable(format!("it is not what was written, from byte {} on", error.column())))?;
        if body.kind() != item.kind {
            let (is, says) = (body.kind().as_str(), item.kind.as_str());
            return Err(unreadable(format!("it is of the kind {is} and says {says}")));
        }
        Ok(Self { seq, task, turn: item.turn, tokens: item.tokens, labels: item.labels, body })
    }
}

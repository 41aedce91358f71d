//! The contract of transcripts: what an agent with a model remembers of a conversation, item by item.
//!
//! A [`Conversation`] belongs to an owner, an agent and a context. All its tasks write to one transcript, which only grows.
//! Items are written in the commit of a task's events: [`NewTask::transcript`](crate::NewTask::transcript) and
//! [`Append::transcript`](crate::Append::transcript). A transcript outlives the folding of events. It is deleted with the
//! last task of its conversation, or when nothing was written to it for a while and none of its tasks is running.
//!
//! The content of an item is JSON that the store does not look into.

use std::fmt;

use jiff::Timestamp;
use openfang_types::ids::{AgentName, ContextId, Owner, TaskId};
use openfang_types::limits::TRANSCRIPT_ITEM_MAX_BYTES;
use openfang_types::taint::Labels;

use crate::{StoreFuture, TaskRecord};

/// The transcripts of conversations. They are written through the [`TaskStore`](crate::TaskStore).
pub trait TranscriptStore: Send + Sync {
    /// Some items of a conversation. One that does not exist, or is another owner's, has none.
    fn read<'a>(&'a self, query: &'a TranscriptQuery) -> StoreFuture<'a, TranscriptPage>;
}

/// Identifies a conversation. The same context is another conversation for another owner or agent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Conversation {
    pub owner: Owner,
    pub agent: AgentName,
    pub context_id: ContextId,
}

impl fmt::Display for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { owner, agent, context_id } = self;
        write!(f, "owner {owner}, agent {agent}, context {context_id}")
    }
}

impl TaskRecord {
    /// The conversation that this task belongs to.
    pub fn conversation(&self) -> Conversation {
        Conversation {
            owner: self.owner.clone(),
            agent: self.task.agent.clone(),
            context_id: self.task.context_id.clone(),
        }
    }
}

impl Conversation {
    pub(crate) fn has(&self, record: &TaskRecord) -> bool {
        let Self { owner, agent, context_id } = self;
        record.owner == *owner && record.task.agent == *agent && record.task.context_id == *context_id
    }
}

/// Items that a write appends to the transcript of its task's conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TranscriptWrite {
    /// The sequence number of the last item that the writer has read; 0 if there was none. If there is another one by now,
    /// the write is a [conflict](crate::StoreError::Conflict). `None` appends after whatever is there.
    pub after: Option<u64>,
    pub items: Vec<TranscriptItem>,
}

impl TranscriptWrite {
    /// Items to append after whatever is there.
    pub const fn at_the_end(items: Vec<TranscriptItem>) -> Self {
        Self { after: None, items }
    }

    /// Whether the writer has not read the transcript to its end.
    pub(crate) fn is_stale(&self, end: u64) -> bool {
        self.after.is_some_and(|after| after != end)
    }
}

/// One item of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptItem {
    /// The turn of the task that it belongs to.
    pub turn: u32,
    pub kind: TranscriptKind,
    /// For a summary: the sequence number of the last item that it stands for.
    pub covers: Option<u64>,
    /// The number of tokens that it takes in a request, if known.
    pub tokens: Option<u64>,
    /// The labels of what it brought into the conversation.
    pub labels: Labels,
    pub body: ItemBody,
}

/// The content of an item: JSON, at most [`TRANSCRIPT_ITEM_MAX_BYTES`] long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemBody(String);

/// An item is too large to be stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an entry of a transcript has {bytes} bytes, and {TRANSCRIPT_ITEM_MAX_BYTES} are allowed")]
pub struct ItemTooLarge {
    pub bytes: usize,
}

impl ItemBody {
    /// The content of a new item. It is stored as it is.
    pub fn new(json: String) -> Result<Self, ItemTooLarge> {
        let bytes = json.len();
        if bytes > TRANSCRIPT_ITEM_MAX_BYTES { Err(ItemTooLarge { bytes }) } else { Ok(Self(json)) }
    }

    /// The content of an item that was stored.
    pub(crate) const fn stored(json: String) -> Self {
        Self(json)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What an item is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TranscriptKind {
    /// A message of the user.
    User,
    /// A whole answer of a model.
    Answer,
    /// A call is about to take effect.
    CallBegun,
    CallDone,
    /// A person is asked to approve calls.
    Asked,
    Decided,
    /// A summary of earlier items.
    Compacted,
    /// Another model goes on.
    Switched,
}

impl TranscriptKind {
    pub const ALL: [Self; 8] = [
        Self::User,
        Self::Answer,
        Self::CallBegun,
        Self::CallDone,
        Self::Asked,
        Self::Decided,
        Self::Compacted,
        Self::Switched,
    ];

    /// The word in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Answer => "answer",
            Self::CallBegun => "call_begun",
            Self::CallDone => "call_done",
            Self::Asked => "asked",
            Self::Decided => "decided",
            Self::Compacted => "compacted",
            Self::Switched => "switched",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// An item as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptRow {
    /// Its place in the transcript. The first item is 1, and there are no gaps.
    pub seq: u64,
    /// The task whose write added it.
    pub task: TaskId,
    pub at: Timestamp,
    pub item: TranscriptItem,
}

/// Which items to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptQuery {
    pub conversation: Conversation,
    pub range: TranscriptRange,
    /// Only items of this kind.
    pub kind: Option<TranscriptKind>,
    /// The maximum number of items.
    pub limit: usize,
    /// The maximum size of all items. The page ends before the item that would exceed it, unless it is the first.
    pub max_bytes: usize,
}

/// Where to read, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TranscriptRange {
    /// The newest summary and everything that it does not cover, oldest first. Everything if there is no summary.
    Uncovered,
    /// After this sequence number, oldest first.
    After(u64),
    /// Before this sequence number, newest first.
    Before(u64),
}

impl TranscriptRange {
    /// The newest items first.
    pub const NEWEST: Self = Self::Before(u64::MAX);
}

/// Some items of a transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TranscriptPage {
    pub rows: Vec<TranscriptRow>,
    /// The sequence number of the last item of the transcript when it was read; 0 if there is none.
    pub end: u64,
    /// Whether the range has more items than those on this page.
    pub has_more: bool,
}

/// The rules by which a store fills a page.
pub(crate) struct PageFiller {
    page: TranscriptPage,
    limit: usize,
    bytes_left: usize,
}

impl PageFiller {
    pub(crate) fn of(query: &TranscriptQuery, end: u64) -> Self {
        let page = TranscriptPage { end, ..TranscriptPage::default() };
        Self { page, limit: query.limit, bytes_left: query.max_bytes }
    }

    /// Whether the next item, which has so many bytes, fits on the page. If not, the page ends here.
    pub(crate) fn has_room(&mut self, bytes: usize) -> bool {
        let is_first = self.page.rows.is_empty();
        let left = self.bytes_left.checked_sub(bytes);
        let fits = self.page.rows.len() < self.limit && (is_first || left.is_some());
        self.bytes_left = left.unwrap_or_default();
        self.page.has_more |= !fits;
        fits
    }

    pub(crate) fn push(&mut self, row: TranscriptRow) {
        self.page.rows.push(row);
    }

    pub(crate) fn page(self) -> TranscriptPage {
        self.page
    }
}

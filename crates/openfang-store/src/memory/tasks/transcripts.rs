//! Transcripts in memory. Each is removed with the last task of its conversation.

use std::collections::HashMap;

use jiff::Timestamp;
use openfang_types::ids::TaskId;

use super::{MemoryTasks, ready};
use crate::transcripts::PageFiller;
use crate::{
    Conversation, StoreError, StoreFuture, TranscriptPage, TranscriptQuery, TranscriptRange, TranscriptRow,
    TranscriptStore, TranscriptWrite,
};

/// The transcripts of all conversations.
#[derive(Default)]
pub(super) struct Transcripts {
    by_conversation: HashMap<Conversation, Transcript>,
}

#[derive(Default)]
struct Transcript {
    rows: Vec<TranscriptRow>,
    /// The newest summary stands for the items up to here.
    covered: u64,
    bytes: u64,
}

impl Transcript {
    fn end(&self) -> u64 {
        self.rows.len() as u64
    }
}

impl Transcripts {
    /// A conflict if the writer has not read the transcript to its end.
    pub(super) fn check(&self, conversation: &Conversation, write: &TranscriptWrite) -> Result<(), StoreError> {
        let end = self.by_conversation.get(conversation).map_or(0, Transcript::end);
        let is_stale = !write.items.is_empty() && write.is_stale(end);
        if is_stale { Err(StoreError::Conflict) } else { Ok(()) }
    }

    pub(super) fn append(&mut self, conversation: Conversation, write: TranscriptWrite, task: TaskId, at: Timestamp) {
        if write.items.is_empty() {
            return;
        }
        let bytes = weight(&write);
        let transcript = self.by_conversation.entry(conversation).or_default();
        transcript.bytes += bytes;
        for item in write.items {
            let end = transcript.end();
            // A summary never covers itself.
            transcript.covered = item.covers.map_or(transcript.covered, |covers| covers.min(end));
            transcript.rows.push(TranscriptRow { seq: end + 1, task, at, item });
        }
    }

    /// Removes a transcript. Says how many bytes it had, if there was one.
    pub(super) fn remove(&mut self, conversation: &Conversation) -> Option<u64> {
        self.by_conversation.remove(conversation).map(|transcript| transcript.bytes)
    }

    fn page(&self, query: &TranscriptQuery) -> TranscriptPage {
        let Some(transcript) = self.by_conversation.get(&query.conversation) else {
            return TranscriptPage::default();
        };
        let rows = &transcript.rows;
        let place = |seq: u64| usize::try_from(seq).unwrap_or(usize::MAX).min(rows.len());
        match query.range {
            TranscriptRange::Uncovered => filled(query, transcript.end(), rows[place(transcript.covered)..].iter()),
            TranscriptRange::After(seq) => filled(query, transcript.end(), rows[place(seq)..].iter()),
            TranscriptRange::Before(seq) => {
                filled(query, transcript.end(), rows[..place(seq.saturating_sub(1))].iter().rev())
            }
        }
    }
}

fn filled<'r>(query: &TranscriptQuery, end: u64, rows: impl Iterator<Item = &'r TranscriptRow>) -> TranscriptPage {
    let mut filler = PageFiller::of(query, end);
    for row in rows.filter(|row| query.kind.is_none_or(|kind| kind == row.item.kind)) {
        if !filler.has_room(row.item.body.as_str().len()) {
            break;
        }
        filler.push(row.clone());
    }
    filler.page()
}

/// The size of the items, as another store would write them.
pub(super) fn weight(write: &TranscriptWrite) -> u64 {
    let labels = |item: &crate::TranscriptItem| serde_json::to_vec(&item.labels).map_or(0, |json| json.len());
    write.items.iter().map(|item| (item.body.as_str().len() + labels(item)) as u64).sum()
}

impl TranscriptStore for MemoryTasks {
    fn read<'a>(&'a self, query: &'a TranscriptQuery) -> StoreFuture<'a, TranscriptPage> {
        ready(Ok(self.lock().transcripts.page(query)))
    }
}

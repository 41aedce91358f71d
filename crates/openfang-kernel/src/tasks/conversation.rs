//! The transcript of a conversation while a run writes to it. The runs of a conversation take turns, because each answers
//! what the one before it said. Another process is noticed by the store: a write names the last entry that it knows.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use openfang_runtime::transcript::{TranscriptBody, TranscriptEntry, TranscriptError};
use openfang_store::{Conversation, StoreError, TranscriptItem, TranscriptQuery, TranscriptRange, TranscriptWrite};
use openfang_types::limits::{TRANSCRIPT_PAGE, TRANSCRIPT_READ_MAX_BYTES};
use tokio::sync::OwnedMutexGuard;

use crate::tasks::Inner;
use crate::tasks::log::TaskLog;

/// Whose turn it is in each conversation.
#[derive(Default)]
pub(super) struct Conversations {
    turns: Mutex<HashMap<Conversation, Weak<tokio::sync::Mutex<()>>>>,
}

impl Conversations {
    /// Waits for the turn in a conversation.
    async fn turn(&self, conversation: Conversation) -> OwnedMutexGuard<()> {
        let turn = {
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            let known = turns.get(&conversation).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                turns.retain(|_, turn| turn.strong_count() > 0);
                let turn = Arc::default();
                turns.insert(conversation, Arc::downgrade(&turn));
                turn
            })
        };
        turn.lock_owned().await
    }
}

/// A transcript that a run writes to.
pub(super) struct OpenTranscript {
    /// The sequence number of the last stored item.
    end: u64,
    waiting: Vec<TranscriptItem>,
    /// Another process wrote to the conversation meanwhile.
    pub(super) is_overtaken: bool,
    /// No other run of this process writes before this one ends.
    _turn: OwnedMutexGuard<()>,
}

impl OpenTranscript {
    /// Adds items, and gives the place of the first.
    fn add(&mut self, items: Vec<TranscriptItem>) -> u64 {
        let first = self.end + u64::try_from(self.waiting.len()).unwrap_or(u64::MAX) + 1;
        self.waiting.extend(items);
        first
    }

    pub(super) fn take(&mut self) -> Vec<TranscriptItem> {
        std::mem::take(&mut self.waiting)
    }

    /// A write of these items, which were taken before.
    pub(super) fn write(&self, items: Vec<TranscriptItem>) -> TranscriptWrite {
        let after = (!items.is_empty() && !self.is_overtaken).then_some(self.end);
        TranscriptWrite { after, items }
    }

    /// So many of the taken items are stored.
    pub(super) fn wrote(&mut self, number: usize) {
        self.end += u64::try_from(number).unwrap_or(u64::MAX);
    }

    /// Taken items were not stored.
    pub(super) fn put_back(&mut self, items: Vec<TranscriptItem>) {
        let later = std::mem::replace(&mut self.waiting, items);
        self.waiting.extend(later);
    }
}

impl TaskLog {
    /// Opens the transcript of the task's conversation for a caller that is narrowed so. Waits for its turn.
    pub(super) async fn open_transcript(&self, narrowing: &str) -> Result<Vec<TranscriptEntry>, TranscriptError> {
        let conversation = {
            let log = self.lock().await;
            Conversation {
                owner: self.owner().clone(),
                agent: log.task.agent.clone(),
                context_id: log.task.context_id.clone(),
            }
        };
        let turn = self.inner().conversations.turn(conversation.clone()).await;
        let (entries, end) = self.inner().read_transcript(conversation).await?;
        if !narrowing.is_empty() {
            self.inner().check_scope(self, narrowing, &entries).await?;
        }
        let open = OpenTranscript { end, waiting: Vec::new(), is_overtaken: false, _turn: turn };
        self.lock().await.transcript = Some(Box::new(open));
        Ok(entries)
    }

    /// Adds items to the open transcript, to be stored with what follows.
    pub(super) async fn record(&self, items: Vec<TranscriptItem>) -> u64 {
        self.lock().await.transcript.as_mut().map_or(0, |open| open.add(items))
    }

    /// Whether another process wrote to the conversation while this run did.
    pub(super) async fn was_overtaken(&self) -> bool {
        self.lock().await.transcript.as_ref().is_some_and(|open| open.is_overtaken)
    }
}

impl Inner {
    async fn read_transcript(
        &self,
        conversation: Conversation,
    ) -> Result<(Vec<TranscriptEntry>, u64), TranscriptError> {
        let (mut entries, mut bytes) = (Vec::new(), 0);
        let mut range = TranscriptRange::Uncovered;
        loop {
            let query = TranscriptQuery {
                conversation: conversation.clone(),
                range,
                kind: None,
                limit: TRANSCRIPT_PAGE,
                max_bytes: TRANSCRIPT_READ_MAX_BYTES - bytes,
            };
            let page = self.transcripts.read(&query).await?;
            for row in page.rows {
                bytes += row.item.body.as_str().len();
                if bytes >= TRANSCRIPT_READ_MAX_BYTES {
                    return Err(TranscriptError::TooLong);
                }
                range = TranscriptRange::After(row.seq);
                entries.push(TranscriptEntry::try_from(row)?);
            }
            if !page.has_more {
                return Ok((entries, page.end));
            }
        }
    }

    /// Refuses a narrowed caller a conversation of which another one said a part: the model would tell it.
    async fn check_scope(
        &self,
        log: &TaskLog,
        narrowing: &str,
        entries: &[TranscriptEntry],
    ) -> Result<(), TranscriptError> {
        let compactions = entries.iter().filter_map(|entry| match &entry.body {
            TranscriptBody::Compacted(compaction) => Some(&**compaction),
            _ => None,
        });
        // Of a task whose number is not known nobody can say who began it.
        if compactions.clone().any(|compaction| compaction.has_more_tasks) {
            return Err(TranscriptError::Foreign);
        }
        let covered = compactions.flat_map(|compaction| compaction.tasks.iter().map(|covered| covered.task));
        let tasks = entries.iter().map(|entry| entry.task).chain(covered);
        let others: HashSet<_> = tasks.filter(|task| *task != log.id()).collect();
        for task in others {
            match self.store.scope(task).await {
                Ok(scope) if scope.as_deref() == Some(narrowing) => {}
                Ok(_) | Err(StoreError::NotFound) => return Err(TranscriptError::Foreign),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;

//! Transcripts in SQLite: a row for each conversation, and a row for each item. Items are written in the transaction of
//! their task. `read.rs` reads them, `delete.rs` deletes those of conversations that are over.

use openfang_types::ids::{Owner, TaskId};
use rusqlite::{Row, params};

use super::columns::{count, get, labels_text, name, signed};
use super::write::{execute, find};
use crate::sqlite::batch::{Batch, Counter};
use crate::sqlite::{Sqlite, damaged};
use crate::{
    Conversation, StoreError, StoreFuture, TranscriptItem, TranscriptPage, TranscriptQuery, TranscriptStore,
    TranscriptWrite,
};

pub(super) use delete::{delete_idle, delete_with_last_task};

mod delete;
mod read;

/// The transcripts of a database.
pub(in crate::sqlite) struct SqliteTranscripts {
    sqlite: Sqlite,
}

impl SqliteTranscripts {
    pub(in crate::sqlite) const fn new(sqlite: Sqlite) -> Self {
        Self { sqlite }
    }
}

impl TranscriptStore for SqliteTranscripts {
    fn read<'a>(&'a self, query: &'a TranscriptQuery) -> StoreFuture<'a, TranscriptPage> {
        let query = query.clone();
        self.sqlite.read_within(query.max_bytes, move |connection| read::page(connection, &query))
    }
}

/// The row of a conversation.
#[derive(Clone, Copy)]
struct Head {
    n: i64,
    /// The sequence number of the last item.
    seq: u64,
    /// The newest summary stands for the items up to here.
    covered: u64,
}

const HEAD: &str = "SELECT n, seq, covered FROM transcripts WHERE owner = ?1 AND context_id = ?2 AND agent = ?3";

fn key(conversation: &Conversation) -> [&str; 3] {
    [conversation.owner.as_str(), conversation.context_id.as_str(), conversation.agent.as_str()]
}

fn head(row: &Row<'_>) -> Result<Head, StoreError> {
    Ok(Head { n: get(row, 0)?, seq: count(row, 1)?, covered: count(row, 2)? })
}

/// Items to be appended, as columns.
pub(super) struct NewItems {
    write: TranscriptWrite,
    /// The labels of each item.
    labels: Vec<String>,
    bytes: usize,
}

/// Where items are appended.
pub(super) struct TranscriptEnd {
    conversation: Conversation,
    /// None if they are the first.
    head: Option<Head>,
}

impl NewItems {
    pub(super) fn of(write: TranscriptWrite) -> Result<Self, StoreError> {
        let labels: Vec<String> = write.items.iter().map(|item| labels_text(&item.labels)).collect::<Result<_, _>>()?;
        let bodies = write.items.iter().map(|item| item.body.as_str().len());
        let bytes = bodies.chain(labels.iter().map(String::len)).sum();
        Ok(Self { write, labels, bytes })
    }

    /// The size of the items, as it is counted.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Where the items go; none if there are none. A conflict if the writer has not read the transcript to its end.
    pub(super) fn place(
        &self,
        batch: &Batch<'_>,
        conversation: impl FnOnce() -> Result<Conversation, StoreError>,
    ) -> Result<Option<TranscriptEnd>, StoreError> {
        if self.write.items.is_empty() {
            return Ok(None);
        }
        let conversation = conversation()?;
        let head = find(batch, HEAD, key(&conversation), head)?;
        if let Some(Head { n, seq, .. }) = head {
            let sql = "SELECT 1 FROM transcript_items WHERE transcript = ?1 AND seq > ?2 LIMIT 1";
            if find(batch, sql, [n, signed(seq)], |_| Ok(()))?.is_some() {
                let what = format!("a transcript with entries after its last one, {seq} ({conversation})");
                return Err(damaged(&what));
            }
        }
        if self.write.is_stale(head.map_or(0, |head| head.seq)) {
            return Err(StoreError::Conflict);
        }
        Ok(Some(TranscriptEnd { conversation, head }))
    }

    /// Appends the items of a task.
    pub(super) fn append(
        &self,
        batch: &mut Batch<'_>,
        place: &TranscriptEnd,
        task: TaskId,
        at: i64,
    ) -> Result<(), StoreError> {
        let end = place.head.map_or(0, |head| head.seq);
        let transcript = self.update_head(batch, place, at)?;
        for ((item, labels), seq) in self.write.items.iter().zip(&self.labels).zip(end + 1..) {
            let sql =
                "INSERT INTO transcript_items (transcript, seq, task, turn, kind, covers, tokens, at, labels, body)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
            let values = params![
                transcript,
                signed(seq),
                task.as_uuid().into_bytes(),
                item.turn,
                item.kind.as_str(),
                item.covers.map(signed),
                item.tokens.map(signed),
                at,
                labels,
                item.body.as_str(),
            ];
            execute(batch, sql, values)?;
        }
        let conversations = i64::from(place.head.is_none());
        batch.change(&place.conversation.owner, Counter::Transcripts, conversations, signed(self.bytes));
        Ok(())
    }

    /// Moves the end of the transcript. Says which row it is.
    fn update_head(&self, batch: &Batch<'_>, place: &TranscriptEnd, at: i64) -> Result<i64, StoreError> {
        let end = place.head.map_or(0, |head| head.seq);
        let seq = signed(end + self.write.items.len() as u64);
        let covered = self
            .write
            .items
            .iter()
            .zip(end..)
            .filter_map(|(item, before)| covered(item, before))
            .last();
        match place.head {
            Some(Head { n, .. }) => {
                let sql =
                    "UPDATE transcripts SET seq = ?2, covered = coalesce(?3, covered), changed_at = ?4 WHERE n = ?1";
                execute(batch, sql, params![n, seq, covered, at])?;
                Ok(n)
            }
            None => {
                let sql = "INSERT INTO transcripts (owner, context_id, agent, seq, covered, created_at, changed_at)
                           VALUES (?1, ?2, ?3, ?4, coalesce(?5, 0), ?6, ?6)";
                let [owner, context, agent] = key(&place.conversation);
                execute(batch, sql, params![owner, context, agent, seq, covered, at])?;
                Ok(batch.connection.last_insert_rowid())
            }
        }
    }
}

/// How far a summary covers what is before it. It never covers itself.
fn covered(item: &TranscriptItem, before: u64) -> Option<i64> {
    item.covers.map(|covers| signed(covers.min(before)))
}

/// The conversation of a task, by its row.
pub(super) fn conversation_of(batch: &Batch<'_>, owner: &Owner, task: i64) -> Result<Conversation, StoreError> {
    let sql = "SELECT agent, context_id FROM a2a_tasks WHERE n = ?1";
    let found = find(batch, sql, [task], |row| {
        Ok(Conversation { owner: owner.clone(), agent: name(row, 0)?, context_id: name(row, 1)? })
    })?;
    found.ok_or(StoreError::NotFound)
}

#[cfg(test)]
#[path = "transcripts_tests.rs"]
mod tests;

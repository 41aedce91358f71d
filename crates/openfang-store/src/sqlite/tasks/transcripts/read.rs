//! Reads items. A row that is missing or damaged is an error that names it.

use openfang_types::ids::TaskId;
use rusqlite::{Connection, Row, params};

use super::{HEAD, Head, head, key};
use crate::sqlite::tasks::columns::{count, get, labels, signed, text, time, uuid};
use crate::sqlite::tasks::read::each;
use crate::sqlite::{damaged, unavailable};
use crate::transcripts::PageFiller;
use crate::{
    Conversation, ItemBody, StoreError, TranscriptItem, TranscriptKind, TranscriptPage, TranscriptQuery,
    TranscriptRange, TranscriptRow,
};

/// The sequence numbers to read, and the next one that must be there.
struct Walk {
    after: u64,
    before: u64,
    next: u64,
    is_backwards: bool,
}

impl Walk {
    fn of(range: TranscriptRange, head: Head) -> Self {
        let forwards =
            |after: u64| Self { after, before: u64::MAX, next: after.saturating_add(1), is_backwards: false };
        match range {
            TranscriptRange::Uncovered => forwards(head.covered),
            TranscriptRange::After(after) => forwards(after),
            TranscriptRange::Before(before) => {
                Self { after: 0, before, next: before.saturating_sub(1).min(head.seq), is_backwards: true }
            }
        }
    }

    /// Whether all items up to the end of the range were seen.
    const fn is_over(&self, head: Head) -> bool {
        if self.is_backwards { self.next == 0 } else { self.next > head.seq }
    }

    fn step(&mut self) {
        self.next = if self.is_backwards { self.next.saturating_sub(1) } else { self.next.saturating_add(1) };
    }
}

pub(super) fn sql(is_backwards: bool) -> String {
    let order = if is_backwards { "DESC" } else { "ASC" };
    format!(
        "SELECT seq, task, turn, kind, covers, tokens, at, labels, octet_length(body), body FROM transcript_items
         WHERE transcript = ?1 AND seq > ?2 AND seq < ?3 AND (?4 IS NULL OR kind = ?4) ORDER BY seq {order}"
    )
}

pub(super) fn page(connection: &Connection, query: &TranscriptQuery) -> Result<TranscriptPage, StoreError> {
    let conversation = &query.conversation;
    let Some(head) = each(connection, HEAD, key(conversation), head)?.pop() else {
        return Ok(TranscriptPage::default());
    };
    // A summary never covers itself, so something is always left.
    if head.covered >= head.seq.max(1) {
        return Err(damaged(&format!("a transcript that is covered to its end ({conversation})")));
    }
    let mut walk = Walk::of(query.range, head);
    let mut filler = PageFiller::of(query, head.seq);
    let mut statement = connection.prepare_cached(&sql(walk.is_backwards)).map_err(unavailable)?;
    let kind = query.kind.map(TranscriptKind::as_str);
    let values = params![head.n, signed(walk.after), signed(walk.before), kind];
    let mut rows = statement.query(values).map_err(unavailable)?;
    let is_whole = loop {
        let Some(row) = rows.next().map_err(unavailable)? else { break walk.is_over(head) };
        let seq: u64 = count(row, 0)?;
        if kind.is_none() && seq != walk.next {
            break false;
        }
        if !filler.has_room(count(row, 8)?) {
            break true;
        }
        filler.push(item(row, seq).map_err(|fault| unreadable(conversation, seq, &fault))?);
        walk.step();
    };
    if kind.is_none() && !is_whole {
        return Err(missing(conversation, walk.next));
    }
    Ok(filler.page())
}

fn item(row: &Row<'_>, seq: u64) -> Result<TranscriptRow, StoreError> {
    let kind = TranscriptKind::from_word(text(row, 3)?).ok_or_else(|| damaged("an unknown kind"))?;
    let item = TranscriptItem {
        turn: count(row, 2)?,
        kind,
        covers: optional_count(row, 4)?,
        tokens: optional_count(row, 5)?,
        labels: labels(row, 7)?,
        body: ItemBody::stored(text(row, 9)?.to_owned()),
    };
    Ok(TranscriptRow { seq, task: TaskId::from_uuid(uuid(row, 1)?), at: time(row, 6)?, item })
}

fn optional_count(row: &Row<'_>, column: usize) -> Result<Option<u64>, StoreError> {
    get::<Option<i64>>(row, column)?.map(|_| count(row, column)).transpose()
}

fn missing(conversation: &Conversation, seq: u64) -> StoreError {
    damaged(&format!("a transcript without its entry {seq} ({conversation})"))
}

fn unreadable(conversation: &Conversation, seq: u64, fault: &StoreError) -> StoreError {
    damaged(&format!("entry {seq} of a transcript that cannot be read ({conversation}: {fault})"))
}

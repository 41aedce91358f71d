//! Checks the transcripts: every entry from the first to the last can be read, and each belongs to a conversation.

use rusqlite::{Connection, Row};
use serde::de::IgnoredAny;

use super::{Finding, Report, TOLD, has_column};
use crate::TranscriptKind;

/// The statement for the bytes of transcripts; empty for earlier versions of the schema, which have none.
pub(super) fn bytes(connection: &Connection) -> rusqlite::Result<&'static str> {
    Ok(if is_there(connection)? {
        "UNION ALL SELECT owner, 'transcripts', 0, octet_length(body) + octet_length(labels)
         FROM transcript_items JOIN transcripts t ON t.n = transcript"
    } else {
        ""
    })
}

fn is_there(connection: &Connection) -> rusqlite::Result<bool> {
    has_column(connection, "transcript_items", "body")
}

pub(super) fn check(connection: &Connection, report: &mut Report) -> rusqlite::Result<()> {
    if !is_there(connection)? {
        return Ok(());
    }
    entries(connection, report)?;
    without_tasks(connection, report)?;
    without_transcript(connection, report)
}

/// A transcript and how far its entries are right.
struct Walk {
    n: i64,
    end: i64,
    covered: i64,
    seen: i64,
    is_wrong: bool,
    names: [String; 3],
}

impl Walk {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        let names = [row.get(3)?, row.get(4)?, row.get(5)?];
        Ok(Self { n: row.get(0)?, end: row.get(1)?, covered: row.get(2)?, seen: 0, is_wrong: false, names })
    }

    fn entry(&mut self, row: &Row<'_>) -> rusqlite::Result<()> {
        // A transcript without entries has one row too.
        let Some(seq) = row.get::<_, Option<i64>>(6)? else { return Ok(()) };
        self.is_wrong |= seq != self.seen + 1 || !is_readable(row)?;
        self.seen += i64::from(!self.is_wrong);
        Ok(())
    }

    /// A summary never covers itself, so it stands behind what is covered.
    fn finding(self) -> Option<Finding> {
        let is_wrong = self.is_wrong || self.seen != self.end || self.covered < 0 || self.covered >= self.end.max(1);
        let [owner, agent, context] = self.names;
        let seq = self.seen.min(self.end).max(0).cast_unsigned() + 1;
        is_wrong.then_some(Finding::Transcript { owner, agent, context, seq })
    }
}

fn is_readable(row: &Row<'_>) -> rusqlite::Result<bool> {
    let text = |column| row.get_ref(column).map(|value| value.as_str().ok());
    let is_json = |text: &str| serde_json::from_str::<IgnoredAny>(text).is_ok();
    let is_known = |word: &str| TranscriptKind::from_word(word).is_some();
    let are_numbers_right: bool = row.get(10)?;
    let are_texts_right =
        text(7)?.is_some_and(is_known) && text(8)?.is_some_and(is_json) && text(9)?.is_some_and(is_json);
    Ok(are_numbers_right && are_texts_right)
}

/// Whether the numbers and the id of an entry are such that it can be read.
const NUMBERS: &str = "typeof(i.task) = 'blob' AND length(i.task) = 16 AND typeof(i.at) = 'integer'
     AND typeof(i.turn) = 'integer' AND i.turn BETWEEN 0 AND 4294967295
     AND typeof(coalesce(i.covers, 0)) = 'integer' AND coalesce(i.covers, 0) >= 0
     AND typeof(coalesce(i.tokens, 0)) = 'integer' AND coalesce(i.tokens, 0) >= 0";

fn entries(connection: &Connection, report: &mut Report) -> rusqlite::Result<()> {
    let sql = format!(
        "SELECT t.n, t.seq, t.covered, t.owner, t.agent, t.context_id, i.seq, i.kind, i.labels, i.body, {NUMBERS}
         FROM transcripts t LEFT JOIN transcript_items i ON i.transcript = t.n ORDER BY t.n, i.seq"
    );
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut walk: Option<Walk> = None;
    let mut wrong = Vec::new();
    while let Some(row) = rows.next()? {
        let n: i64 = row.get(0)?;
        if walk.as_ref().is_none_or(|walk| walk.n != n) {
            wrong.extend(walk.replace(Walk::of(row)?).and_then(Walk::finding));
        }
        if let Some(walk) = &mut walk {
            walk.entry(row)?;
        }
    }
    wrong.extend(walk.and_then(Walk::finding));
    wrong.truncate(TOLD);
    report.findings.append(&mut wrong);
    Ok(())
}

fn without_tasks(connection: &Connection, report: &mut Report) -> rusqlite::Result<()> {
    let sql = "SELECT owner, agent, context_id FROM transcripts t
               WHERE NOT EXISTS (SELECT 1 FROM a2a_tasks
                                 WHERE owner = t.owner AND context_id = t.context_id AND agent = t.agent) LIMIT ?1";
    let mut statement = connection.prepare(sql)?;
    let lost = statement.query_map([TOLD as i64], |row| {
        Ok(Finding::NoConversation { owner: row.get(0)?, agent: row.get(1)?, context: row.get(2)? })
    })?;
    report.findings.extend(lost.collect::<rusqlite::Result<Vec<_>>>()?);
    Ok(())
}

fn without_transcript(connection: &Connection, report: &mut Report) -> rusqlite::Result<()> {
    let sql = "SELECT count(*) FROM transcript_items
               WHERE NOT EXISTS (SELECT 1 FROM transcripts WHERE n = transcript)";
    let entries: i64 = connection.query_row(sql, [], |row| row.get(0))?;
    if entries > 0 {
        report.findings.push(Finding::NoTranscript { entries: entries.cast_unsigned() });
    }
    Ok(())
}

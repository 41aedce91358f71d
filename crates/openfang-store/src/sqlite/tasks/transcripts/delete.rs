//! Deletes the transcripts of conversations that are over: with the last task, or when nothing happened for a while.

use openfang_types::ids::Owner;
use rusqlite::Connection;

use crate::StoreError;
use crate::sqlite::Sqlite;
use crate::sqlite::batch::{Batch, Counter};
use crate::sqlite::tasks::columns::{IS_LIVE, get, name};
use crate::sqlite::tasks::read::each;
use crate::sqlite::tasks::write::{execute, find};

/// Transcripts read at a time, most of which may be in use.
const LOOKED_AT: i64 = 1_000;
/// Transcripts in one transaction.
const CHUNK: usize = 64;
/// Bytes in one transaction; a single transcript may have more.
const CHUNK_BYTES: i64 = 1024 * 1024;

/// Deletes the transcript of a conversation that has no task any more. Says how many bytes it had, if there was one.
pub(in crate::sqlite::tasks) fn delete_with_last_task(
    batch: &mut Batch<'_>,
    owner: &Owner,
    [agent, context]: [&str; 2],
) -> Result<Option<i64>, StoreError> {
    let key = [owner.as_str(), context, agent];
    let sql = "SELECT n FROM transcripts WHERE owner = ?1 AND context_id = ?2 AND agent = ?3";
    let Some(n) = find(batch, sql, key, |row| get(row, 0))? else { return Ok(None) };
    let sql = "SELECT 1 FROM a2a_tasks INDEXED BY a2a_tasks_by_context
               WHERE owner = ?1 AND context_id = ?2 AND agent = ?3 LIMIT 1";
    let other_task = find(batch, sql, key, |_| Ok(()))?;
    match other_task {
        Some(()) => Ok(None),
        None => delete(batch, n, owner).map(Some),
    }
}

/// Transcripts in which nothing happened for long enough, and where to continue.
struct IdleTranscripts {
    found: Vec<i64>,
    next: Option<i64>,
}

/// Deletes all transcripts that did not change since the cutoff and that no running task needs. Says how many.
pub(in crate::sqlite::tasks) async fn delete_idle(sqlite: &Sqlite, cutoff: i64) -> Result<usize, StoreError> {
    let mut deleted = 0;
    let mut place = Some(0);
    while let Some(after) = place {
        let idle = sqlite.read(move |connection| idle(connection, after, cutoff)).await?;
        place = idle.next;
        if !idle.found.is_empty() {
            deleted += sqlite.write(move |batch| delete_unused(batch, &idle.found, cutoff)).await?;
        }
    }
    Ok(deleted)
}

/// A transcript is not older than its first item, and rows are in the order of their making. So the walk ends at the first
/// one that was made after the cutoff.
fn idle(connection: &Connection, after: i64, cutoff: i64) -> Result<IdleTranscripts, StoreError> {
    let sql = "SELECT n, changed_at, created_at FROM transcripts WHERE n > ?1 ORDER BY n LIMIT ?2";
    let rows = each(connection, sql, [after, LOOKED_AT], |row| {
        Ok((get::<i64>(row, 0)?, get::<i64>(row, 1)? < cutoff, get::<i64>(row, 2)? < cutoff))
    })?;
    let (mut found, mut bytes, mut next) = (Vec::new(), 0, None);
    for (n, is_idle, is_old) in rows {
        if !is_old {
            return Ok(IdleTranscripts { found, next: None });
        }
        next = Some(n);
        if is_idle && owner_of_unused(connection, n, cutoff)?.is_some() {
            bytes += weight(connection, n)?;
            found.push(n);
        }
        if found.len() == CHUNK || bytes >= CHUNK_BYTES {
            break;
        }
    }
    Ok(IdleTranscripts { found, next })
}

/// A task may have been continued since the transcripts were found.
fn delete_unused(batch: &mut Batch<'_>, found: &[i64], cutoff: i64) -> Result<usize, StoreError> {
    let mut deleted = 0;
    for n in found {
        if let Some(owner) = owner_of_unused(batch.connection, *n, cutoff)? {
            delete(batch, *n, &owner)?;
            deleted += 1;
        }
    }
    Ok(deleted)
}

/// The owner of a transcript, unless it changed after the cutoff or a task of its conversation is running.
fn owner_of_unused(connection: &Connection, n: i64, cutoff: i64) -> Result<Option<Owner>, StoreError> {
    Ok(each(connection, &unused_sql(), [n, cutoff], |row| name(row, 0))?.pop())
}

pub(super) fn unused_sql() -> String {
    format!(
        "SELECT owner FROM transcripts t WHERE n = ?1 AND changed_at < ?2
         AND NOT EXISTS (SELECT 1 FROM a2a_tasks INDEXED BY a2a_tasks_by_context
                         WHERE owner = t.owner AND context_id = t.context_id AND agent = t.agent AND {IS_LIVE})"
    )
}

/// Deletes a transcript. Says how many bytes it had.
fn delete(batch: &mut Batch<'_>, n: i64, owner: &Owner) -> Result<i64, StoreError> {
    let bytes = weight(batch.connection, n)?;
    execute(batch, "DELETE FROM transcript_items WHERE transcript = ?1", [n])?;
    execute(batch, "DELETE FROM transcripts WHERE n = ?1", [n])?;
    batch.change(owner, Counter::Transcripts, -1, -bytes);
    Ok(bytes)
}

/// The bytes that a transcript counts for.
fn weight(connection: &Connection, n: i64) -> Result<i64, StoreError> {
    let sql = "SELECT coalesce(sum(octet_length(body) + octet_length(labels)), 0) FROM transcript_items
               WHERE transcript = ?1";
    Ok(each(connection, sql, [n], |row| get(row, 0))?.pop().unwrap_or_default())
}

//! Approvals in SQLite.

use jiff::Timestamp;
use openfang_types::ids::{ApprovalId, Owner, TaskId, TraceId};
use openfang_types::limits::{
    APPROVAL_KEPT, APPROVAL_LASTS, APPROVALS_KEPT_PER_OWNER, APPROVALS_LISTED, RESULTS_DELETED_AT_ONCE,
};
use openfang_types::principal::Door;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use uuid::Uuid;

use super::tasks::columns::{get, json, labels, labels_text, name, nanos, nanos_before, signed, text, time, uuid};
use super::{Sqlite, damaged, unavailable};
use crate::approvals::{Approval, ApprovalState, ApprovalStore, Asker, CallDigests, Decision};
use crate::{StoreError, StoreFuture};

/// The approvals of a database.
pub(super) struct SqliteApprovals {
    sqlite: Sqlite,
}

impl SqliteApprovals {
    pub(super) const fn new(sqlite: Sqlite) -> Self {
        Self { sqlite }
    }
}

impl ApprovalStore for SqliteApprovals {
    fn request(&self, asked: Approval) -> StoreFuture<'_, Approval> {
        self.sqlite.write_new(move |batch| request(batch.connection, asked))
    }

    fn get<'a>(
        &'a self,
        owner: Option<&'a Owner>,
        id: ApprovalId,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Approval>> {
        let owner = owner.cloned();
        self.sqlite.read(move |connection| {
            let found = find(connection, id)?;
            let is_theirs = |known: &Approval| owner.as_ref().is_none_or(|owner| known.owner == *owner);
            Ok(found.filter(is_theirs).map(|known| known.at(now)))
        })
    }

    fn list<'a>(&'a self, owner: Option<&'a Owner>, now: Timestamp) -> StoreFuture<'a, Vec<Approval>> {
        let owner = owner.cloned();
        self.sqlite.read(move |connection| {
            let found = select(connection, owner.as_ref(), APPROVALS_LISTED)?;
            Ok(found.into_iter().map(|known| known.at(now)).collect())
        })
    }

    fn decide<'a>(&'a self, id: ApprovalId, digest: &'a str, decision: Decision) -> StoreFuture<'a, Approval> {
        let digest = digest.to_owned();
        self.sqlite.write(move |batch| {
            let mut known = find(batch.connection, id)?.ok_or(StoreError::NotFound)?;
            let until = decision.at + APPROVAL_LASTS;
            known.decide(&digest, decision, until)?;
            update(batch.connection, &known)?;
            Ok(known)
        })
    }

    fn use_up<'a>(
        &'a self,
        owner: &'a Owner,
        id: ApprovalId,
        call: &'a CallDigests,
        now: Timestamp,
    ) -> StoreFuture<'a, Approval> {
        let (owner, call) = (owner.clone(), call.clone());
        self.sqlite.write(move |batch| {
            let known = find(batch.connection, id)?.filter(|known| known.owner == owner);
            let mut known = known.ok_or(StoreError::NotFound)?;
            known.use_up(&call, now)?;
            update(batch.connection, &known)?;
            Ok(known)
        })
    }

    fn find_approved<'a>(
        &'a self,
        (owner, scope): (&'a Owner, &'a str),
        call: &'a CallDigests,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<ApprovalId>> {
        let (owner, scope, call) = (owner.clone(), scope.to_owned(), call.clone());
        self.sqlite.read(move |connection| {
            let found = select(connection, Some(&owner), APPROVALS_KEPT_PER_OWNER)?;
            let fits = |known: &Approval| {
                known.task.is_none() && known.scope() == Some(&*scope) && known.is_approved_for(&call, now)
            };
            Ok(found.into_iter().find(fits).map(|known| known.id))
        })
    }

    fn delete_expired(&self, now: Timestamp) -> StoreFuture<'_, usize> {
        Box::pin(async move {
            let mut deleted = 0;
            loop {
                let some = self.sqlite.write(move |batch| delete(batch.connection, now)).await?;
                deleted += some;
                if some < RESULTS_DELETED_AT_ONCE {
                    return Ok(deleted);
                }
            }
        })
    }
}

const COLUMNS: &str = "id, owner, task, agent, trace, `door`, tool, arguments, call_digest, definition_digest, labels, \
                       reason, at_machine, made, expires, state, decided, asker";

fn request(connection: &Connection, asked: Approval) -> Result<Approval, StoreError> {
    let now = asked.made;
    let known = select(connection, Some(&asked.owner), APPROVALS_KEPT_PER_OWNER)?;
    let waiting: Vec<&Approval> = known.iter().filter(|known| known.waits(now)).collect();
    if let Some(same) = waiting.iter().find(|known| known.is_same_call(&asked)) {
        return Ok((*same).clone());
    }
    asked.check_room(&waiting)?;
    if known.len() >= APPROVALS_KEPT_PER_OWNER {
        let over = known.iter().rev().find(|known| !known.is_open(now)).map(|known| known.id);
        if let Some(over) = over {
            let statement = connection.prepare_cached("DELETE FROM approvals WHERE id = ?1");
            statement
                .and_then(|mut statement| statement.execute([over.as_uuid().into_bytes()]))
                .map_err(unavailable)?;
        }
    }
    insert(connection, &asked)?;
    Ok(asked)
}

fn insert(connection: &Connection, new: &Approval) -> Result<(), StoreError> {
    let sql = format!(
        "INSERT INTO approvals ({COLUMNS})
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)"
    );
    let values = params![
        new.id.as_uuid().into_bytes(),
        new.owner.as_str(),
        new.task.map(|task| task.as_uuid().into_bytes()),
        new.agent.as_ref().map(|agent| agent.as_str()),
        new.trace.as_uuid().into_bytes(),
        new.door.as_str(),
        new.tool.as_str(),
        new.arguments,
        new.digests.call,
        new.digests.definition,
        labels_text(&new.labels)?,
        new.reason,
        new.at_machine,
        nanos(new.made),
        nanos(new.expires),
        new.state.as_str(),
        new.decided.as_ref().map(json).transpose()?,
        new.asker.as_ref().map(json).transpose()?,
    ];
    let statement = connection.prepare_cached(&sql);
    statement.and_then(|mut statement| statement.execute(values)).map_err(unavailable)?;
    Ok(())
}

fn update(connection: &Connection, changed: &Approval) -> Result<(), StoreError> {
    let values = params![
        changed.id.as_uuid().into_bytes(),
        changed.state.as_str(),
        nanos(changed.expires),
        changed.decided.as_ref().map(json).transpose()?,
    ];
    let sql = "UPDATE approvals SET state = ?2, expires = ?3, decided = ?4 WHERE id = ?1";
    let statement = connection.prepare_cached(sql);
    statement.and_then(|mut statement| statement.execute(values)).map_err(unavailable)?;
    Ok(())
}

fn find(connection: &Connection, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM approvals WHERE id = ?1");
    let mut statement = connection.prepare_cached(&sql).map_err(unavailable)?;
    let found = statement.query_row([id.as_uuid().into_bytes()], |row| Ok(approval(row))).optional();
    found.map_err(unavailable)?.transpose()
}

/// Some approvals, the newest first.
fn select(connection: &Connection, owner: Option<&Owner>, limit: usize) -> Result<Vec<Approval>, StoreError> {
    let of_owner = if owner.is_some() { "owner = ?1" } else { "?1 IS NULL" };
    let sql = format!("SELECT {COLUMNS} FROM approvals WHERE {of_owner} ORDER BY made DESC, id DESC LIMIT ?2");
    let mut statement = connection.prepare_cached(&sql).map_err(unavailable)?;
    let mut rows = statement.query(params![owner.map(Owner::as_str), signed(limit)]).map_err(unavailable)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(unavailable)? {
        found.push(approval(row)?);
    }
    Ok(found)
}

fn approval(row: &Row<'_>) -> Result<Approval, StoreError> {
    let decided: Option<String> = get(row, 16)?;
    let decided: Option<Decision> = decided
        .map(|text| serde_json::from_str(&text).map_err(|_| damaged("a decision that is none")))
        .transpose()?;
    let asker: Option<String> = get(row, 17)?;
    let asker: Option<Asker> = asker
        .map(|text| serde_json::from_str(&text).map_err(|_| damaged("a caller that is none")))
        .transpose()?;
    let agent: Option<String> = get(row, 3)?;
    let task: Option<[u8; 16]> = get(row, 2)?;
    Ok(Approval {
        id: ApprovalId::from_uuid(uuid(row, 0)?),
        owner: name(row, 1)?,
        asker,
        task: task.map(|task| TaskId::from_uuid(Uuid::from_bytes(task))),
        agent: agent
            .map(|agent| agent.parse().map_err(|_| damaged("an agent that is none")))
            .transpose()?,
        trace: TraceId::from_uuid(uuid(row, 4)?),
        door: Door::from_word(text(row, 5)?).ok_or_else(|| damaged("an interface that is none"))?,
        tool: name(row, 6)?,
        arguments: get(row, 7)?,
        digests: CallDigests { call: get(row, 8)?, definition: get(row, 9)? },
        labels: labels(row, 10)?,
        reason: get(row, 11)?,
        at_machine: get(row, 12)?,
        made: time(row, 13)?,
        expires: time(row, 14)?,
        state: ApprovalState::from_word(text(row, 15)?).ok_or_else(|| damaged("a state that is none"))?,
        decided,
    })
}

/// Deletes some of what has expired long ago. Says how many.
fn delete(connection: &Connection, now: Timestamp) -> Result<usize, StoreError> {
    let sql = "DELETE FROM approvals
               WHERE id IN (SELECT id FROM approvals WHERE expires <= ?1 LIMIT ?2)";
    let at = params![nanos_before(now, APPROVAL_KEPT), signed(RESULTS_DELETED_AT_ONCE)];
    let statement = connection.prepare_cached(sql);
    statement.and_then(|mut statement| statement.execute(at)).map_err(unavailable)
}

#[cfg(test)]
#[path = "approvals_tests.rs"]
mod tests;

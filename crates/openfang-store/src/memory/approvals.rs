//! Approvals in a map.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use openfang_types::ids::{ApprovalId, Owner};
use openfang_types::limits::{APPROVAL_KEPT, APPROVAL_LASTS, APPROVALS_KEPT_PER_OWNER, APPROVALS_LISTED};

use crate::approvals::{Approval, ApprovalStore, CallDigests, Decision};
use crate::{StoreError, StoreFuture};

/// Approvals that are kept in memory.
#[derive(Default)]
pub struct MemoryApprovals {
    approvals: Mutex<HashMap<ApprovalId, Approval>>,
}

impl MemoryApprovals {
    fn lock(&self) -> MutexGuard<'_, HashMap<ApprovalId, Approval>> {
        self.approvals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn insert(&self, asked: Approval) -> Result<Approval, StoreError> {
        let mut approvals = self.lock();
        let now = asked.made;
        let of_owner: Vec<&Approval> = approvals.values().filter(|known| known.owner == asked.owner).collect();
        let waiting: Vec<&Approval> = of_owner.iter().copied().filter(|known| known.waits(now)).collect();
        if let Some(known) = waiting.iter().find(|known| known.is_same_call(&asked)) {
            return Ok((*known).clone());
        }
        asked.check_room(&waiting)?;
        if of_owner.len() >= APPROVALS_KEPT_PER_OWNER {
            let over = of_owner.iter().filter(|known| !known.is_open(now)).min_by_key(|known| known.made);
            let over = over.map(|known| known.id);
            over.and_then(|id| approvals.remove(&id));
        }
        approvals.insert(asked.id, asked.clone());
        Ok(asked)
    }

    fn change(
        &self,
        id: ApprovalId,
        owner: Option<&Owner>,
        change: impl FnOnce(&mut Approval) -> Result<(), StoreError>,
    ) -> Result<Approval, StoreError> {
        let mut approvals = self.lock();
        let known = approvals
            .get_mut(&id)
            .filter(|known| owner.is_none_or(|owner| known.owner == *owner))
            .ok_or(StoreError::NotFound)?;
        change(known)?;
        Ok(known.clone())
    }
}

impl ApprovalStore for MemoryApprovals {
    fn request(&self, asked: Approval) -> StoreFuture<'_, Approval> {
        let done = self.insert(asked);
        Box::pin(async move { done })
    }

    fn get<'a>(
        &'a self,
        owner: Option<&'a Owner>,
        id: ApprovalId,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<Approval>> {
        let found = self
            .lock()
            .get(&id)
            .filter(|known| owner.is_none_or(|owner| known.owner == *owner))
            .cloned();
        Box::pin(async move { Ok(found.map(|known| known.at(now))) })
    }

    fn list<'a>(&'a self, owner: Option<&'a Owner>, now: Timestamp) -> StoreFuture<'a, Vec<Approval>> {
        let mut found: Vec<Approval> = self
            .lock()
            .values()
            .filter(|known| owner.is_none_or(|owner| known.owner == *owner))
            .map(|known| known.clone().at(now))
            .collect();
        found.sort_by_key(|known| std::cmp::Reverse((known.made, known.id)));
        found.truncate(APPROVALS_LISTED);
        Box::pin(async move { Ok(found) })
    }

    fn decide<'a>(&'a self, id: ApprovalId, digest: &'a str, decision: Decision) -> StoreFuture<'a, Approval> {
        let until = decision.at + APPROVAL_LASTS;
        let done = self.change(id, None, |known| known.decide(digest, decision, until));
        Box::pin(async move { done })
    }

    fn use_up<'a>(
        &'a self,
        owner: &'a Owner,
        id: ApprovalId,
        call: &'a CallDigests,
        now: Timestamp,
    ) -> StoreFuture<'a, Approval> {
        let done = self.change(id, Some(owner), |known| known.use_up(call, now));
        Box::pin(async move { done })
    }

    fn find_approved<'a>(
        &'a self,
        (owner, scope): (&'a Owner, &'a str),
        call: &'a CallDigests,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<ApprovalId>> {
        let is_own = |known: &&Approval| known.owner == *owner && known.scope() == Some(scope);
        let found = self
            .lock()
            .values()
            .filter(is_own)
            .find(|known| known.task.is_none() && known.is_approved_for(call, now))
            .map(|known| known.id);
        Box::pin(async move { Ok(found) })
    }

    fn delete_expired(&self, now: Timestamp) -> StoreFuture<'_, usize> {
        let mut approvals = self.lock();
        let before = approvals.len();
        approvals.retain(|_, known| known.expires + APPROVAL_KEPT > now);
        let deleted = before - approvals.len();
        Box::pin(async move { Ok(deleted) })
    }
}

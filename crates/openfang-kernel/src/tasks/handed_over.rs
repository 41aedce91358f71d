//! Calls whose callers were given the task in the place of the result, or wait no more. The same call joins its task
//! again, until somebody has fetched what came of it: clients repeat what took too long.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use openfang_types::ids::{Owner, TaskId};
use openfang_types::limits::{DETACHED_PER_OWNER, HANDED_OVER_PER_OWNER, HANDED_OVER_TIME};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Incoming;

/// One call, whoever repeats it: the same words of the same caller to the same agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct CallKey([u8; 32]);

impl CallKey {
    /// The call that a message is.
    pub(super) fn of(incoming: &Incoming) -> Option<Self> {
        let (principal, message) = (&incoming.caller.principal, &incoming.message);
        let said = (&message.parts, &message.context_id, &message.task_id);
        let call = (principal.owner(), principal.begun_as(), &incoming.agent, said);
        let bytes = serde_json::to_vec(&call).ok()?;
        Some(Self(Sha256::digest(bytes).into()))
    }
}

/// Why nobody waits for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parting {
    /// The caller has the task.
    Told,
    /// The caller waits no more, and knows of no task.
    Left,
}

/// A call that nobody waits for.
#[derive(Clone)]
pub(super) struct HandedCall {
    pub(super) owner: Owner,
    pub(super) task: TaskId,
    /// Cancels the work on it.
    pub(super) cancel: CancellationToken,
    pub(super) parting: Parting,
}

/// The calls of this process that nobody waits for.
#[derive(Default)]
pub(super) struct HandedOver {
    calls: Mutex<HashMap<CallKey, (HandedCall, Instant)>>,
}

impl HandedOver {
    /// The task of the same call, if nobody has fetched what came of it.
    pub(super) fn find(&self, key: CallKey) -> Option<HandedCall> {
        let calls = self.lock();
        let (call, since) = calls.get(&key)?;
        (since.elapsed() < HANDED_OVER_TIME).then(|| call.clone())
    }

    /// Remembers a call. Says whether its work may go on: only so many of one owner go on without anybody knowing of them.
    pub(super) fn keep(&self, key: CallKey, call: HandedCall) -> bool {
        let mut calls = self.lock();
        calls.retain(|_, (_, since)| since.elapsed() < HANDED_OVER_TIME);
        let of_owner = || calls.iter().filter(|(known, (held, _))| held.owner == call.owner && **known != key);
        let left = of_owner().filter(|(_, (held, _))| held.parting == Parting::Left).count();
        if call.parting == Parting::Left && left >= DETACHED_PER_OWNER {
            return false;
        }
        let oldest = of_owner().min_by_key(|(_, (_, since))| *since).map(|(key, _)| *key);
        if of_owner().count() >= HANDED_OVER_PER_OWNER
            && let Some(oldest) = oldest
        {
            calls.remove(&oldest);
        }
        calls.insert(key, (call, Instant::now()));
        true
    }

    /// Somebody has what came of a task: the same call is a new one from now on.
    pub(super) fn fetched(&self, task: TaskId) {
        self.lock().retain(|_, (call, _)| call.task != task);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<CallKey, (HandedCall, Instant)>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "handed_over_tests.rs"]
mod tests;

//! Calls that wait because their server asked something: until the answer comes, or for a while.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openfang_types::jsonrpc::{ErrorObject, code};
use openfang_types::limits::{MCP_PARKED, MCP_PARKED_PER_OWNER, MCP_PARKED_TTL, UPSTREAM_TASK_MAX};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::pool::Lease;
use super::relay::WatchedTask;
use super::{ClientError, Ongoing, OutgoingRequest, Question};

/// A call that waits.
pub(super) struct Waiting {
    pub(super) owner: String,
    pub(super) ongoing: Ongoing,
    pub(super) lease: Lease,
    /// What was asked, by the key that the answer comes under.
    pub(super) questions: Vec<(String, Question)>,
    /// The task that the call became.
    pub(super) task: Option<WatchedTask>,
}

impl Waiting {
    /// The call became a task: from now on its result is waited for. The server may ask meanwhile, if somebody can be asked.
    pub(super) fn wait_for(&mut self, task: String, takes_questions: bool) -> Result<(), ClientError> {
        let connection = self.ongoing.connection().clone();
        let asked = OutgoingRequest {
            takes_questions,
            is_alone: true,
            ..super::relay::about_task("tasks/result", &task, UPSTREAM_TASK_MAX)
        };
        self.ongoing = connection.begin(asked)?;
        self.task = Some(WatchedTask::new(connection, task));
        Ok(())
    }

    /// The task that the call became has ended.
    pub(super) fn task_is_over(&mut self) {
        if let Some(task) = self.task.take() {
            task.settle();
        }
    }
}

/// The calls that wait.
#[derive(Default)]
pub(super) struct Parked {
    calls: Arc<Mutex<HashMap<u64, Waiting>>>,
    next: AtomicU64,
    /// Makes numbers that do not count: a client reads the one of its call.
    numbers: RandomState,
}

impl Parked {
    /// Puts a call aside; the number is for [`Parked::take`].
    pub(super) fn put(
        &self,
        waiting: Waiting,
        tracker: &TaskTracker,
        stop: &CancellationToken,
    ) -> Result<u64, ClientError> {
        let number = self.numbers.hash_one(self.next.fetch_add(1, Ordering::Relaxed));
        let mut calls = self.lock();
        let owned = calls.values().filter(|other| other.owner == waiting.owner).count();
        if calls.len() >= MCP_PARKED || owned >= MCP_PARKED_PER_OWNER {
            // The server has begun: this is no call that may be made again.
            let why = "too many calls wait for an answer; answer or cancel one";
            return Err(ClientError::Refused(ErrorObject::new(code::INTERNAL_ERROR, why)));
        }
        calls.insert(number, waiting);
        drop(calls);
        let (calls, stop) = (Arc::downgrade(&self.calls), stop.clone());
        tracker.spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = sleep(MCP_PARKED_TTL) => {}
            }
            if let Some(calls) = calls.upgrade() {
                let late = calls.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
                drop(late);
            }
        });
        Ok(number)
    }

    /// Takes a call of this owner back.
    pub(super) fn take(&self, number: u64, owner: &str) -> Option<Waiting> {
        let mut calls = self.lock();
        if calls.get(&number)?.owner != owner {
            return None;
        }
        calls.remove(&number)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Waiting>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

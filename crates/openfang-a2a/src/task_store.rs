//! A bounded in-memory task map for programs that embed this crate. OpenFang itself stores its tasks in
//! `openfang-store`.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use openfang_types::limits;

pub use crate::dialect::{A2aArtifact, A2aMessage, A2aPart, A2aTask, A2aTaskStatus};

/// Why a task was not inserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotInserted {
    /// The store is full, and running tasks are not evicted.
    #[error("the store is full of running tasks; wait for one to end or cancel one")]
    Full,
    /// A task with that id exists already.
    #[error("a task with this id already exists")]
    Known,
}

/// Tasks by id. A full store evicts the task that ended first. A task that has ended never changes.
#[derive(Debug)]
pub struct A2aTaskStore {
    inner: Mutex<Inner>,
    max_tasks: usize,
}

#[derive(Debug, Default)]
struct Inner {
    tasks: HashMap<String, A2aTask>,
    /// The ids of ended tasks, in the order in which they ended.
    ended: VecDeque<String>,
}

impl Default for A2aTaskStore {
    fn default() -> Self {
        Self::new(limits::A2A_TASK_STORE)
    }
}

impl A2aTaskStore {
    /// A store for at most `max_tasks` tasks.
    pub fn new(max_tasks: usize) -> Self {
        Self { inner: Mutex::default(), max_tasks }
    }

    /// Inserts a task. A full store evicts the task that ended first.
    pub fn insert(&self, task: A2aTask) -> Result<(), NotInserted> {
        let mut inner = self.inner();
        if inner.tasks.contains_key(&task.id) {
            return Err(NotInserted::Known);
        }
        while inner.tasks.len() >= self.max_tasks {
            let oldest = inner.ended.pop_front().ok_or(NotInserted::Full)?;
            inner.tasks.remove(&oldest);
        }
        if task.status.is_terminal() {
            inner.ended.push_back(task.id.clone());
        }
        inner.tasks.insert(task.id.clone(), task);
        Ok(())
    }

    /// A copy of the task.
    pub fn get(&self, task_id: &str) -> Option<A2aTask> {
        self.inner().tasks.get(task_id).cloned()
    }

    /// Sets the status of a task. False if the task does not exist or has ended.
    pub fn update_status(&self, task_id: &str, status: A2aTaskStatus) -> bool {
        self.inner().change(task_id, |task| task.status = status)
    }

    /// Completes a task with a response and artifacts. False if the task does not exist or has ended.
    pub fn complete(&self, task_id: &str, response: A2aMessage, artifacts: Vec<A2aArtifact>) -> bool {
        self.inner().change(task_id, |task| {
            task.status = A2aTaskStatus::Completed;
            task.messages.push(response);
            task.artifacts.extend(artifacts);
        })
    }

    /// Fails a task with an error message. False if the task does not exist or has ended.
    pub fn fail(&self, task_id: &str, error_message: A2aMessage) -> bool {
        self.inner().change(task_id, |task| {
            task.status = A2aTaskStatus::Failed;
            task.messages.push(error_message);
        })
    }

    /// Cancels a task. False if the task does not exist or has ended.
    pub fn cancel(&self, task_id: &str) -> bool {
        self.update_status(task_id, A2aTaskStatus::Cancelled)
    }

    /// A poisoned lock is safe to use: every change is a single call of `change`.
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn change(&mut self, task_id: &str, change: impl FnOnce(&mut A2aTask)) -> bool {
        let Some(task) = self.tasks.get_mut(task_id).filter(|task| !task.status.is_terminal()) else {
            return false;
        };
        change(task);
        if task.status.is_terminal() {
            self.ended.push_back(task_id.to_owned());
        }
        true
    }
}

#[cfg(test)]
#[path = "task_store_tests.rs"]
mod tests;

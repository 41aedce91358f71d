//! Cancel: the work is stopped first, then that is written down. Whoever was faster wins, and the answer says who.

use std::sync::Arc;

use openfang_store::{RemotePhase, RemoteRecord, StoreError, TaskRecord};
use openfang_types::event::EventBody;
use openfang_types::ids::TaskId;
use openfang_types::limits::{CANCEL_ELSEWHERE, CANCEL_GRACE};
use openfang_types::taint::Labels;
use openfang_types::task::{Task, TaskState};

use crate::tasks::{Inner, Tasks};
use crate::{Caller, KernelError};

impl Tasks {
    /// Stops the work, then records it. A task that has ended stays as it is.
    pub(crate) async fn cancel_task(&self, caller: &Caller, id: TaskId) -> Result<Task, KernelError> {
        let record = self.head(caller, id).await?;
        let state = record.task.status.state;
        if state.is_terminal() {
            return Err(KernelError::NotCancelable { id, state });
        }
        if !state.is_interrupted() && record.node != self.inner.node_id {
            self.inner.store.request_cancel(&record.owner, id).await?;
            let _ = tokio::time::timeout(CANCEL_ELSEWHERE, self.settled(caller, id)).await;
        }
        loop {
            // Looked at each time: a message may have continued the task meanwhile.
            if let Some(live) = self.inner.live.get(id) {
                live.cancel.cancel();
                // The run writes its own end; if it cannot, the write below does.
                let _ = tokio::time::timeout(CANCEL_GRACE, live.done.cancelled()).await;
            }
            let record = self.head(caller, id).await?;
            match record.task.status.state {
                TaskState::Canceled => {
                    return match self.task(caller, id).await {
                        // It is canceled, and the answer says so; only what was said before is left out.
                        Err(KernelError::TooMuch) => Ok(record.task),
                        task => task,
                    };
                }
                state if state.is_terminal() => return Err(KernelError::NotCancelable { id, state }),
                _ => {}
            }
            // In a task of its own: a caller who leaves in the middle leaves no agent untold.
            let recording = self.inner.life.tracker().spawn(record_cancel(Arc::clone(&self.inner), record));
            let written = recording.await.unwrap_or(Err(StoreError::Conflict));
            match written {
                Ok(()) | Err(StoreError::Conflict | StoreError::NotAllowed { .. }) => {
                    self.inner.live.take_left(id);
                    self.inner.live.drop_waiting(id);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Writes that a task is canceled, and tells the agent that works on it elsewhere.
async fn record_cancel(inner: Arc<Inner>, record: TaskRecord) -> Result<(), StoreError> {
    let id = record.task.id;
    let status = inner.status(&record.task, TaskState::Canceled, Vec::new());
    let agent = inner.remote_agent(&record.task.agent);
    let remote = match &agent {
        Some(_) => inner.remotes.get(id).await?,
        None => None,
    };
    let remote = remote.map(|remote| RemoteRecord { phase: RemotePhase::Canceling, ..remote });
    let events = vec![EventBody::Status(status)];
    inner.append_with(&record, events, Labels::none(), remote.clone()).await?;
    if let (Some(agent), Some(remote)) = (agent, remote) {
        inner.tell_of_cancel(&agent, id, remote);
    }
    Ok(())
}

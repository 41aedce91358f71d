//! Cancel: the work is stopped first, then that is written down. Whoever was faster wins, and the answer says who.

use openfang_store::{RemotePhase, RemoteRecord, StoreError};
use openfang_types::event::EventBody;
use openfang_types::ids::TaskId;
use openfang_types::limits::{CANCEL_ELSEWHERE, CANCEL_GRACE};
use openfang_types::taint::Labels;
use openfang_types::task::{Task, TaskState};

use crate::{Caller, Kernel, KernelError};

impl Kernel {
    /// Stops the work, then records it. A task that has ended stays as it is.
    pub async fn cancel_task(&self, caller: &Caller, id: TaskId) -> Result<Task, KernelError> {
        let record = self.head(caller, id).await?;
        let state = record.task.status.state;
        if state.is_terminal() {
            return Err(KernelError::NotCancelable { id, state });
        }
        if !state.is_interrupted() && record.node != self.inner.tasks.node_id {
            self.inner.stores.tasks.request_cancel(&record.owner, id).await?;
            let _ = tokio::time::timeout(CANCEL_ELSEWHERE, self.settled(caller, id)).await;
        }
        loop {
            // Looked at each time: a message may have continued the task meanwhile.
            if let Some(live) = self.inner.tasks.live.get(id) {
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
            let status = self.inner.status(&record.task, TaskState::Canceled, Vec::new());
            let agent = self.inner.remote_agent(&record.task.agent);
            let remote = match &agent {
                Some(_) => self.inner.stores.remotes.get(id).await?,
                None => None,
            };
            let remote = remote.map(|remote| RemoteRecord { phase: RemotePhase::Canceling, ..remote });
            let events = vec![EventBody::Status(status)];
            let written = self.inner.append_with(&record, events, Labels::none(), remote.clone()).await;
            if let (Ok(_), Some(agent), Some(remote)) = (&written, agent, remote) {
                self.inner.tell_of_cancel(&agent, id, remote);
            }
            match written {
                Ok(_) | Err(StoreError::Conflict | StoreError::NotAllowed { .. }) => {
                    self.inner.tasks.live.take_left(id);
                    self.inner.tasks.live.drop_waiting(id);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

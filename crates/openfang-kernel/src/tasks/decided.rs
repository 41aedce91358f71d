//! Tasks that wait for a decision on a call: the decision is their next message.

use std::sync::Arc;

use openfang_store::{Approval, StoreError, TaskRecord};
use openfang_types::event::EventBody;
use openfang_types::ids::TaskId;
use openfang_types::principal::Principal;
use openfang_types::task::{Part, TaskState};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::tasks::Tasks;
use crate::tasks::log::TaskLog;
use crate::tasks::run::Plan;
use crate::{Caller, KernelError};

impl Tasks {
    /// Goes on with a task after a person has decided on a call of it. A task that does not wait any more stays as it is.
    pub(crate) async fn go_on_after_decision(
        &self,
        caller: &Caller,
        decided: &Approval,
        id: TaskId,
    ) -> Result<(), KernelError> {
        let record = self.inner.store.get(&decided.owner, id).await?;
        let agent = self.inner.settings().agents().get(&record.task.agent).cloned();
        let (TaskState::InputRequired, Some(agent)) = (record.task.status.state, agent) else { return Ok(()) };
        let principal = self.narrowed_as_begun(self.who_goes_on(caller, &record), id).await?;
        // The turn that asked is the newest one, so an older record of the question knows its door as well.
        let door = self.door_as_begun(id, decided.door).await?;
        let message = self.message_of_parts(None, vec![part(decided)]);
        let status = self.inner.status(&record.task, TaskState::Working, Vec::new());
        let events = vec![EventBody::Message(message.clone()), EventBody::Status(status)];
        let stamp = match self.inner.append(&record, events.clone(), caller.entry_labels(), None).await {
            // Somebody sent a message or canceled the task this very moment.
            Err(StoreError::Conflict | StoreError::NotAllowed { .. }) => return Ok(()),
            stamp => stamp?,
        };
        let TaskRecord { mut task, owner, labels, trace, .. } = record;
        events.iter().for_each(|event| task.apply(event));
        let caller = Caller { principal: Arc::new(principal), door, trace, hops: 0, room: None };
        let log = Arc::new(TaskLog::resume(Arc::clone(&self.inner), owner, task, labels, stamp));
        let cancel = CancellationToken::new();
        let plan = Plan { caller, agent, log, message, told: 0, is_resumed: false, granted: None, cancel };
        drop(self.begin_run(id, plan).detach());
        Ok(())
    }

    /// The owner of the task: whoever decided, or for the task of somebody else the rights that its owner has now.
    fn who_goes_on(&self, caller: &Caller, record: &TaskRecord) -> Principal {
        if *caller.principal.owner() == record.owner {
            return (*caller.principal).clone();
        }
        self.resumed_as(&record.owner, &record.labels)
    }
}

fn part(decided: &Approval) -> Part {
    Part::data(json!({ "approval": decided.id, "decision": decided.state.as_str(), "digest": decided.digests.call }))
}

//! The rules every store applies before a write, under the lock or in the transaction of the write.

use openfang_types::event::EventBody;
use openfang_types::task::TaskState;

use crate::StoreError;

/// The state and version of a task that is about to change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredState {
    /// The state it is in.
    pub(crate) state: TaskState,
    /// The number of writes so far.
    pub(crate) version: u64,
}

impl StoredState {
    /// The state after an append that leads through `states` and was decided at version `read`. After the end of the
    /// task the error says so, regardless of the version.
    pub(crate) fn append(self, read: u64, states: &[TaskState]) -> Result<TaskState, StoreError> {
        let state = follow(self.state, states)?;
        self.refuse_ended()?;
        self.refuse_stale(read)?;
        Ok(state)
    }

    /// Whether a node may take over a task it read at version `read`.
    pub(crate) fn claim(self, read: u64) -> Result<(), StoreError> {
        self.refuse_stale(read)?;
        self.refuse_ended()
    }

    const fn refuse_ended(self) -> Result<(), StoreError> {
        if self.state.is_terminal() {
            return Err(StoreError::NotAllowed { from: self.state, to: self.state });
        }
        Ok(())
    }

    const fn refuse_stale(self, read: u64) -> Result<(), StoreError> {
        if self.version == read { Ok(()) } else { Err(StoreError::Conflict) }
    }
}

/// The states that the events lead through, in order.
pub(crate) fn states(events: &[EventBody]) -> Vec<TaskState> {
    events.iter().filter_map(EventBody::state).collect()
}

/// The last state, if each may follow the one before.
pub(crate) fn follow(from: TaskState, states: &[TaskState]) -> Result<TaskState, StoreError> {
    states.iter().try_fold(from, |from, to| {
        if from.can_become(*to) { Ok(*to) } else { Err(StoreError::NotAllowed { from, to: *to }) }
    })
}

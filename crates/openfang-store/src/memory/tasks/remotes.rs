//! The remote side of tasks in memory. Each belongs to its task and is removed with it.

use openfang_types::ids::{AgentName, ContextId, NodeId, Owner, TaskId};
use openfang_types::task::TaskState;

use super::{Entry, MemoryTasks, ready};
use crate::{Conversation, RemotePhase, RemoteRecord, RemoteStore, StoreFuture};

impl Entry {
    /// Takes over what a write says of the remote side. The end of the task removes it.
    pub(super) fn update_remote(&mut self, remote: Option<RemoteRecord>) {
        let context = remote.as_ref().and_then(|remote| remote.remote_context.clone());
        self.remote_context = context.or_else(|| self.remote_context.take());
        let is_ended = self.record.task.status.state.is_terminal();
        match remote {
            Some(remote) if !is_ended || remote.outlives_the_task() => self.remote = Some(remote),
            Some(_) | None if is_ended => self.remote = None,
            Some(_) | None => {}
        }
    }
}

impl RemoteStore for MemoryTasks {
    fn get(&self, task: TaskId) -> StoreFuture<'_, Option<RemoteRecord>> {
        ready(Ok(self.lock().entries.get(&task).and_then(|entry| entry.remote.clone())))
    }

    fn context<'a>(
        &'a self,
        owner: &'a Owner,
        agent: &'a AgentName,
        context: &'a ContextId,
    ) -> StoreFuture<'a, Option<ContextId>> {
        let inner = self.lock();
        let (owner, agent, context_id) = (owner.clone(), agent.clone(), context.clone());
        let conversation = Conversation { owner, agent, context_id };
        let named = inner
            .entries
            .values()
            .filter(|entry| entry.remote_context.is_some() && conversation.has(&entry.record));
        let latest = named.max_by_key(|entry| entry.record.task.id);
        ready(Ok(latest.and_then(|entry| entry.remote_context.clone())))
    }

    fn untold_cancels<'a>(&'a self, living: &'a [NodeId]) -> StoreFuture<'a, Vec<(TaskId, RemoteRecord)>> {
        let inner = self.lock();
        let of_the_dead = inner.entries.values().filter(|entry| !living.contains(&entry.record.node));
        let untold = |entry: &Entry| {
            let remote = entry.remote.clone().filter(|remote| remote.phase == RemotePhase::Canceling)?;
            Some((entry.record.task.id, remote))
        };
        let mut found: Vec<(TaskId, RemoteRecord)> = of_the_dead.filter_map(untold).collect();
        found.sort_unstable_by_key(|(task, _)| *task);
        ready(Ok(found))
    }

    fn abandoned_sign_ins<'a>(&'a self, living: &'a [NodeId]) -> StoreFuture<'a, Vec<(Owner, TaskId, RemoteRecord)>> {
        let inner = self.lock();
        let of_the_dead = inner.entries.values().filter(|entry| !living.contains(&entry.record.node));
        let waiting = of_the_dead.filter(|entry| entry.record.task.status.state == TaskState::AuthRequired);
        let asked = |entry: &Entry| {
            let remote = entry.remote.clone().filter(|remote| remote.phase == RemotePhase::Asked)?;
            Some((entry.record.owner.clone(), entry.record.task.id, remote))
        };
        let mut found: Vec<_> = waiting.filter_map(asked).collect();
        found.sort_unstable_by_key(|(_, task, _)| *task);
        ready(Ok(found))
    }

    fn forget(&self, task: TaskId) -> StoreFuture<'_, ()> {
        if let Some(entry) = self.lock().entries.get_mut(&task) {
            entry.remote = None;
        }
        ready(Ok(()))
    }
}

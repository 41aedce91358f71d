//! Messages and tasks: the names under which the room of the tasks is asked.

use openfang_a2a::answer::TaskPushConfig;
use openfang_a2a::operation::PushNotificationConfig;
use openfang_types::agent::search::{AgentQuery, FoundAgent};
use openfang_types::api::Reply;
use openfang_types::ids::{AgentName, MessageId, TaskId};
use openfang_types::task::{Message, Origin, Part, Task};

use super::Kernel;
use crate::tasks::list::{ListedTasks, TaskFilter};
use crate::tasks::push_hints::{PushProof, PushRefusal};
use crate::tasks::streams::{Follow, FollowedReply, StreamRoom, TaskStream};
use crate::{Caller, KernelError};

impl Kernel {
    /// The agents that a caller may talk to and that match a query, best first.
    pub fn found_agents(&self, caller: &Caller, query: &AgentQuery) -> Vec<FoundAgent> {
        self.parts.tasks.found_agents(&caller.principal, query)
    }

    /// Whether somebody waits for this push of an agent of another server, and it may come now.
    pub fn check_push(&self, id: &str, proof: PushProof<'_>) -> Result<(), PushRefusal> {
        self.parts.tasks.check_push(id, proof)
    }

    /// Takes a push that was checked: whoever follows the task looks at it.
    pub fn take_push(&self, id: &str, proof: PushProof<'_>, body: &[u8]) -> Result<(), PushRefusal> {
        self.parts.tasks.take_push(id, proof, body)
    }

    /// A user's message from a text, with a fresh id.
    pub fn message(&self, text: impl Into<String>) -> Message {
        self.parts.tasks.message(text)
    }

    /// A message from parts, with the sender's id or a fresh one.
    pub fn message_of_parts(&self, id: Option<MessageId>, parts: Vec<Part>) -> Message {
        self.parts.tasks.message_of_parts(id, parts)
    }

    /// Sends a message and returns as soon as its task is stored. A message with a task id continues that task.
    pub async fn submit(&self, caller: &Caller, agent: &AgentName, message: Message) -> Result<Reply, KernelError> {
        self.parts.tasks.submit(caller, agent, message).await
    }

    /// Sends a message and waits until the task has ended or asks for something.
    pub async fn send_message(
        &self,
        caller: &Caller,
        agent: &AgentName,
        message: Message,
    ) -> Result<Reply, KernelError> {
        self.parts.tasks.send_message(caller, agent, message).await
    }

    /// Sends a message and follows its task until the task has ended or asks for something. The stream begins with the task
    /// as it was before the work on the message, however soon the work ends.
    pub async fn send_and_follow(
        &self,
        caller: &Caller,
        agent: &AgentName,
        message: Message,
    ) -> Result<FollowedReply, KernelError> {
        self.parts.tasks.send_and_follow(caller, agent, message).await
    }

    pub async fn task(&self, caller: &Caller, id: TaskId) -> Result<Task, KernelError> {
        self.parts.tasks.task(caller, id).await
    }

    /// One's own tasks, latest change first. A page of large ones is shorter than was asked for.
    pub async fn tasks(&self, caller: &Caller, filter: TaskFilter) -> Result<ListedTasks, KernelError> {
        self.parts.tasks.tasks(caller, filter).await
    }

    /// Stops the work, then records it. A task that has ended stays as it is.
    pub async fn cancel_task(&self, caller: &Caller, id: TaskId) -> Result<Task, KernelError> {
        self.parts.tasks.cancel_task(caller, id).await
    }

    /// Room for one more stream of this caller's. Whoever begins something in order to follow it asks for it first, or
    /// what was begun would go on when there is none.
    pub fn room_for_a_stream(&self, caller: &Caller) -> Result<StreamRoom, KernelError> {
        self.parts.tasks.room_for_a_stream(caller)
    }

    /// Follows one's own task.
    pub async fn follow(&self, caller: &Caller, id: TaskId, from: Follow) -> Result<TaskStream, KernelError> {
        self.parts.tasks.follow(caller, id, from).await
    }

    /// Like [`Kernel::follow`], in room that was there before.
    pub async fn follow_in(&self, room: StreamRoom, id: TaskId, from: Follow) -> Result<TaskStream, KernelError> {
        self.parts.tasks.follow_in(room, id, from).await
    }

    /// Posts what happens to one's own task from now on. A configuration of the same id is replaced, and goes on where
    /// it was.
    pub async fn set_push(
        &self,
        caller: &Caller,
        id: TaskId,
        push: PushNotificationConfig,
        origin: Origin,
    ) -> Result<TaskPushConfig, KernelError> {
        self.parts.tasks.set_push(caller, id, push, origin).await
    }

    /// The push configurations of one's own task, those made first first.
    pub async fn pushes(&self, caller: &Caller, id: TaskId) -> Result<Vec<TaskPushConfig>, KernelError> {
        self.parts.tasks.pushes(caller, id).await
    }

    /// What became of the last delivery of each push configuration, by its id; none before the first.
    pub async fn push_outcomes(
        &self,
        caller: &Caller,
        id: TaskId,
    ) -> Result<Vec<(String, Option<String>)>, KernelError> {
        self.parts.tasks.push_outcomes(caller, id).await
    }

    /// Takes a push configuration away; one that is not there is no error.
    pub async fn delete_push(&self, caller: &Caller, id: TaskId, config: &str) -> Result<(), KernelError> {
        self.parts.tasks.delete_push(caller, id, config).await
    }

    /// The room itself, for tests that look into it.
    #[cfg(test)]
    pub(crate) fn task_room(&self) -> &crate::tasks::Tasks {
        &self.parts.tasks
    }
}

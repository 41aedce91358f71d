//! Messages that are sent again: a sender that did not hear an answer may ask once more, and the work is done once.

use openfang_store::ResendKey;
use openfang_types::ids::TaskId;
use openfang_types::task::{Message, Origin, Role};

use crate::tasks::Incoming;
use crate::tasks::Inner;

impl Inner {
    /// What a message has again when it is sent again: its sender's id and what it says, because some senders use an id
    /// for several messages.
    pub(crate) fn resend_key(&self, task: TaskId, message: &Message) -> ResendKey {
        if !self.settings().config().resends {
            return ResendKey::unique(task);
        }
        // Parts are data of ours: there is nothing in them that JSON cannot say.
        let said = serde_json::to_vec(&message.parts).unwrap_or_default();
        ResendKey::new(message.message_id.as_str(), &said)
    }

    /// Whether a task has this very message already.
    pub(crate) fn is_resent(&self, history: &[Message], message: &Message) -> bool {
        let is_same = |said: &Message| {
            said.role == Role::User && said.message_id == message.message_id && said.parts == message.parts
        };
        self.settings().config().resends && history.iter().any(is_same)
    }

    /// Whether a message says once more what the last one said, in a dialect whose messages have no ids. Only of a task
    /// that has ended is that a message sent again: one that asks may get the same answer twice.
    pub(crate) fn is_repeated(&self, history: &[Message], incoming: &Incoming) -> bool {
        let is_nameless = matches!(incoming.origin, Origin::V01 | Origin::OpenFangA2a);
        let last = history.iter().rev().find(|said| said.role == Role::User);
        self.settings().config().resends && is_nameless && last.is_some_and(|said| said.parts == incoming.message.parts)
    }
}

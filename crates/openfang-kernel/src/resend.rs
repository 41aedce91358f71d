//! Messages that are sent again: a sender that did not hear an answer may ask once more, and the work is done once.

use std::fmt::Write as _;

use openfang_store::ResendKey;
use openfang_types::ids::TaskId;
use openfang_types::task::{Message, Role};
use sha2::{Digest as _, Sha256};

use crate::kernel::Inner;

/// Enough to tell messages apart that their sender calls by the same id.
const DIGEST_BYTES: usize = 8;

impl Inner {
    /// What a message has again when it is sent again: its sender's id and what it says, because some senders use an id
    /// for several messages.
    pub(crate) fn resend_key(&self, task: TaskId, message: &Message) -> ResendKey {
        if !self.config.resends {
            return ResendKey::new(task.to_string());
        }
        // Parts are data of ours: there is nothing in them that JSON cannot say.
        let said = serde_json::to_vec(&message.parts).unwrap_or_default();
        let mut key = message.message_id.to_string();
        key.push('#');
        for byte in Sha256::digest(said).iter().take(DIGEST_BYTES) {
            // Writing to a string cannot fail.
            let _ = write!(key, "{byte:02x}");
        }
        ResendKey::new(key)
    }

    /// Whether a task has this very message already.
    pub(crate) fn is_resent(&self, history: &[Message], message: &Message) -> bool {
        let is_same = |said: &Message| {
            said.role == Role::User && said.message_id == message.message_id && said.parts == message.parts
        };
        self.config.resends && history.iter().any(is_same)
    }
}

//! The messages that arrive for a task while a run works on it.
//!
//! The inbox is closed in the moment in which the run decides to end: a message is either heard by the run or refused,
//! and never taken in by a run that has ended.

use std::sync::{Mutex, MutexGuard, PoisonError};

use openfang_types::limits::INBOX_MESSAGES_MAX;
use openfang_types::taint::Labels;
use openfang_types::task::Message;
use tokio::sync::Notify;

/// The messages that wait for a run.
#[derive(Debug, Default)]
pub struct Inbox {
    waiting: Mutex<WaitingMessages>,
    interrupted: Notify,
}

#[derive(Debug, Default)]
struct WaitingMessages {
    messages: Vec<InboxMessage>,
    state: InboxState,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum InboxState {
    /// The run does not listen, or does not listen yet.
    #[default]
    Closed,
    Open,
}

/// A message that arrived while the run worked.
#[derive(Debug, Clone, PartialEq)]
pub struct InboxMessage {
    pub message: Message,
    /// The number of user messages of the task, this one included.
    pub number: usize,
    pub labels: Labels,
    /// Whether the answer that is under way is to be dropped.
    pub interrupts: bool,
}

impl Inbox {
    /// From now on messages are taken in.
    pub fn open(&self) {
        self.lock().state = InboxState::Open;
    }

    /// Puts a message in. False if the run does not listen, or too many wait already.
    pub fn put(&self, message: InboxMessage) -> bool {
        let interrupts = message.interrupts;
        {
            let mut waiting = self.lock();
            if waiting.state == InboxState::Closed || waiting.messages.len() >= INBOX_MESSAGES_MAX {
                return false;
            }
            waiting.messages.push(message);
        }
        if interrupts {
            self.interrupted.notify_one();
        }
        true
    }

    /// Takes out what waits, oldest first.
    pub fn take(&self) -> Vec<InboxMessage> {
        std::mem::take(&mut self.lock().messages)
    }

    /// Closes the inbox, unless a message waits. Says whether it is closed.
    pub fn close_if_empty(&self) -> bool {
        let mut waiting = self.lock();
        if waiting.messages.is_empty() {
            waiting.state = InboxState::Closed;
        }
        waiting.state == InboxState::Closed
    }

    /// From now on messages are refused.
    pub fn close(&self) {
        self.lock().state = InboxState::Closed;
    }

    /// Returns when a message waits that drops the answer under way.
    pub async fn interrupted(&self) {
        loop {
            // Before the look, or a message could be missed.
            let interrupted = self.interrupted.notified();
            if self.lock().messages.iter().any(|message| message.interrupts) {
                return;
            }
            interrupted.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, WaitingMessages> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "inbox_tests.rs"]
mod tests;

//! Sends a message in the way that an agent understands. A message is only sent in another way after the agent certainly did
//! nothing with the first.

use std::sync::Arc;

use super::agent::{Outgoing, RemoteAgent};
use super::call::Reply;
use super::discovery::Discovery;
use super::error::ClientError;
use super::interface::{Interface, with_other_slash};
use crate::dialect::Dialect;
use crate::operation::{HistoryLength, Operation, ReplyMode, SendMessage, TaskReference};
use crate::peer::PeerFault;

impl RemoteAgent {
    /// Sends a message in the ways that the interface has. Each way is only tried after the one before certainly had no
    /// effect.
    pub(super) async fn deliver(&self, discovery: &Discovery, outgoing: &Outgoing) -> Result<Reply, ClientError> {
        let interface = &discovery.interface;
        let mut refused = None;
        if discovery.streams() {
            match self.deliver_to(interface, outgoing, ReplyMode::Streaming).await {
                Err(error) if is_not_streamed(&error) => refused = Some(error),
                other => return other,
            }
        }
        // A task that waits for this message is only interesting after the agent has read it.
        let mode = if outgoing.task.is_some() { ReplyMode::Settled } else { ReplyMode::AtOnce };
        let sent = self.deliver_to(interface, outgoing, mode).await;
        let is_elsewhere =
            |error: &ClientError| error.refusal().is_some_and(|refusal| refusal.fault == PeerFault::NoEndpoint);
        let (Err(error), Some(url)) = (&sent, with_other_slash(&interface.url)) else { return sent };
        if !is_elsewhere(error) {
            return sent;
        }
        let other = Interface { url, ..interface.clone() };
        let again = self.deliver_to(&other, outgoing, mode).await;
        match again {
            Err(again) if again.refusal().is_some_and(|refusal| refusal.had_no_effect()) => {
                Err(refused.unwrap_or(again))
            }
            again => {
                self.remember(Discovery { interface: other, ..discovery.clone() });
                again
            }
        }
    }

    async fn deliver_to(
        &self,
        interface: &Interface,
        outgoing: &Outgoing,
        answer: ReplyMode,
    ) -> Result<Reply, ClientError> {
        let task = match (&outgoing.task, interface.dialect) {
            (Some(task), _) => Some(TaskReference::Existing(task.clone())),
            // The caller names the tasks of this version, so a message that got lost can be found again.
            (None, Dialect::V01 | Dialect::OpenFang) => {
                outgoing.message.message_id.as_str().parse().ok().map(TaskReference::ExistingOrNew)
            }
            (None, Dialect::V03 | Dialect::V03Proto | Dialect::V10) => None,
        };
        let sending = SendMessage {
            message: outgoing.message.clone(),
            task,
            accepted_output_modes: outgoing.accepted_output_modes.clone(),
            history: HistoryLength::default(),
            answer,
            push: outgoing.push.clone(),
        };
        let settings = self.settings();
        // An agent may wait with its answer until the work is done, whatever it is asked.
        let (first_byte, total) = match answer {
            ReplyMode::Streaming => (settings.timeout, None),
            ReplyMode::AtOnce | ReplyMode::Settled => (settings.idle.max(settings.timeout), Some(settings.total)),
        };
        self.call(interface, first_byte, total).perform(Operation::Send(Box::new(sending))).await
    }

    /// Finds another way to ask an agent that did not understand a request, at most once a minute.
    pub(super) async fn relearn(&self, failed: &Arc<Discovery>, error: &ClientError) -> Option<Arc<Discovery>> {
        error.refusal().filter(|refusal| refusal.had_no_effect())?;
        // Another request may have found the way meanwhile.
        if let Some(known) = self.known().filter(|known| known.interface != failed.interface) {
            return Some(known);
        }
        if !self.may_relearn() {
            return None;
        }
        self.rediscover(failed).await
    }
}

/// Whether an agent that was asked for a stream certainly did nothing.
fn is_not_streamed(error: &ClientError) -> bool {
    error
        .refusal()
        .is_some_and(|refusal| refusal.had_no_effect() || refusal.fault == PeerFault::Unsupported)
}

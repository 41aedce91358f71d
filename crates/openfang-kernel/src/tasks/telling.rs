//! What an answerer tells about its work, on its way to the log of the task; and the messages that arrive meanwhile, on
//! their way to the answerer.

use futures_util::future::BoxFuture;
use openfang_runtime::answerer::{EventSink, Inbox, InboxMessage, RunEvent, RunStopped};
use openfang_runtime::context::Run;
use openfang_runtime::transcript::{TranscriptEntry, TranscriptError};
use openfang_store::{RemoteRecord, TranscriptItem};
use openfang_types::event::EventBody;
use openfang_types::principal::Door;
use openfang_types::taint::Labels;
use openfang_types::task::{Message, Role};

use crate::tasks::log::{Closed, TaskLog};

/// The log as an answerer sees it: with the labels of its run.
pub(crate) struct Telling<'a> {
    pub(crate) log: &'a TaskLog,
    pub(crate) run: &'a Run,
    /// What narrows the caller.
    pub(crate) narrowing: &'a str,
}

impl EventSink for Telling<'_> {
    fn emit(&self, event: RunEvent) -> BoxFuture<'_, Result<(), RunStopped>> {
        Box::pin(async move { self.log.tell(event, &self.run.labels()).await.map_err(|_| RunStopped) })
    }

    fn emit_with_next(&self, event: RunEvent) -> BoxFuture<'_, ()> {
        Box::pin(async move { drop(self.log.add(event, &self.run.labels()).await) })
    }

    fn remember(&self, remote: RemoteRecord) -> BoxFuture<'_, ()> {
        Box::pin(self.log.remember(remote))
    }

    fn open_transcript(&self) -> BoxFuture<'_, Result<Vec<TranscriptEntry>, TranscriptError>> {
        Box::pin(self.log.open_transcript(self.narrowing))
    }

    fn record(&self, items: Vec<TranscriptItem>) -> BoxFuture<'_, u64> {
        Box::pin(self.log.record(items))
    }

    fn commit(&self) -> BoxFuture<'_, Result<(), RunStopped>> {
        Box::pin(async move {
            self.log.show_with(&self.run.labels()).await.map_err(|_| RunStopped)?;
            if self.log.was_overtaken().await { Err(RunStopped) } else { Ok(()) }
        })
    }

    fn inbox(&self) -> &Inbox {
        self.log.inbox()
    }
}

/// The member of a message's metadata that drops the answer under way.
const INTERRUPT: &str = "interrupt";

impl TaskLog {
    /// Takes in a message for the run that works on the task. False if the run does not listen any more. Whoever resumes the run
    /// takes nobody for a person after words of somebody who is none.
    pub(super) async fn hear(&self, message: &Message, labels: &Labels, door: Door) -> Result<bool, Closed> {
        let mut log = self.lock().await;
        if self.inner().is_resent(&log.task.history, message) {
            return Ok(true);
        }
        let said = log.task.history.iter().filter(|said| said.role == Role::User).count();
        let heard = InboxMessage {
            message: message.clone(),
            number: said + 1,
            labels: labels.clone(),
            interrupts: message.metadata.get(INTERRUPT).is_some_and(|value| *value == true),
        };
        if !self.inbox().put(heard) {
            return Ok(false);
        }
        log.labels.join(labels);
        log.heard_at = match door {
            Door::A2a | Door::Agent => Some(door),
            Door::Cli | Door::Rest | Door::Mcp => log.heard_at,
        };
        log.add(EventBody::Message(message.clone()));
        self.flush(&mut log).await.map(|()| true)
    }
}

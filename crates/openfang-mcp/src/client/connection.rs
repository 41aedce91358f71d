//! A conversation with a server, in a revision that both speak. Requests of it run concurrently.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use openfang_types::call::CallListener;
use openfang_types::jsonrpc::{ErrorObject, encode_error, encode_notification, encode_result};
use serde_json::value::RawValue;
use tokio::sync::broadcast;
use tokio_util::task::TaskTracker;

use super::abandoned::Abandoned;
use super::inbox::Inbox;
use super::ongoing::{Ongoing, Silent, Step};
use super::outgoing::said_of_us;
use super::slot::Expected;
use super::wire::{Outgoing, Wire};
use super::{ClientError, Notice, OutgoingRequest, Question, RawMembers, ServerFacts};
use crate::capabilities::ClientCapabilities;
use crate::revision::Revision;

/// A conversation. Cheap to clone; it ends when the last clone, and with it the wire, is gone.
#[derive(Clone)]
pub struct Connection {
    inner: Arc<Inner>,
}

struct Inner {
    wire: Arc<dyn Wire>,
    inbox: Arc<Inbox>,
    facts: ServerFacts,
    declared: ClientCapabilities,
    tracker: TaskTracker,
    /// What `_meta` of every request says.
    meta: RawMembers,
    /// Where requests are noted that nobody waits for any more.
    abandoned: Option<Abandoned>,
}

impl Connection {
    pub(super) fn new(
        wire: Arc<dyn Wire>,
        inbox: Arc<Inbox>,
        facts: ServerFacts,
        (declared, tracker): (ClientCapabilities, TaskTracker),
    ) -> Self {
        let meta = said_of_us(facts.revision, declared, false);
        let abandoned = Abandoned::of(&wire, &inbox, &tracker);
        Self { inner: Arc::new(Inner { wire, inbox, facts, declared, tracker, meta, abandoned }) }
    }

    /// Who the server is, and what it has.
    pub fn facts(&self) -> &ServerFacts {
        &self.inner.facts
    }

    /// The revision that is spoken.
    pub fn revision(&self) -> Revision {
        self.inner.facts.revision
    }

    /// What the server may ask for on this connection.
    pub fn declared(&self) -> ClientCapabilities {
        self.inner.declared
    }

    /// Makes a request and waits for its result.
    pub async fn request(
        &self,
        asked: OutgoingRequest<'_>,
        listener: &dyn CallListener,
    ) -> Result<Box<RawValue>, ClientError> {
        match self.begin(asked)?.advance(listener).await? {
            Step::Done(result) => Ok(result),
            Step::OutgoingRequest(_) => Err(ClientError::NotMcp("it asked where nobody can be asked".to_owned())),
        }
    }

    /// Makes a plain request and waits for its result.
    pub async fn ask(
        &self,
        method: &str,
        members: RawMembers,
        timeout: Duration,
    ) -> Result<Box<RawValue>, ClientError> {
        self.request(OutgoingRequest::new(method, members, timeout), &Silent).await
    }

    pub fn begin(&self, asked: OutgoingRequest<'_>) -> Result<Ongoing, ClientError> {
        let what = match asked.method {
            "subscriptions/listen" => Expected::End,
            _ if asked.takes_questions => Expected::Questions,
            _ if asked.is_alone => Expected::Lines,
            _ => Expected::Answer,
        };
        let (id, slot) = self.inner.inbox.expect(what)?;
        let timeout = asked.timeout;
        let outgoing = Outgoing {
            id,
            method: asked.method.into(),
            named: asked.named.map(Into::into),
            body: asked.encoded(id, self.said_with(&asked)),
            mirrored: asked.mirrored,
        };
        let exchange = Arc::clone(&self.inner.wire).request(outgoing);
        Ok(Ongoing::new(self.clone(), id, slot, exchange, timeout))
    }

    /// Tells the server something.
    pub async fn notify(&self, method: &str, members: RawMembers) -> Result<(), ClientError> {
        self.tell(encode_notification(method, members.object().as_deref()).into()).await
    }

    pub async fn reply(&self, question: &Question, answer: Result<&RawValue, ErrorObject>) -> Result<(), ClientError> {
        self.tell(match answer {
            Ok(result) => encode_result(&question.id, result).into(),
            Err(error) => encode_error(Some(&question.id), &error).into(),
        })
        .await
    }

    /// Hears what the server says of its own accord.
    pub fn notices(&self) -> broadcast::Receiver<Notice> {
        self.inner.inbox.notices()
    }

    /// Why the conversation is over, if it is.
    pub fn ended(&self) -> Option<ClientError> {
        self.inner.inbox.ended()
    }

    /// Returns when the conversation is over, and says why.
    pub async fn over(&self) -> ClientError {
        self.inner.inbox.over().await;
        self.ended().unwrap_or(ClientError::SessionGone)
    }

    /// The last lines of the server's stderr.
    pub fn last_words(&self) -> Vec<String> {
        self.inner.wire.last_words()
    }

    /// Ends the conversation, and says why to whoever waits.
    pub fn close(&self, why: &str) {
        self.inner.inbox.end(&ClientError::Lost(why.to_owned()));
        self.inner.wire.close();
    }

    /// Listens for what the server says of its own accord; ends when it does, or soon.
    pub(super) async fn listen(&self) {
        Arc::clone(&self.inner.wire).listen().await;
    }

    /// What outlives whoever asked for it runs here.
    pub(super) fn tracker(&self) -> &TaskTracker {
        &self.inner.tracker
    }

    pub(super) fn inbox(&self) -> &Inbox {
        &self.inner.inbox
    }

    /// Nobody waits for a request any more: the task of the conversation tells the server to stop.
    pub(super) fn abandon(&self, id: i64) {
        self.inner.inbox.forget(id);
        if let Some(abandoned) = &self.inner.abandoned {
            abandoned.note(id);
        }
    }

    /// What `_meta` says about us with this request.
    fn said_with(&self, asked: &OutgoingRequest<'_>) -> RawMembers {
        let declared = asked.declared.unwrap_or(self.inner.declared);
        match declared != self.inner.declared || asked.takes_tasks {
            true => said_of_us(self.revision(), declared, asked.takes_tasks),
            false => self.inner.meta.clone(),
        }
    }

    async fn tell(&self, message: Bytes) -> Result<(), ClientError> {
        Arc::clone(&self.inner.wire).tell(message).await
    }
}

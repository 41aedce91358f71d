//! Streamable HTTP: a request is a POST, its answer a document or a stream. Both eras; what differs are the headers, and
//! that a legacy server may keep a session.

use std::future::ready;
use std::pin::Pin;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use openfang_egress::http::{Patience, Request, Response};
use openfang_egress::pace::SharedPace;
use openfang_types::limits::{MCP_GOODBYE, MCP_LISTEN, MCP_REPLIES};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::super::inbox::{FrameOutcome, Inbox};
use super::super::wire::{Carried, Outgoing, Wire};
use super::super::{ClientError, Connecting};
use super::answer::{self, Kind};
use super::conversation::{Head, HttpConversation};
use super::site::Site;
use super::{follow, standing};
use crate::revision::{Questions, Revision};
use crate::server::http::LAST_EVENT_ID;

/// The wire to a server at a URL. When it is over, the task of its session ends the session.
pub(super) struct Streamable {
    pub(super) site: Site,
    pub(super) inbox: Arc<Inbox>,
    pub(super) tracker: TaskTracker,
    /// Nothing of the wire outlives this.
    pub(super) over: CancellationToken,
    spoken: Arc<Mutex<HttpConversation>>,
    /// The last status that said no; 0 before there is one.
    refused_with: AtomicU16,
    replies: Arc<Semaphore>,
    /// How fast its streams are read, all together.
    pub(super) pace: SharedPace,
}

impl Streamable {
    pub(super) fn new(site: Site, inbox: Arc<Inbox>, how: &Connecting) -> Self {
        let spoken = Arc::new(Mutex::new(HttpConversation::new(site.headers())));
        Self {
            site,
            inbox,
            tracker: how.tracker.clone(),
            over: CancellationToken::new(),
            spoken,
            refused_with: AtomicU16::new(0),
            replies: Arc::new(Semaphore::new(MCP_REPLIES)),
            pace: SharedPace::default(),
        }
    }

    /// The last status that said no; 0 before there is one.
    pub(super) fn refused_with(&self) -> u16 {
        self.refused_with.load(Ordering::Relaxed)
    }

    async fn exchange(&self, request: Outgoing) -> Result<(), ClientError> {
        let (id, is_first) = (request.id, &*request.method == "initialize");
        let Head { headers, session } = self.lock().head(&request)?;
        let response = self.site.send(self.site.message(headers, request.body)).await?;
        if !response.status.is_success() {
            return self.refused(response, id, session).await;
        }
        if is_first {
            self.begin_session(&response.headers)?;
        }
        match Kind::of(&response.headers) {
            Kind::Json => {
                let frame = answer::document(response.body).await?;
                self.take(&frame, Some(id));
            }
            Kind::Events => {
                let events = answer::events(response.body, &self.pace);
                return follow::until_answered(self, events, id).await;
            }
            Kind::Other => return Err(answer::unreadable(&response.headers)),
        }
        self.must_be_answered(id)
    }

    /// The server gave a status that says no. An error in JSON-RPC is an answer all the same.
    async fn refused(&self, response: Response, id: i64, session: Option<HeaderValue>) -> Result<(), ClientError> {
        let (status, has_session) = (response.status, session.is_some());
        self.refused_with.store(status.as_u16(), Ordering::Relaxed);
        if has_session && status == StatusCode::NOT_FOUND {
            return Err(ClientError::SessionGone);
        }
        let needs_credentials = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        if needs_credentials || Kind::of(&response.headers) != Kind::Json {
            let refusal = self.site.refusal(response, session.as_ref()).await;
            return Err(if has_session && is_about_the_session(&refusal) { ClientError::SessionGone } else { refusal });
        }
        let frame = answer::document(response.body).await?;
        let refusal = self.site.status(status.as_u16(), &frame, session.as_ref());
        if has_session && is_about_the_session(&refusal) {
            return Err(ClientError::SessionGone);
        }
        self.take(&frame, Some(id));
        if self.inbox.waits_for(id) { Err(refusal) } else { Ok(()) }
    }

    pub(super) fn must_be_answered(&self, id: i64) -> Result<(), ClientError> {
        if self.inbox.waits_for(id) {
            return Err(ClientError::NotMcp("what came is no answer to what was asked".to_owned()));
        }
        Ok(())
    }

    /// Brings what came to whom it concerns, and sends the server what it wants to hear back.
    pub(super) fn take(&self, frame: &[u8], via: Option<i64>) {
        for taken in self.inbox.take(frame, via) {
            match taken {
                FrameOutcome::Answer | FrameOutcome::Understood => {}
                FrameOutcome::Noise => tracing::debug!("a server sent what is no message"),
                FrameOutcome::Reply(reply) => self.reply(reply),
            }
        }
    }

    /// Answers in the background. A server that asks faster than it takes answers gets none, so that nothing piles up.
    fn reply(&self, reply: Bytes) {
        let spoken = self.lock();
        if spoken.facts().questions == Questions::InResult {
            return tracing::debug!("a server of this revision cannot ask on a stream");
        }
        let headers = spoken.headers.clone();
        drop(spoken);
        let Ok(permit) = Arc::clone(&self.replies).try_acquire_owned() else {
            return tracing::debug!("a server asks faster than it takes answers");
        };
        let (site, over) = (self.site.clone(), self.over.clone());
        self.tracker.spawn(over.run_until_cancelled_owned(async move {
            let request = site.short_message(headers, reply);
            if let Err(error) = site.send(request).await {
                tracing::debug!(%error, "an answer did not reach a server");
            }
            drop(permit);
        }));
    }

    async fn deliver(&self, message: Bytes) -> Result<(), ClientError> {
        let Head { headers, session } = self.lock().head_of_told(&message);
        let sent = self
            .over
            .run_until_cancelled(self.site.send(self.site.short_message(headers, message)))
            .await;
        let response = sent.unwrap_or_else(|| Err(ClientError::NotSent("the conversation is over".to_owned())))?;
        if session.is_some() && response.status == StatusCode::NOT_FOUND {
            return Err(ClientError::SessionGone);
        }
        self.site.taken(response, session.as_ref()).await
    }

    /// A wish for a stream, behind what was seen last.
    pub(super) fn stream_request(&self, after: Option<&HeaderValue>) -> Request {
        let mut headers = self.lock().headers.clone();
        if let Some(after) = after {
            headers.insert(LAST_EVENT_ID, after.clone());
        }
        self.site.stream(headers)
    }

    /// Whether streams can be taken up again.
    pub(super) fn resumes(&self) -> bool {
        let revision = self.lock().revision;
        revision.facts().sessions && revision.facts().streamable
    }

    /// Keeps the session that the server gave, and gives it a task that tells the server when it is over.
    fn begin_session(&self, answer: &HeaderMap) -> Result<(), ClientError> {
        if self.lock().begin_session(answer)? {
            self.tracker
                .spawn(end_session(self.over.clone(), self.site.clone(), Arc::clone(&self.spoken)));
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HttpConversation> {
        self.spoken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the server that its session is over, once it is. Nobody waits for that.
async fn end_session(over: CancellationToken, site: Site, spoken: Arc<Mutex<HttpConversation>>) {
    over.cancelled().await;
    let headers = spoken.lock().unwrap_or_else(PoisonError::into_inner).end_session();
    let Some(headers) = headers else { return };
    let patience = Patience { total: Some(MCP_GOODBYE), ..Patience::default() };
    let request = site.request(Method::DELETE, headers).patience(patience);
    drop(site.door.send(request).await);
}

/// Many servers say so with another status than 404 after they were restarted.
fn is_about_the_session(refusal: &ClientError) -> bool {
    matches!(refusal, ClientError::Status { status: 400, said } if said.to_ascii_lowercase().contains("session id"))
}

impl Wire for Streamable {
    fn request(self: Arc<Self>, request: Outgoing) -> Carried {
        Box::pin(async move { self.exchange(request).await })
    }

    fn tell(self: Arc<Self>, message: Bytes) -> Carried {
        Box::pin(async move { self.deliver(message).await })
    }

    fn settle(&self, revision: Revision) {
        self.lock().settle(revision);
    }

    fn stops_when_dropped(&self) -> bool {
        self.lock().facts().disconnect_cancels
    }

    fn listen(self: Arc<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        if !self.resumes() {
            return Box::pin(ready(()));
        }
        let listening = CancellationToken::new();
        let standing = standing::listen(Arc::downgrade(&self), listening.clone());
        self.tracker.spawn(self.over.clone().run_until_cancelled_owned(standing));
        // What the server asks before it knows of the stream is lost. One that keeps us waiting has no need of it.
        Box::pin(async move { drop(timeout(MCP_LISTEN, listening.cancelled_owned()).await) })
    }

    fn last_words(&self) -> Vec<String> {
        Vec::new()
    }

    fn close(&self) {
        self.over.cancel();
    }
}

impl Drop for Streamable {
    fn drop(&mut self) {
        self.over.cancel();
    }
}

//! The HTTP+SSE of 2024-11-05: one lasting stream on which everything comes, and a URL, named by its first event, to
//! which everything is posted. It behaves like a pipe: a request is carried when it is posted.

use std::future::ready;
use std::pin::Pin;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use http::HeaderMap;
use openfang_egress::http::{Events, Request};
use openfang_egress::pace::SharedPace;
use openfang_types::limits::MCP_REPLIES;
use tokio::sync::Semaphore;
use tokio::task::yield_now;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::super::inbox::{FrameOutcome, Inbox};
use super::super::wire::{Carried, Outgoing, Wire};
use super::super::{ClientError, Connecting};
use super::IN_A_ROW;
use super::answer::{self, Kind};
use super::site::{Site, lost};
use crate::revision::Revision;

/// The wire. Dropped, it closes the stream.
pub(super) struct PostAndStream {
    /// Where messages are posted to.
    mailbox: Site,
    headers: HeaderMap,
    tracker: TaskTracker,
    over: CancellationToken,
    replies: Arc<Semaphore>,
}

impl PostAndStream {
    /// Opens the stream and waits to be told where to post.
    pub(super) async fn open(site: &Site, inbox: &Arc<Inbox>, how: &Connecting) -> Result<Arc<Self>, ClientError> {
        let response = site.send(site.stream(site.headers())).await?;
        if !response.status.is_success() {
            return Err(site.refusal(response, None).await);
        }
        if Kind::of(&response.headers) != Kind::Events {
            return Err(answer::unreadable(&response.headers));
        }
        let pace = SharedPace::default();
        let mut events = answer::events(response.body, &pace);
        let mailbox = loop {
            match events.next().await.map_err(|error| lost(&error))? {
                Some(event) if event.name == "endpoint" => break event.data,
                Some(_) => answer::unasked(&pace).await,
                None => return Err(ClientError::NotMcp("its stream ended before it said where to post".to_owned())),
            }
        };
        // Whoever may name the place could name another server, and our secrets would go there.
        let mailbox = site.door.guard().at_home(&site.url, mailbox.trim());
        let mailbox = mailbox.ok_or_else(|| ClientError::NotMcp("it wants us to post to another server".to_owned()))?;
        let wire = Arc::new(Self {
            mailbox: site.at(mailbox),
            headers: site.headers(),
            tracker: how.tracker.clone(),
            over: CancellationToken::new(),
            replies: Arc::new(Semaphore::new(MCP_REPLIES)),
        });
        let reading = read(events, pace, Arc::clone(inbox), Arc::downgrade(&wire));
        how.tracker.spawn(wire.over.clone().run_until_cancelled_owned(reading));
        Ok(wire)
    }

    async fn post(&self, request: Request) -> Result<(), ClientError> {
        let sent = self.over.run_until_cancelled(self.mailbox.send(request)).await;
        let response = sent.unwrap_or_else(|| Err(ClientError::NotSent("the conversation is over".to_owned())))?;
        self.mailbox.taken(response, None).await
    }

    fn reply(&self, reply: Bytes) {
        let Ok(permit) = Arc::clone(&self.replies).try_acquire_owned() else {
            return tracing::debug!("a server asks faster than it takes answers");
        };
        let request = self.mailbox.short_message(self.headers.clone(), reply);
        let mailbox = self.mailbox.clone();
        self.tracker.spawn(self.over.clone().run_until_cancelled_owned(async move {
            if let Err(error) = mailbox.send(request).await {
                tracing::debug!(%error, "an answer did not reach a server");
            }
            drop(permit);
        }));
    }
}

/// Reads until the stream ends, and the conversation with it.
async fn read(mut events: Events, pace: SharedPace, inbox: Arc<Inbox>, wire: Weak<PostAndStream>) {
    let mut count = 0_usize;
    let why = loop {
        let event = match events.next().await {
            Ok(Some(event)) => event,
            Ok(None) => break ClientError::Lost("its stream ended".to_owned()),
            Err(error) => break ClientError::Lost(error.to_string()),
        };
        if event.name != "message" || event.data.is_empty() {
            answer::unasked(&pace).await;
            continue;
        }
        let taken = inbox.take(event.data.as_bytes(), None);
        if taken.iter().any(|taken| matches!(taken, FrameOutcome::Answer)) {
            pace.give(event.data.len() as u64);
        } else {
            answer::unasked(&pace).await;
        }
        for taken in taken {
            if let (FrameOutcome::Reply(reply), Some(wire)) = (taken, wire.upgrade()) {
                wire.reply(reply);
            }
        }
        count = count.wrapping_add(1);
        if count.is_multiple_of(IN_A_ROW) {
            yield_now().await;
        }
    };
    inbox.end(&why);
}

impl Wire for PostAndStream {
    fn request(self: Arc<Self>, request: Outgoing) -> Carried {
        // Some servers take a request only when they are done with it.
        let request = self.mailbox.message(self.headers.clone(), request.body);
        Box::pin(async move { self.post(request).await })
    }

    fn tell(self: Arc<Self>, message: Bytes) -> Carried {
        let request = self.mailbox.short_message(self.headers.clone(), message);
        Box::pin(async move { self.post(request).await })
    }

    fn settle(&self, _: Revision) {}

    fn stops_when_dropped(&self) -> bool {
        false
    }

    fn listen(self: Arc<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(ready(()))
    }

    fn last_words(&self) -> Vec<String> {
        Vec::new()
    }

    fn close(&self) {
        self.over.cancel();
    }
}

impl Drop for PostAndStream {
    fn drop(&mut self) {
        self.over.cancel();
    }
}

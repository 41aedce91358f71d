//! What a legacy conversation remembers: its revision, its log level, what runs, what was asked, what is watched.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use openfang_types::jsonrpc::{ErrorObject, Id, encode_request};
use openfang_types::limits::{MCP_ASK_TIMEOUT, MCP_SUBSCRIPTIONS_PER_SESSION, MCP_URI_MAX_BYTES};
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::event_log::Streams;
use super::handshake::Introduced;
use super::outlet::{Outlet, Sent, Weight};
use super::running::Running;
use super::shared::{OwnerMemory, Subscriptions};
use crate::capabilities::ClientCapabilities;
use crate::client_name::ClientName;
use crate::error::McpError;
use crate::meta::LogLevel;
use crate::revision::Revision;

type Reply = Result<Box<RawValue>, ErrorObject>;

pub(crate) struct Session {
    introduced: Introduced,
    level: Mutex<LogLevel>,
    pub(crate) running: Arc<Running>,
    asked: Mutex<OpenQuestions>,
    watched: Mutex<HashMap<String, (DropGuard, Subscriptions)>>,
    is_watching_lists: AtomicBool,
    /// Where messages go that belong to no request.
    unsolicited: Arc<dyn Outlet>,
    /// The streams that can be resumed.
    pub(crate) streams: Streams,
    /// What its owner's sessions take.
    memory: Arc<OwnerMemory>,
    /// Fires when the conversation is over.
    pub(crate) ended: CancellationToken,
}

#[derive(Default)]
struct OpenQuestions {
    last: i64,
    waiting: HashMap<i64, Question>,
}

/// A question that waits for its answer.
struct Question {
    /// Whose request it belongs to; only that credential answers it, because the answer counts as its own words.
    credential: String,
    tell: oneshot::Sender<Reply>,
}

impl Session {
    pub(crate) fn new(
        introduced: Introduced,
        running: Arc<Running>,
        unsolicited: Arc<dyn Outlet>,
        memory: Arc<OwnerMemory>,
    ) -> Self {
        Self {
            introduced,
            level: Mutex::new(LogLevel::Info),
            running,
            asked: Mutex::default(),
            watched: Mutex::default(),
            is_watching_lists: AtomicBool::new(false),
            unsolicited,
            streams: Streams::new(Arc::clone(&memory)),
            memory,
            ended: CancellationToken::new(),
        }
    }

    pub(crate) const fn revision(&self) -> Revision {
        self.introduced.revision
    }

    pub(crate) const fn client(&self) -> ClientCapabilities {
        self.introduced.client
    }

    /// What the client calls itself.
    pub(crate) const fn client_name(&self) -> ClientName {
        self.introduced.name
    }

    /// From which level on the client wants log messages.
    pub(crate) fn level(&self) -> LogLevel {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_level(&self, level: LogLevel) {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = level;
    }

    pub(crate) fn unsolicited(&self) -> Arc<dyn Outlet> {
        Arc::clone(&self.unsolicited)
    }

    /// Whether the lists are to be watched from now on; true once.
    pub(crate) fn begins_watching_lists(&self) -> bool {
        !self.is_watching_lists.swap(true, Ordering::Relaxed)
    }

    /// Watches a resource until the guard goes; none when it is watched already.
    pub(crate) fn watch(&self, uri: &str) -> Result<Option<CancellationToken>, McpError> {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if watched.contains_key(uri) {
            return Ok(None);
        }
        if watched.len() >= MCP_SUBSCRIPTIONS_PER_SESSION {
            let text = format!("{MCP_SUBSCRIPTIONS_PER_SESSION} resources are watched already; unsubscribe from one");
            return Err(McpError::InvalidParams(text));
        }
        if uri.len() > MCP_URI_MAX_BYTES {
            let text = format!("a uri that is subscribed to has at most {MCP_URI_MAX_BYTES} bytes");
            return Err(McpError::InvalidParams(text));
        }
        let taken = self.memory.subscribe(std::iter::once(uri)).ok_or_else(too_many_subscriptions)?;
        let token = self.ended.child_token();
        watched.insert(uri.to_owned(), (token.clone().drop_guard(), taken));
        Ok(Some(token))
    }

    pub(crate) fn unwatch(&self, uri: &str) {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }

    /// Asks the client for a request of this credential, and waits for its answer.
    pub(crate) async fn ask(
        &self,
        credential: String,
        outlet: &dyn Outlet,
        method: &str,
        params: &RawValue,
    ) -> Result<Box<RawValue>, McpError> {
        let (tell, told) = oneshot::channel();
        let number = {
            let mut asked = self.asked();
            asked.last += 1;
            let number = asked.last;
            asked.waiting.insert(number, Question { credential, tell });
            number
        };
        let _forget = Forget { session: self, number };
        let frame = encode_request(&Id::Number(number), method, Some(params));
        if outlet.send(Bytes::from(frame), Weight::Heavy) == Sent::Gone {
            return Err(McpError::NoAnswer("it cannot be reached".to_owned()));
        }
        let reply = tokio::select! {
            () = self.ended.cancelled() => return Err(McpError::NoAnswer("the conversation began anew or ended".to_owned())),
            reply = tokio::time::timeout(MCP_ASK_TIMEOUT, told) => reply,
        };
        match reply {
            Ok(Ok(Ok(result))) => Ok(result),
            Ok(Ok(Err(error))) => Err(McpError::NoAnswer(error.message.chars().take(200).collect())),
            Ok(Err(_)) => Err(McpError::Canceled),
            Err(_) => Err(McpError::NoAnswer(format!("it took longer than {} s", MCP_ASK_TIMEOUT.as_secs()))),
        }
    }

    /// This credential answered; whether it was asked anything. An answer to nothing, or to what another credential was
    /// asked, is dropped.
    pub(crate) fn answered(&self, credential: &str, id: &Id, reply: Reply) -> bool {
        let question = match id {
            Id::Number(number) => self.asked().take(*number, credential),
            Id::String(_) | Id::Null => None,
        };
        let is_known = question.is_some();
        match question {
            // Whoever asked may have gone.
            Some(question) => drop(question.tell.send(reply)),
            None => tracing::debug!(%id, "an answer to nothing"),
        }
        is_known
    }

    /// Ends the conversation and everything that runs in it.
    pub(crate) fn end(&self) {
        self.ended.cancel();
        self.running.cancel_all();
        self.watched.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn asked(&self) -> MutexGuard<'_, OpenQuestions> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenQuestions {
    fn take(&mut self, number: i64, credential: &str) -> Option<Question> {
        let is_asked = self.waiting.get(&number).is_some_and(|question| question.credential == credential);
        if is_asked { self.waiting.remove(&number) } else { None }
    }
}

/// The subscriptions of one owner take more than they may.
pub(super) fn too_many_subscriptions() -> McpError {
    McpError::Busy("this user's subscriptions take too much memory; unsubscribe from some".to_owned())
}

/// Forgets a question when nobody waits for it any more.
struct Forget<'a> {
    session: &'a Session,
    number: i64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.session.asked().waiting.remove(&self.number);
    }
}

//! What comes from a server, brought to whom it concerns. Every message passes here, on every transport, so this is where
//! it loses the secrets that the server was given.
//!
//! An answer goes to the request it names, and to no other; one that nobody waits for is dropped. A question of the
//! server goes to the call it belongs to, if that call can be asked; else it is refused on the spot.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use openfang_types::jsonrpc::{
    ErrorObject, Id, IdRule, Incoming, RpcError, decode_batch, decode_list, encode_error, encode_result, is_batch,
};
use openfang_types::limits::{MCP_BATCH, MCP_LOST_HEAD_BYTES};
use openfang_types::redact::Redactor;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use super::ClientError;
use super::slot::{Expected, Heard, Slot};
use crate::counts::{Counts, UnknownId};
use crate::meta::LogLevel;

/// What a server says of its own accord.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// Its list of tools changed.
    Tools,
    /// Its list of prompts changed.
    Prompts,
    /// Its list of resources changed.
    Resources,
    Resource(String),
}

/// A question of a server, in the middle of a call.
#[derive(Debug, Clone)]
pub struct Question {
    /// What the answer must name.
    pub id: Id,
    /// What is asked for.
    pub method: String,
    pub params: Option<Box<RawValue>>,
}

/// Notices that a slow listener may fall behind; it looks again anyway.
const NOTICES: usize = 64;

/// Where everything from one server comes in.
pub(super) struct Inbox {
    /// Everything passes it before it is read.
    redactor: Arc<Redactor>,
    inside: Mutex<Inside>,
    notices: broadcast::Sender<Notice>,
    /// Fires when nothing more comes.
    over: CancellationToken,
    /// Replies that nobody waits for are counted here.
    counts: Arc<Counts>,
}

struct Inside {
    waiting: HashMap<i64, Waiting>,
    next_id: i64,
    /// Why nothing more comes.
    ended: Option<ClientError>,
}

struct Waiting {
    slot: Arc<Slot>,
    what: Expected,
}

impl Waiting {
    fn takes_questions(&self) -> bool {
        self.what == Expected::Questions
    }

    /// Whether it has its connection for itself.
    fn is_alone(&self) -> bool {
        matches!(self.what, Expected::Questions | Expected::Lines)
    }
}

/// What came of a frame.
pub(super) enum FrameOutcome {
    /// It answers a request that waited for it.
    Answer,
    Understood,
    /// It wants this as an answer.
    Reply(Bytes),
    /// It is no message.
    Noise,
}

impl Inbox {
    pub(super) fn new(redactor: &Arc<Redactor>, counts: &Arc<Counts>) -> Arc<Self> {
        let inside = Inside { waiting: HashMap::new(), next_id: 1, ended: None };
        let (inside, notices) = (Mutex::new(inside), broadcast::Sender::new(NOTICES));
        let (redactor, counts) = (Arc::clone(redactor), Arc::clone(counts));
        Arc::new(Self { redactor, inside, notices, over: CancellationToken::new(), counts })
    }

    /// A place for the answer to a request, and its id.
    pub(super) fn expect(&self, what: Expected) -> Result<(i64, Arc<Slot>), ClientError> {
        let mut inside = self.lock();
        if let Some(why) = &inside.ended {
            return Err(ClientError::NotSent(why.to_string()));
        }
        let id = inside.next_id;
        inside.next_id += 1;
        let slot = Arc::new(Slot::default());
        inside.waiting.insert(id, Waiting { slot: Arc::clone(&slot), what });
        Ok((id, slot))
    }

    /// Nobody waits for this answer any more.
    pub(super) fn forget(&self, id: i64) {
        self.lock().waiting.remove(&id);
    }

    /// Whether an answer is still waited for.
    pub(super) fn waits_for(&self, id: i64) -> bool {
        self.lock().waiting.contains_key(&id)
    }

    /// Fails one request, if it still waits.
    pub(super) fn fail(&self, id: i64, error: ClientError) {
        if let Some(waiting) = self.lock().waiting.remove(&id) {
            waiting.slot.answer(Err(error));
        }
    }

    /// An answer came that could not be kept, and began like this. Where that does not name a request and one waits, it is
    /// that one's; where several do, nobody knows.
    pub(super) fn lose_answer(&self, head: &[u8], error: &ClientError) {
        if let Some(id) = id_in_head(head) {
            return self.fail(id, error.clone());
        }
        let inside = self.lock();
        let mut waiting = inside.waiting.iter().filter(|(_, waiting)| waiting.what != Expected::End);
        let (Some((id, _)), None) = (waiting.next(), waiting.next()) else { return };
        let id = *id;
        drop(inside);
        self.fail(id, error.clone());
    }

    /// Nothing more comes: whoever waits is told once.
    pub(super) fn end(&self, why: &ClientError) {
        let mut inside = self.lock();
        inside.ended.get_or_insert_with(|| why.clone());
        for (_, waiting) in inside.waiting.drain() {
            waiting.slot.answer(Err(why.clone()));
        }
        self.over.cancel();
    }

    /// Returns when nothing more comes.
    pub(super) async fn over(&self) {
        self.over.cancelled().await;
    }

    /// Why nothing more comes, if that is so.
    pub(super) fn ended(&self) -> Option<ClientError> {
        self.lock().ended.clone()
    }

    /// Hears what the server says of its own accord.
    pub(super) fn notices(&self) -> broadcast::Receiver<Notice> {
        self.notices.subscribe()
    }

    /// Takes a frame; `via` is the request on whose stream it came, where the transport knows that.
    pub(super) fn take(&self, frame: &[u8], via: Option<i64>) -> Vec<FrameOutcome> {
        let frame = &*self.redactor.json(frame);
        if !is_batch(frame) {
            return vec![match self.take_one(decode_list(frame, IdRule::Mcp), via) {
                FrameOutcome::Noise => self.take_unreadable(frame),
                taken => taken,
            }];
        }
        match decode_batch(frame, IdRule::Mcp, MCP_BATCH) {
            Ok(messages) => messages.into_iter().map(|message| self.take_one(message, via)).collect(),
            Err(_) => vec![FrameOutcome::Noise],
        }
    }

    fn take_one(&self, message: Result<Incoming<'_>, RpcError>, via: Option<i64>) -> FrameOutcome {
        match message {
            Ok(Incoming::Response { id, outcome }) => {
                let outcome = outcome.map(ToOwned::to_owned).map_err(ClientError::Refused);
                self.answered(&id, outcome, via)
            }
            Ok(Incoming::Notification { method, params }) => {
                self.told(&method, params, via);
                FrameOutcome::Understood
            }
            Ok(Incoming::Request { id, method, params }) => self.asked(id, &method, params, via),
            Err(RpcError::BadResponse { id: Some(id), fault }) => {
                self.answered(&id, Err(ClientError::NotMcp(fault.to_string())), via)
            }
            Err(_) => FrameOutcome::Noise,
        }
    }

    /// What cannot be read may still say whom it was for: an answer with broken text, or nested too deep.
    fn take_unreadable(&self, frame: &[u8]) -> FrameOutcome {
        match id_in_head(frame) {
            Some(id) if self.waits_for(id) => {
                self.fail(id, ClientError::NotMcp("its answer cannot be read".to_owned()));
                FrameOutcome::Understood
            }
            Some(_) | None => FrameOutcome::Noise,
        }
    }

    fn answered(&self, id: &Id, outcome: Result<Box<RawValue>, ClientError>, via: Option<i64>) -> FrameOutcome {
        let id = match (id, via) {
            (Id::Number(id), _) => *id,
            // A server that could not read our request cannot name it; on its own stream there is only one.
            (Id::Null, Some(via)) if outcome.is_err() => via,
            (Id::Null | Id::String(_), _) => {
                self.counts.add(UnknownId::ServerReply);
                tracing::debug!(%id, "an answer to nothing we asked");
                return FrameOutcome::Understood;
            }
        };
        let Some(waiting) = self.lock().waiting.remove(&id) else {
            self.counts.add(UnknownId::ServerReply);
            tracing::debug!(id, "an answer that nobody waits for");
            return FrameOutcome::Understood;
        };
        waiting.slot.answer(outcome);
        FrameOutcome::Answer
    }

    fn told(&self, method: &str, params: Option<&RawValue>, via: Option<i64>) {
        match method {
            "notifications/progress" => self.progress(params),
            "notifications/message" => self.log(params, via),
            "notifications/tools/list_changed" => self.notice(Notice::Tools),
            "notifications/prompts/list_changed" => self.notice(Notice::Prompts),
            "notifications/resources/list_changed" => self.notice(Notice::Resources),
            "notifications/resources/updated" => {
                #[derive(Deserialize)]
                struct Updated {
                    uri: String,
                }
                if let Some(updated) = read::<Updated>(params) {
                    self.notice(Notice::Resource(updated.uri));
                }
            }
            _ => {}
        }
    }

    fn progress(&self, params: Option<&RawValue>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Progress {
            progress_token: i64,
            progress: f64,
            #[serde(default)]
            total: Option<f64>,
            #[serde(default)]
            message: Option<String>,
        }
        let Some(Progress { progress_token, progress, total, message }) = read(params) else { return };
        if let Some(waiting) = self.lock().waiting.get(&progress_token) {
            waiting.slot.tell(Heard::Progress { progress, total, message });
        }
    }

    fn log(&self, params: Option<&RawValue>, via: Option<i64>) {
        #[derive(Deserialize)]
        struct Logged {
            level: LogLevel,
            #[serde(default)]
            logger: Option<String>,
            data: Box<RawValue>,
        }
        let Some(Logged { level, logger, data }) = read(params) else { return };
        if let Some(slot) = self.concerned(via, false) {
            slot.tell(Heard::Log { level, logger, data });
        }
    }

    fn asked(&self, id: Id, method: &str, params: Option<&RawValue>, via: Option<i64>) -> FrameOutcome {
        if method == "ping" {
            return FrameOutcome::Reply(encode_result(&id, &json!({})).into());
        }
        let is_known = matches!(method, "elicitation/create" | "sampling/createMessage" | "roots/list");
        let slot = self.concerned(via, true).filter(|_| is_known);
        let Some(slot) = slot else {
            return FrameOutcome::Reply(encode_error(Some(&id), &ErrorObject::method_not_found(method)).into());
        };
        let question = Question { id: id.clone(), method: method.to_owned(), params: params.map(ToOwned::to_owned) };
        if slot.tell(Heard::Question(question)) {
            return FrameOutcome::Understood;
        }
        let busy = ErrorObject::new(-32_603, "too many questions at once");
        FrameOutcome::Reply(encode_error(Some(&id), &busy).into())
    }

    /// The call that something without an address belongs to. On a shared connection nobody can tell, and then it is
    /// nobody's: only a call that has the connection for itself can be asked.
    fn concerned(&self, via: Option<i64>, takes_questions: bool) -> Option<Arc<Slot>> {
        let inside = self.lock();
        let on_its_stream = via.and_then(|via| inside.waiting.get(&via));
        let alone = || inside.waiting.values().find(|waiting| waiting.is_alone());
        let waiting = on_its_stream.or_else(alone)?;
        (waiting.takes_questions() || !takes_questions).then(|| Arc::clone(&waiting.slot))
    }

    /// Tells whoever hears what the server says of its own accord.
    pub(super) fn notice(&self, notice: Notice) {
        // Nobody may be listening.
        let _ = self.notices.send(notice);
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The id at the beginning of what looks like an answer.
fn id_in_head(frame: &[u8]) -> Option<i64> {
    let head = String::from_utf8_lossy(&frame[..frame.len().min(MCP_LOST_HEAD_BYTES)]).into_owned();
    let is_answer = head.trim_start().starts_with('{') && head.contains("\"jsonrpc\"") && !head.contains("\"method\"");
    let (before, rest) = head.split_once("\"id\"").filter(|_| is_answer)?;
    // What stands within the result is another id.
    if before.contains("\"result\"") || before.contains("\"error\"") {
        return None;
    }
    let number = rest.trim_start().strip_prefix(':')?.trim_start();
    let end = number.find(|c: char| !c.is_ascii_digit())?;
    number.get(..end)?.parse().ok()
}

fn read<'a, T: Deserialize<'a>>(params: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(params?.get()).ok()
}

#[cfg(test)]
#[path = "inbox_tests.rs"]
mod tests;

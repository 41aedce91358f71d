//! Calls of tools that go on as tasks of MCP after their client was told so. They live in this process, each for its owner
//! and the scope that it began in; a call of an agent is the agent's own task instead, and lives in the store.
//!
//! ```text
//! call ──┬── ends within a second ─────────────> its result
//!        └── takes longer, or becomes a task ──> held: working ──> completed, failed
//!                                                 ▲        │
//!                                                 └─ input_required      any of them ──> cancelled
//! ```

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream;
use jiff::Timestamp;
use openfang_mcp::host::{InputRequest, InputRequired, Outcome, Resumed, TaskChoice, Ticks, ToolAnswer};
use openfang_mcp::{CallTask, CallTaskState, McpError};
use openfang_runtime::mcp_server::raw;
use openfang_types::clock::{Clock, IdSource};
use openfang_types::content::ToolOutput;
use openfang_types::limits::{
    CALL_TASK_GRACE, HELD_CALL_BYTES_PER_OWNER, HELD_CALL_PARTING, HELD_CALL_POLL, HELD_CALL_TTL, HELD_CALLS_PER_OWNER,
};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::{Notify, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// What a call ended with.
pub(super) type CallEnd = Result<Outcome<ToolOutput>, McpError>;

/// Makes a call, again with the answers each time it asked for something.
pub(super) type MakeCall = Box<dyn Fn(Option<Resumed>, CancellationToken) -> BoxFuture<'static, CallEnd> + Send + Sync>;

/// A call that may be held.
pub(super) struct HoldableCall {
    /// Whose it is, and in which scope: nobody else is shown it.
    pub(super) holder: Holder,
    pub(super) choice: TaskChoice,
    /// What the client brought along.
    pub(super) resumed: Option<Resumed>,
    /// Fires when a server says that the call became a task there.
    pub(super) became_task: Arc<Notify>,
    pub(super) cancel: CancellationToken,
    pub(super) make: MakeCall,
}

/// Who may see a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) owner: String,
    pub(super) scope: String,
}

/// The calls that are held.
#[derive(Default)]
pub(super) struct HeldCalls {
    calls: Mutex<HashMap<String, Arc<HeldCall>>>,
}

struct HeldCall {
    holder: Holder,
    created_at: Timestamp,
    stands: watch::Sender<CallState>,
    /// Answers of this round.
    answers: Mutex<BTreeMap<String, Box<RawValue>>>,
    cancel: CancellationToken,
    draining: CancellationToken,
}

#[derive(Clone)]
struct CallState {
    state: CallTaskState,
    since: Timestamp,
    bytes: usize,
}

/// What time it is, what ids are made of, and where work goes on.
pub(super) struct HoldingParts<'a> {
    pub(super) clock: &'a Arc<dyn Clock>,
    pub(super) ids: &'a dyn IdSource,
    pub(super) tracker: &'a TaskTracker,
    /// Fires when the process begins to stop: nobody waits for answers any more.
    pub(super) draining: &'a CancellationToken,
}

impl HeldCalls {
    /// Makes a call. If it takes longer than its client should wait, the client is told of a task, and the call goes on.
    pub(super) async fn make(&self, parts: HoldingParts<'_>, call: HoldableCall) -> Result<ToolAnswer, McpError> {
        let HoldableCall { holder, choice, resumed, became_task, cancel, make } = call;
        let (now, id) = (parts.clock.now(), parts.ids.random().to_string());
        let stop_with_us = cancel.clone().drop_guard();
        let begun = CallState { state: CallTaskState::Working, since: now, bytes: 0 };
        let held = Arc::new(HeldCall {
            holder,
            created_at: now,
            stands: watch::Sender::new(begun),
            answers: Mutex::default(),
            cancel,
            draining: parts.draining.clone(),
        });
        let (first, mut end) = oneshot::channel();
        if choice == TaskChoice::Always {
            // Refused before anything is done.
            self.insert(&id, &held, now)?;
            end.close();
        }
        let clock = Arc::clone(parts.clock);
        parts.tracker.spawn(Arc::clone(&held).go_on(make, (resumed, first), clock));
        if choice != TaskChoice::Always {
            tokio::select! {
                biased;
                ended = &mut end => return Self::ended(ended, stop_with_us),
                () = became_task.notified() => {}
                () = tokio::time::sleep(CALL_TASK_GRACE) => {}
            }
            // Counted as it is held, however many began at the same time.
            if self.insert(&id, &held, now).is_err() {
                return Self::ended(end.await, stop_with_us);
            }
            end.close();
            if let Ok(ended) = end.try_recv() {
                self.lock().remove(&id);
                return Self::ended(Ok(ended), stop_with_us);
            }
        }
        stop_with_us.disarm();
        Ok(ToolAnswer::Task(Box::new(held.shown(&id))))
    }

    fn ended(
        ended: Result<CallEnd, oneshot::error::RecvError>,
        stop_with_us: tokio_util::sync::DropGuard,
    ) -> Result<ToolAnswer, McpError> {
        stop_with_us.disarm();
        // Nobody ends it without an outcome unless it was canceled.
        ended.unwrap_or(Err(McpError::Canceled)).map(ToolAnswer::Ended)
    }

    /// Holds the end of a call whose client wants a task whatever happens.
    pub(super) fn keep(
        &self,
        parts: &HoldingParts<'_>,
        holder: Holder,
        output: ToolOutput,
    ) -> Result<CallTask, McpError> {
        let (now, id) = (parts.clock.now(), parts.ids.random().to_string());
        let held = Arc::new(HeldCall {
            holder,
            created_at: now,
            stands: watch::Sender::new(CallState::ended(CallTaskState::Completed(Box::new(output)), now)),
            answers: Mutex::default(),
            cancel: CancellationToken::new(),
            draining: parts.draining.clone(),
        });
        self.insert(&id, &held, now)?;
        Ok(held.shown(&id))
    }

    /// The calls that are held for this holder.
    pub(super) fn list(&self, holder: &Holder) -> Vec<CallTask> {
        let calls = self.lock();
        let mut own: Vec<_> = calls.iter().filter(|(_, held)| held.holder == *holder).collect();
        own.sort_by_key(|(_, held)| std::cmp::Reverse(held.created_at));
        own.into_iter().map(|(id, held)| held.shown(id)).collect()
    }

    /// How a call stands; none if it is not one of these, or not of this holder.
    pub(super) fn get(&self, holder: &Holder, id: &str) -> Option<CallTask> {
        self.find(holder, id).map(|held| held.shown(id))
    }

    /// The same, once it has ended or asks for something.
    pub(super) async fn settled(&self, holder: &Holder, id: &str) -> Option<CallTask> {
        let held = self.find(holder, id)?;
        let mut stands = held.stands.subscribe();
        // The sender is held here.
        let _ = stands.wait_for(|standing| !matches!(standing.state, CallTaskState::Working)).await;
        Some(held.shown(id))
    }

    /// Ticks at once, and whenever a call stands otherwise; none if there is no such call.
    pub(super) fn changes(&self, holder: &Holder, id: &str) -> Option<Ticks> {
        let mut stands = self.find(holder, id)?.stands.subscribe();
        stands.mark_changed();
        Some(Box::pin(stream::unfold(stands, |mut stands| async move {
            stands.changed().await.ok()?;
            Some(((), stands))
        })))
    }

    /// Gives a call answers. False if there is no such call.
    pub(super) fn answer(&self, holder: &Holder, id: &str, answers: &BTreeMap<String, Box<RawValue>>) -> bool {
        let Some(held) = self.find(holder, id) else { return false };
        held.stands.send_modify(|standing| {
            let CallTaskState::InputRequired(open) = &mut standing.state else { return };
            let mut given = held.answers.lock().unwrap_or_else(PoisonError::into_inner);
            open.retain(|key, _| match answers.get(key) {
                Some(answer) => {
                    given.insert(key.clone(), answer.clone());
                    false
                }
                None => true,
            });
            if open.is_empty() {
                standing.state = CallTaskState::Working;
            }
        });
        true
    }

    /// Cancels a call, unless it has ended.
    pub(super) async fn cancel(&self, holder: &Holder, id: &str) -> Option<CallTask> {
        let held = self.find(holder, id)?;
        held.cancel.cancel();
        let mut stands = held.stands.subscribe();
        let _ = stands.wait_for(|standing| standing.state.is_terminal()).await;
        Some(held.shown(id))
    }

    fn find(&self, holder: &Holder, id: &str) -> Option<Arc<HeldCall>> {
        self.lock().get(id).filter(|held| held.holder == *holder).cloned()
    }

    /// Holds a call, if its owner has room for one more. What has expired is let go.
    fn insert(&self, id: &str, held: &Arc<HeldCall>, now: Timestamp) -> Result<(), McpError> {
        let mut calls = self.lock();
        calls.retain(|_, held| !held.is_expired(now));
        let of_owner = calls.values().filter(|other| other.holder.owner == held.holder.owner);
        let (count, bytes) =
            of_owner.fold((0, 0), |(count, bytes), held| (count + 1, bytes + held.stands.borrow().bytes));
        if count >= HELD_CALLS_PER_OWNER || bytes >= HELD_CALL_BYTES_PER_OWNER {
            let why = "too many calls are held as tasks; try again when the oldest of them have expired";
            return Err(McpError::Busy(why.to_owned()));
        }
        calls.insert(id.to_owned(), Arc::clone(held));
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<HeldCall>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HeldCall {
    /// Makes the call until it ends. The first end goes to whoever still waits for it.
    async fn go_on(
        self: Arc<Self>,
        make: MakeCall,
        (mut resumed, first): (Option<Resumed>, oneshot::Sender<CallEnd>),
        clock: Arc<dyn Clock>,
    ) {
        let mut first = Some(first);
        for round in 1_u64.. {
            let ended = tokio::select! {
                biased;
                () = self.cancel.cancelled() => Err(McpError::Canceled),
                ended = make(resumed.take(), self.cancel.clone()) => ended,
            };
            let ended = match first.take().map(|first| (first.is_closed(), first)) {
                Some((false, first)) => match first.send(ended) {
                    Ok(()) => return,
                    Err(ended) => ended,
                },
                Some((true, _)) | None => ended,
            };
            let end = match ended {
                Ok(Outcome::Done(output)) => CallTaskState::Completed(Box::new(output)),
                Ok(Outcome::NeedsInput(needed)) => {
                    let refusals = match self.answers_to(needed, round, clock.now()).await {
                        Ok(answers) => {
                            resumed = Some(answers);
                            continue;
                        }
                        Err(refusals) => refusals,
                    };
                    self.stands.send_replace(CallState::ended(CallTaskState::Canceled, clock.now()));
                    // Whoever asked is told that nobody answers, and has a moment to end by itself.
                    let parting = make(Some(refusals), CancellationToken::new());
                    drop(tokio::time::timeout(HELD_CALL_PARTING, parting).await);
                    return;
                }
                Err(McpError::Canceled) => CallTaskState::Canceled,
                Err(error) => CallTaskState::Failed(error),
            };
            self.stands.send_replace(CallState::ended(end, clock.now()));
            return;
        }
    }

    /// Waits until everything that is asked was answered. If the call is canceled, returns that nobody answers.
    async fn answers_to(&self, needed: InputRequired, round: u64, now: Timestamp) -> Result<Resumed, Resumed> {
        let InputRequired { requests, state } = needed;
        let refusal = |key: &String| (key.clone(), raw(&json!({ "action": "cancel" })));
        let refusals = requests.keys().map(refusal).collect();
        // A key is used once in the life of a task.
        let prefix = format!("{round}.");
        let asked: BTreeMap<String, InputRequest> =
            requests.into_iter().map(|(key, request)| (format!("{prefix}{key}"), request)).collect();
        let mut stands = self.stands.subscribe();
        self.stands
            .send_replace(CallState { state: CallTaskState::InputRequired(asked), since: now, bytes: 0 });
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(Resumed { answers: refusals, state }),
            () = self.draining.cancelled() => return Err(Resumed { answers: refusals, state }),
            _ = stands.wait_for(|standing| matches!(standing.state, CallTaskState::Working)) => {}
        }
        let answers = std::mem::take(&mut *self.answers.lock().unwrap_or_else(PoisonError::into_inner));
        let unprefixed = |(key, answer): (String, _)| Some((key.strip_prefix(&prefix)?.to_owned(), answer));
        Ok(Resumed { answers: answers.into_iter().filter_map(unprefixed).collect(), state })
    }

    fn shown(&self, id: &str) -> CallTask {
        let CallState { state, since, .. } = self.stands.borrow().clone();
        CallTask {
            id: id.to_owned(),
            created_at: self.created_at,
            updated_at: since,
            ttl: HELD_CALL_TTL,
            poll: HELD_CALL_POLL,
            message: None,
            state,
        }
    }

    /// Whether it has ended so long ago that nobody was promised to find it.
    fn is_expired(&self, now: Timestamp) -> bool {
        let standing = self.stands.borrow();
        let age = Duration::try_from(now.duration_since(standing.since)).unwrap_or_default();
        standing.state.is_terminal() && age > HELD_CALL_TTL
    }
}

impl CallState {
    fn ended(state: CallTaskState, since: Timestamp) -> Self {
        let bytes = match &state {
            CallTaskState::Completed(output) => {
                let blocks: usize = output.content.iter().map(|block| block.size()).sum();
                blocks + output.structured.as_ref().map_or(0, |raw| raw.get().len())
            }
            _ => 0,
        };
        Self { state, since, bytes }
    }
}

#[cfg(test)]
#[path = "held_calls_tests.rs"]
mod tests;

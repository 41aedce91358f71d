//! One configuration is told what it has missed: event after event, each until it is delivered or given up. An event
//! that failed is tried again later, and those after it wait.

use std::time::Duration;

use jiff::Timestamp;
use openfang_store::{ClaimOutcome, ClaimProgress, DeliveryProgress, PushClaim, PushRow, StoreError};
use openfang_types::event::EventId;
use openfang_types::limits::{
    PUSH_BACKOFF, PUSH_BACKOFF_GROWTH, PUSH_GIVEN_UP, PUSH_LEASE, PUSH_OUTCOME_MAX_CHARS, PUSH_TRIES,
};
use openfang_types::taint::{Label, Labels};
use tokio::time::Instant;

use super::metrics::PushMetrics;
use super::pace::Turn;
use super::payload::Story;
use super::post::{self, Verdict};
use crate::tasks::Tasks;

/// A claim, and what is done with it.
pub(super) struct Delivery {
    tasks: Tasks,
    row: PushRow,
    claim: PushClaim,
    turn: Turn,
    metrics: PushMetrics,
}

/// What to do after an event was sent.
enum Next {
    GoOn,
    /// The same one again, after a while.
    Wait(Duration),
}

impl Delivery {
    pub(super) const fn new(tasks: Tasks, row: PushRow, claim: PushClaim, turn: Turn, metrics: PushMetrics) -> Self {
        Self { tasks, row, claim, turn, metrics }
    }

    /// Tells what there is to tell.
    pub(super) async fn run(self) {
        let (task, config) = (self.row.task, self.row.config.id.clone());
        match self.tell().await {
            Ok(()) => {}
            // It was replaced or taken away, or went with its task; or somebody else has it by now.
            Err(StoreError::Conflict | StoreError::NotFound) => {
                tracing::debug!(%task, config, "a push configuration is somebody else's now, or gone");
            }
            Err(error) => tracing::warn!(%error, %task, config, "a push could not be written down"),
        }
    }

    async fn tell(mut self) -> Result<(), StoreError> {
        let record = self.tasks.inner.store.get(&self.row.owner, self.row.task).await?;
        if let Some(why) = withheld(&record.labels) {
            self.row.reached = DeliveryProgress { seq: record.seq, outcome: Some(why), ..DeliveryProgress::default() };
            return self.settle(ClaimOutcome::Rest(self.now())).await;
        }
        let tasks = &*self.tasks.inner.store;
        let mut story = Story::read(tasks, record, self.row.reached.seq, self.row.config.origin).await?;
        let mut sent = 0_u32;
        while let Some(chapter) = story.next() {
            let Some(payload) = chapter.payload else {
                self.row.reached.seq = chapter.seq;
                continue;
            };
            if sent > 0 {
                if self.tasks.inner.life.draining().is_cancelled() {
                    return self.settle(ClaimOutcome::Later(self.now())).await;
                }
                if let Err(wait) = self.turn.again(Instant::now()) {
                    return self.settle(ClaimOutcome::Later(self.now() + wait)).await;
                }
                self.settle(ClaimOutcome::Hold(self.now() + PUSH_LEASE)).await?;
            }
            sent += 1;
            let event = EventId { task: self.row.task, seq: chapter.seq }.to_string();
            let verdict = post::post(&self.tasks, self.turn.pacer(), &self.row.config, &event, payload).await;
            self.metrics.count(&verdict);
            if let Next::Wait(pause) = self.note(chapter.seq, verdict) {
                return self.settle(ClaimOutcome::Later(self.now() + pause)).await;
            }
            if self.row.reached.given_up >= PUSH_GIVEN_UP {
                break;
            }
        }
        self.settle(ClaimOutcome::Rest(self.now())).await
    }

    /// Notes what became of an event.
    fn note(&mut self, seq: u64, verdict: Verdict) -> Next {
        let reached = &mut self.row.reached;
        match verdict {
            Verdict::Delivered(how) => {
                *reached = DeliveryProgress { seq, outcome: Some(how), ..DeliveryProgress::default() };
                Next::GoOn
            }
            // Nothing was sent, so it was no try.
            Verdict::TooFast(wait) => Next::Wait(wait),
            Verdict::Failed { why, after } if reached.attempts + 1 < PUSH_TRIES => {
                reached.attempts += 1;
                reached.outcome = Some(cut(format!("try {} of {PUSH_TRIES}: {why}", reached.attempts)));
                let pause = pause(reached.attempts, getrandom::u32().unwrap_or(u32::MAX));
                Next::Wait(after.map_or(pause, |after| after.max(pause)))
            }
            Verdict::Failed { why, .. } => self.give_up(seq, format!("given up after {PUSH_TRIES} tries: {why}")),
            Verdict::Refused { why } => self.give_up(seq, format!("given up: {why}")),
        }
    }

    fn give_up(&mut self, seq: u64, why: String) -> Next {
        let given_up = self.row.reached.given_up + 1;
        let outcome = Some(cut(format!("event {seq} {why}")));
        tracing::info!(task = %self.row.task, config = self.row.config.id, seq, "a push was given up");
        self.row.reached = DeliveryProgress { seq, attempts: 0, given_up, outcome };
        Next::GoOn
    }

    async fn settle(&self, then: ClaimOutcome) -> Result<(), StoreError> {
        let progress = ClaimProgress { reached: self.row.reached.clone(), then };
        self.tasks.inner.pushes.record_progress(self.claim.clone(), progress).await
    }

    fn now(&self) -> Timestamp {
        self.tasks.inner.clock.now()
    }
}

/// Why a task is not told of, if it is not.
fn withheld(labels: &Labels) -> Option<String> {
    let (label, sources) = (Label::Secret, labels.sources(Label::Secret)?);
    Some(cut(format!("not sent: the task carries {label} (from {sources}), which is pushed to nobody")))
}

/// The pause after so many tries; half of it is random.
fn pause(attempts: u32, chance: u32) -> Duration {
    let bound = PUSH_BACKOFF.saturating_mul(PUSH_BACKOFF_GROWTH.saturating_pow(attempts.saturating_sub(1)));
    bound / 2 + (bound / 2).mul_f64(f64::from(chance) / f64::from(u32::MAX))
}

fn cut(mut why: String) -> String {
    if let Some((end, _)) = why.char_indices().nth(PUSH_OUTCOME_MAX_CHARS) {
        why.truncate(end);
    }
    why
}

#[cfg(test)]
#[path = "delivery_tests.rs"]
mod tests;

//! The conversation as a run knows it: its transcript, entry by entry.

use openfang_model::Call;
use openfang_types::ids::TaskId;
use openfang_types::taint::Labels;
use openfang_types::task::{Message, Role};

use super::allowance::{Allowance, GO_ON};
use super::halt::Halt;
use super::toolset::unwrapped;
use super::{approvals, command, parts};
use crate::answerer::{AgentRun, EventSink, InboxMessage, Turn};
use crate::transcript::{
    AskedCall, CallOutcome, Compaction, TranscriptBody, TranscriptEntry, TranscriptView, calls_in, newest_compaction,
    view,
};

/// A conversation that this run writes to.
pub(super) struct Conversation<'a> {
    events: &'a dyn EventSink,
    task: TaskId,
    /// The number of the newest user message that the run knows.
    pub(super) turn: u32,
    entries: Vec<TranscriptEntry>,
}

/// What is known of a call in the transcript.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CallState {
    pub(super) call: Call,
    pub(super) is_begun: bool,
    pub(super) is_done: bool,
}

impl<'a> Conversation<'a> {
    /// Opens the conversation of a turn. All that it holds enters the run.
    pub(super) async fn open(run: &'a AgentRun<'a>, turn: &Turn<'_>) -> Result<Self, Halt> {
        let entries = run.events.open_transcript().await?;
        if let Some(context) = &run.cx.run {
            entries.iter().for_each(|entry| context.enters(&entry.labels));
        }
        let number = u32::try_from(turn.number).unwrap_or(u32::MAX);
        Ok(Self { events: run.events, task: turn.task, turn: number, entries })
    }

    /// Adds the messages of the task that the transcript does not have. A crash may have come between the two.
    pub(super) async fn add_messages(
        &mut self,
        run: &AgentRun<'_>,
        turn: &Turn<'_>,
        labels: &Labels,
    ) -> Result<(), Halt> {
        let said = turn.history.iter().filter(|said| said.role == Role::User).chain([turn.message]);
        for (number, message) in (1_u32..).zip(said) {
            if !self.has_message(number) {
                let is_answer = turn.waiting.is_some() && std::ptr::eq(message, turn.message);
                let is_silent = is_answer || approvals::is_decision(message) || command::is_compact(message, labels);
                self.add_message(run, (number, message), (labels.clone(), is_silent)).await?;
            }
        }
        Ok(())
    }

    /// Adds a message that arrived while the run works.
    pub(super) async fn hear(&mut self, run: &AgentRun<'_>, heard: InboxMessage) -> Result<(), Halt> {
        let number = u32::try_from(heard.number).unwrap_or(u32::MAX);
        self.turn = self.turn.max(number);
        let is_silent = command::is_compact(&heard.message, &heard.labels);
        self.add_message(run, (number, &heard.message), (heard.labels, is_silent)).await
    }

    fn has_message(&self, number: u32) -> bool {
        let is_it = |entry: &TranscriptEntry| {
            entry.task == self.task && entry.turn == number && matches!(entry.body, TranscriptBody::User { .. })
        };
        let covered = self.compaction().is_some_and(|compaction| {
            compaction.tasks.iter().any(|covered| covered.task == self.task && covered.turn >= number)
        });
        covered || self.entries.iter().any(is_it)
    }

    /// The model is not told of a silent message: the answer to the question of a tool is the tool's, and a command is ours.
    async fn add_message(
        &mut self,
        run: &AgentRun<'_>,
        (number, message): (u32, &Message),
        (labels, is_silent): (Labels, bool),
    ) -> Result<(), Halt> {
        let parts = match Allowance::given(run, message) {
            _ if is_silent => Vec::new(),
            Some(_) => vec![parts::words(GO_ON.to_owned())],
            None => parts::of_message(message),
        };
        self.record_at(number, TranscriptBody::User { parts }, labels).await
    }

    /// Adds an entry. It is stored with what follows.
    pub(super) async fn record(&mut self, body: TranscriptBody, labels: Labels) -> Result<(), Halt> {
        self.record_at(self.turn, body, labels).await
    }

    async fn record_at(&mut self, turn: u32, body: TranscriptBody, labels: Labels) -> Result<(), Halt> {
        let item = body.to_item(turn, labels.clone())?;
        let seq = self.events.record(vec![item]).await;
        self.entries
            .push(TranscriptEntry { seq, task: self.task, turn, tokens: None, labels, body });
        Ok(())
    }

    /// Adds the result of a call.
    pub(super) async fn record_outcome(
        &mut self,
        call: &str,
        (outcome, millis): (CallOutcome, u64),
        labels: Labels,
    ) -> Result<(), Halt> {
        self.record(TranscriptBody::CallDone { call: call.to_owned(), outcome, millis }, labels)
            .await
    }

    pub(super) fn view(&self) -> TranscriptView {
        view(&self.entries)
    }

    /// The compaction that counts.
    pub(super) fn compaction(&self) -> Option<&Compaction> {
        newest_compaction(&self.entries).map(|(_, compaction)| compaction)
    }

    /// The compaction that this turn has made, if its message asked for one.
    pub(super) fn compaction_of_turn(&self) -> Option<&Compaction> {
        let (entry, compaction) = newest_compaction(&self.entries)?;
        (entry.task == self.task && entry.turn == self.turn).then_some(compaction)
    }

    /// Whether there is something that the newest compaction did not know: an answer, a result, a message.
    pub(super) fn has_progressed(&self) -> bool {
        let Some((compacted, _)) = newest_compaction(&self.entries) else { return true };
        let is_new = |entry: &TranscriptEntry| match &entry.body {
            // What we say ourselves belongs to a turn that is known.
            TranscriptBody::User { parts } => {
                !parts.is_empty() && (entry.task, entry.turn > compacted.turn) != (compacted.task, false)
            }
            TranscriptBody::Answer { .. } | TranscriptBody::CallDone { .. } => true,
            _ => false,
        };
        self.entries.iter().any(|entry| entry.seq > compacted.seq && is_new(entry))
    }

    /// Whether results were left out that can be read.
    pub(super) fn has_left_out(&self) -> bool {
        self.compaction()
            .is_some_and(|compaction| compaction.stubs.iter().any(|stub| stub.handle.is_some()))
    }

    /// Whether a result was left out under this id.
    pub(super) fn left_out(&self, id: &str) -> bool {
        let has = |compaction: &Compaction| compaction.stubs.iter().any(|stub| stub.handle.as_deref() == Some(id));
        self.compaction().is_some_and(has)
    }

    /// Drops the entries that a compaction covers, as whoever reads the transcript again does.
    pub(super) fn forget_covered(&mut self) {
        let Some((newest, covers)) = newest_compaction(&self.entries).map(|(entry, newest)| (entry.seq, newest.covers))
        else {
            return;
        };
        self.entries
            .retain(|entry| entry.seq > covers && (entry.seq == newest || !is_compaction(entry)));
    }

    /// The labels of an entry.
    pub(super) fn labels_at(&self, seq: u64) -> Labels {
        let entry = self.entries.iter().find(|entry| entry.seq == seq);
        entry.map(|entry| entry.labels.clone()).unwrap_or_default()
    }

    /// The place of the newest entry.
    pub(super) fn end(&self) -> u64 {
        self.entries.last().map_or(0, |entry| entry.seq)
    }

    pub(super) const fn task(&self) -> TaskId {
        self.task
    }

    pub(super) fn entries(&self) -> &[TranscriptEntry] {
        &self.entries
    }

    /// The calls of the newest answer of this task that a person was asked about and that have not begun since.
    pub(super) fn asked_calls(&self) -> Vec<AskedCall> {
        let Some(newest) = self.newest_calls().filter(|newest| newest.may_run) else { return Vec::new() };
        let is_open = |asked: &&AskedCall| {
            let mut states = newest.calls.iter();
            states.any(|state| state.call.id == asked.call && !state.is_begun && !state.is_done)
        };
        let after = self
            .entries
            .iter()
            .rposition(|entry| matches!(entry.body, TranscriptBody::Answer { .. }))
            .unwrap_or_default();
        let mut asked: Vec<AskedCall> = Vec::new();
        for entry in &self.entries[after..] {
            let TranscriptBody::Asked { calls } = &entry.body else { continue };
            for call in calls.iter().filter(is_open) {
                // A call that was asked about again has its newest question.
                asked.retain(|before| before.call != call.call);
                asked.push(call.clone());
            }
        }
        asked
    }

    /// The calls of the newest answer, with how far they have come. None if it has none.
    pub(super) fn newest_calls(&self) -> Option<NewestCalls<'_>> {
        let at = self
            .entries
            .iter()
            .rposition(|entry| matches!(entry.body, TranscriptBody::Answer { .. }))?;
        let TranscriptBody::Answer { blocks, stop, decided_with, .. } = &self.entries[at].body else { return None };
        let mut calls: Vec<CallState> = calls_in(blocks)
            .map(|call| CallState { call: unwrapped(call.clone()), is_begun: false, is_done: false })
            .collect();
        for entry in &self.entries[at + 1..] {
            let state = |id: &str| calls.iter().position(|state| state.call.id == id);
            match &entry.body {
                TranscriptBody::CallBegun { call, .. } => {
                    if let Some(place) = state(call) {
                        calls[place].is_begun = true;
                    }
                }
                TranscriptBody::CallDone { call, .. } => {
                    if let Some(place) = state(call) {
                        calls[place].is_done = true;
                    }
                }
                // The question came before the call had an effect.
                TranscriptBody::Asked { calls: asked } => {
                    for place in asked.iter().filter_map(|asked| state(&asked.call)).collect::<Vec<_>>() {
                        calls[place].is_begun = false;
                    }
                }
                TranscriptBody::User { .. }
                | TranscriptBody::Answer { .. }
                | TranscriptBody::Decided { .. }
                | TranscriptBody::Compacted(_)
                | TranscriptBody::Switched { .. } => {}
            }
        }
        let may_run = matches!(stop, openfang_model::Stop::Calls);
        let is_ours = self.entries[at].task == self.task;
        Some(NewestCalls { calls, may_run: may_run && is_ours, decided_with })
    }
}

const fn is_compaction(entry: &TranscriptEntry) -> bool {
    matches!(entry.body, TranscriptBody::Compacted(_))
}

/// The calls of the newest answer.
pub(super) struct NewestCalls<'a> {
    pub(super) calls: Vec<CallState>,
    /// Whether they may run: the answer was whole, and it is of this task.
    pub(super) may_run: bool,
    /// The labels of the context when the model spoke.
    pub(super) decided_with: &'a Labels,
}

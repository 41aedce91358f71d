//! What of a conversation stays as it is when it takes too much room.
//!
//! ```text
//! results over 2,000 tokens ──> a sentence each, oldest first, until half of the room is free
//! still too much ──> [ the user's messages | a summary ] of all but the last two steps
//! still too much ──> smaller results too, fewer steps, shorter messages
//! ```
//!
//! Everything here is computed from the entries alone. `answerer/model/compaction.rs` asks for the summary, keeps what is
//! left out, and stores the result.

use std::collections::BTreeMap;

use openfang_model::{Call, Part};
use openfang_types::ids::TaskId;
use openfang_types::limits::{
    COMPACT_HANDLES_MAX, COMPACT_INTERRUPTED_MAX, COMPACT_SMALL_RESULT_TOKENS, COMPACT_STEPS_KEPT, COMPACT_TASKS_MAX,
    COMPACT_USER_TOKENS,
};
use openfang_types::taint::Labels;

use crate::skills::ACTIVATE_SKILL;

use super::shorten::{capped, in_few_words, joined, shortened, trimmed};
use super::{
    CallOutcome, Compaction, CoveredTask, InterruptedCall, Room, Stub, TranscriptBody, TranscriptEntry, TranscriptView,
    calls_in, newest_compaction, size, view_as,
};

/// What a result takes that was left out.
const STUB_TOKENS: u64 = 160;
/// How much of each text a model is given to summarize, if all of it is too much; first of results, then of everything.
const GIVEN_CHARS: [usize; 6] = [usize::MAX, 8_000, 2_000, 600, 200, 60];
/// The part of the room, in percent, that the user's earlier messages can have.
const MESSAGES_PERCENT: u64 = 20;

/// A compaction that is being made.
pub(crate) struct CompactionPlan<'a> {
    entries: &'a [TranscriptEntry],
    pub(crate) room: Room,
    /// The last steps that stay, whatever they take.
    least_steps: usize,
    pub(crate) draft: Compaction,
    /// The user's covered messages, all of them.
    messages: Vec<Vec<Part>>,
}

impl<'a> CompactionPlan<'a> {
    /// Begins with what was compacted before.
    pub(crate) fn new(entries: &'a [TranscriptEntry], room: Room, least_steps: usize) -> Self {
        let draft = newest_compaction(entries).map(|(_, compaction)| compaction.clone()).unwrap_or_default();
        let messages = draft.messages.clone();
        Self { entries, room, least_steps, draft, messages }
    }

    fn uncovered(&self) -> impl Iterator<Item = &'a TranscriptEntry> + use<'a> {
        let (entries, covers) = (self.entries, self.draft.covers);
        entries.iter().filter(move |entry| entry.seq > covers)
    }

    pub(crate) fn view(&self) -> TranscriptView {
        view_as(self.entries, Some((&Labels::none(), &self.draft)))
    }

    pub(crate) fn size(&self) -> u64 {
        self.room.of_view(&self.view())
    }

    pub(crate) fn fits(&self) -> bool {
        self.size() <= self.room.target()
    }

    /// The results above a size that are shown whole, oldest first.
    pub(crate) fn results_above(&self, tokens: u64) -> Vec<u64> {
        let is_large = |entry: &&TranscriptEntry| {
            let is_stub = self.draft.stubs.iter().any(|stub| stub.seq == entry.seq);
            let is_large = self.room.scaled(size::of_entry(&entry.body)) > tokens;
            !is_stub && is_result(&entry.body) && is_large && !self.is_of_skill(entry.seq)
        };
        self.uncovered().filter(is_large).map(|entry| entry.seq).collect()
    }

    /// The text of a result and its call in a few words.
    pub(crate) fn result(&self, seq: u64) -> Option<(String, String)> {
        let (parts, made) = self.result_and_call(seq)?;
        let of = made.map_or_else(|| "a call".to_owned(), in_few_words);
        Some((joined(parts), of))
    }

    /// Whether a result is the instructions of a skill: they stay, or a summary stands for them.
    fn is_of_skill(&self, seq: u64) -> bool {
        let made = self.result_and_call(seq).and_then(|(_, made)| made);
        made.is_some_and(|call| call.name == ACTIVATE_SKILL)
    }

    fn result_and_call(&self, seq: u64) -> Option<(&[Part], Option<&Call>)> {
        let at = self.entries.iter().position(|entry| entry.seq == seq)?;
        let TranscriptBody::CallDone { call, outcome: CallOutcome::Returned { parts, .. }, .. } =
            &self.entries[at].body
        else {
            return None;
        };
        let made = self.entries[..at].iter().rev().find_map(|entry| match &entry.body {
            TranscriptBody::Answer { blocks, .. } => calls_in(blocks).find(|made| made.id == *call),
            _ => None,
        });
        Some((parts, made))
    }

    pub(crate) fn stub(&mut self, stub: Stub) {
        self.draft.stubs.push(stub);
    }

    /// How far a summary reaches that leaves as many of the last steps as fit.
    pub(crate) fn end_of_summary(&self) -> u64 {
        let most = COMPACT_STEPS_KEPT.max(self.least_steps);
        let ends = (self.least_steps..=most).rev().map(|steps| self.end_before(steps));
        let fits = |covers: &u64| {
            let tail = self.entries.iter().filter(|entry| entry.seq > *covers);
            let small = |entry: &TranscriptEntry| {
                let size = size::of_entry(&entry.body);
                if is_result(&entry.body) { size.min(STUB_TOKENS) } else { size }
            };
            let is_own = |entry: &&TranscriptEntry| !matches!(entry.body, TranscriptBody::Compacted(_));
            let tail = self.room.scaled(tail.filter(is_own).map(small).sum());
            let head = self.room.summary() + self.room.budget * MESSAGES_PERCENT / 100;
            self.room.fixed + head + tail <= self.room.target()
        };
        let mut last = self.draft.covers;
        for covers in ends {
            last = covers;
            if fits(&covers) {
                break;
            }
        }
        last
    }

    /// The last entry before so many steps. Calls that are under way stay, and so does what no model has read.
    fn end_before(&self, steps: usize) -> u64 {
        let answers: Vec<_> = self
            .uncovered()
            .filter_map(|entry| match &entry.body {
                TranscriptBody::Answer { seen, blocks, .. } => Some((entry.seq, *seen, blocks)),
                _ => None,
            })
            .collect();
        let mut end = match steps {
            0 => self.entries.last().map_or(0, |entry| entry.seq),
            _ => match answers.len().checked_sub(steps).and_then(|at| answers.get(at)) {
                Some((seq, ..)) => seq - 1,
                None => return self.draft.covers,
            },
        };
        if let Some((seq, _, blocks)) = answers.last().filter(|(_, _, blocks)| calls_in(blocks).next().is_some()) {
            let is_done = |call: &Call| {
                let done = |entry: &TranscriptEntry| matches!(&entry.body, TranscriptBody::CallDone { call: id, .. } if *id == call.id);
                self.entries.iter().any(|entry| entry.seq > *seq && done(entry))
            };
            if !calls_in(blocks).all(is_done) {
                end = end.min(seq - 1);
            }
        }
        for (seq, seen, _) in answers.iter().rev() {
            if *seq > end {
                end = end.min(*seen);
            }
        }
        end.max(self.draft.covers)
    }

    /// What a model is given to summarize all up to a place, in at most so many tokens.
    pub(crate) fn given(&self, covers: u64, instruction: &str, tokens: u64) -> TranscriptView {
        let covered: Vec<&TranscriptEntry> = self.uncovered().filter(|entry| entry.seq <= covers).collect();
        let caps = GIVEN_CHARS.iter().map(|chars| (*chars, usize::MAX));
        let caps = caps.chain(GIVEN_CHARS.iter().skip(2).map(|chars| (*chars, *chars)));
        let mut given = TranscriptView::default();
        for (results, texts) in caps {
            let mut entries: Vec<TranscriptEntry> = covered.iter().map(|entry| capped(entry, results, texts)).collect();
            entries.push(TranscriptEntry {
                seq: covers + 1,
                task: TaskId::from_uuid(uuid::Uuid::nil()),
                turn: 0,
                tokens: None,
                labels: Labels::none(),
                body: TranscriptBody::User { parts: vec![Part::Text { text: instruction.to_owned() }] },
            });
            given = view_as(&entries, Some((&Labels::none(), &self.draft)));
            if self.room.of_view(&given) <= tokens {
                break;
            }
        }
        given
    }

    /// From now on a summary stands for everything up to a place.
    pub(crate) fn cover(&mut self, covers: u64, summary: String) {
        let mut tasks: BTreeMap<TaskId, u32> = self.draft.tasks.iter().map(|known| (known.task, known.turn)).collect();
        for entry in self.uncovered().filter(|entry| entry.seq <= covers) {
            let turn = tasks.entry(entry.task).or_default();
            match &entry.body {
                TranscriptBody::User { parts } => {
                    *turn = entry.turn.max(*turn);
                    if !parts.is_empty() {
                        self.messages.push(parts.clone());
                    }
                }
                TranscriptBody::CallDone { call, outcome: CallOutcome::Unknown, .. } => {
                    let arguments = self.entries.iter().find_map(|begun| match &begun.body {
                        TranscriptBody::CallBegun { call: id, arguments, .. } if id == call => Some(arguments.clone()),
                        _ => None,
                    });
                    let call = arguments.map(|arguments| InterruptedCall { task: entry.task, arguments });
                    self.draft.interrupted.extend(call);
                }
                _ => {}
            }
        }
        let excess = self.draft.interrupted.len().saturating_sub(COMPACT_INTERRUPTED_MAX);
        self.draft.interrupted.drain(..excess);
        self.draft.has_more_tasks |= tasks.len() > COMPACT_TASKS_MAX;
        let newest = tasks.into_iter().rev().take(COMPACT_TASKS_MAX);
        self.draft.tasks = newest.map(|(task, turn)| CoveredTask { task, turn }).collect();
        self.draft.covers = covers;
        self.draft.summary = summary;
        let (mut handles, mut stubs) = (0, std::mem::take(&mut self.draft.stubs));
        stubs.reverse();
        stubs.retain(|stub| {
            handles += usize::from(stub.seq <= covers);
            stub.seq > covers || (stub.handle.is_some() && handles <= COMPACT_HANDLES_MAX)
        });
        stubs.reverse();
        self.draft.stubs = stubs;
        self.trim(MESSAGES_PERCENT);
    }

    /// Shortens the user's covered messages to a part of the room.
    fn trim(&mut self, percent: u64) {
        let share = COMPACT_USER_TOKENS.min(self.room.budget * percent / 100);
        self.draft.messages = trimmed(&self.messages, self.room.estimated(share));
    }

    /// Cuts what can still be cut: messages, then the summary. False if nothing makes it small enough.
    pub(crate) fn cut_to_fit(&mut self) -> bool {
        for percent in [10, 5, 2, 1] {
            if self.fits() {
                return true;
            }
            self.trim(percent);
        }
        for chars in [2_000, 500, 100] {
            if self.fits() {
                return true;
            }
            self.draft.summary = shortened(&self.draft.summary, chars);
        }
        self.fits()
    }

    /// Results that are still whole and not tiny, oldest first.
    pub(crate) fn small_results(&self) -> Vec<u64> {
        self.results_above(COMPACT_SMALL_RESULT_TOKENS.max(STUB_TOKENS))
    }

    /// The labels of everything that the draft stands for.
    pub(crate) fn labels(&self) -> Labels {
        let stands_for = |entry: &&TranscriptEntry| {
            entry.seq <= self.draft.covers || matches!(entry.body, TranscriptBody::Compacted(_))
        };
        let mut labels = Labels::none();
        self.entries.iter().filter(stands_for).for_each(|entry| labels.join(&entry.labels));
        labels
    }
}

const fn is_result(body: &TranscriptBody) -> bool {
    matches!(body, TranscriptBody::CallDone { outcome: CallOutcome::Returned { .. }, .. })
}

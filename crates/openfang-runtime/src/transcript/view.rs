//! The view of a transcript: a conversation that every provider accepts.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use openfang_model::{Block, Call, CallResult, Item, NativeItems, Part, Stop};
use openfang_types::taint::Labels;

use super::{CallOutcome, Compaction, TranscriptBody, TranscriptEntry};

/// A conversation that every provider accepts.
#[derive(Debug, Clone, Default)]
pub struct TranscriptView {
    pub items: Vec<Arc<Item>>,
    /// The labels of everything in it.
    pub labels: Labels,
    /// Whether the model is to speak next. False after a whole answer without calls.
    pub awaits_model: bool,
}

const NOT_RUN: &str = "This call was not run.";
const UNKNOWN: &str = "This call was interrupted. Whether it took effect is not known.";
const CANCELED: &str = "This call was canceled.";
const CUT: &str = "This call was cut at the output limit and not run. Send less, or in pieces.";
const CONTINUES: &str = "(the conversation continues)";

/// What is sent to a model of a transcript.
pub fn view(entries: &[TranscriptEntry]) -> TranscriptView {
    let compacted = newest_compaction(entries);
    view_as(entries, compacted.map(|(entry, compaction)| (&entry.labels, compaction)))
}

/// The same as if this were the newest compaction.
pub(crate) fn view_as(entries: &[TranscriptEntry], compacted: Option<(&Labels, &Compaction)>) -> TranscriptView {
    let mut builder = ViewBuilder::default();
    if let Some((labels, compaction)) = compacted {
        builder.labels.join(labels);
        builder.user(compaction.head());
        let replaces = compaction.stubs.iter().filter(|stub| stub.seq > compaction.covers);
        builder.stubs = replaces.map(|stub| (stub.seq, stub.text.as_str())).collect();
    }
    let covered = compacted.map_or(0, |(_, compaction)| compaction.covers);
    for entry in entries.iter().filter(|entry| entry.seq > covered) {
        builder.labels.join(&entry.labels);
        builder.take(entry.seq, &entry.body);
    }
    builder.finish()
}

/// The compaction that counts, and its entry.
pub(crate) fn newest_compaction(entries: &[TranscriptEntry]) -> Option<(&TranscriptEntry, &Compaction)> {
    entries.iter().rev().find_map(|entry| match &entry.body {
        TranscriptBody::Compacted(compaction) => Some((entry, &**compaction)),
        _ => None,
    })
}

#[derive(Default)]
struct ViewBuilder<'a> {
    items: Vec<Item>,
    labels: Labels,
    /// What stands for results, by the places of those.
    stubs: HashMap<u64, &'a str>,
    /// The calls of the newest answer, until their results are written.
    open: Vec<OpenCall>,
    /// What the user wrote and no model has read yet, with its place in the transcript. It stands before the first answer
    /// that knows it: behind the results of open calls, and behind an answer that was under way when it came.
    unread: Vec<(u64, Vec<Part>)>,
    is_paused: bool,
}

struct OpenCall {
    id: String,
    name: String,
    is_begun: bool,
    is_cut: bool,
    outcome: Option<CallOutcome>,
}

impl ViewBuilder<'_> {
    fn take(&mut self, seq: u64, body: &TranscriptBody) {
        match body {
            TranscriptBody::User { parts } => self.unread.push((seq, parts.clone())),
            TranscriptBody::Answer { blocks, native, stop, seen, .. } => {
                self.close(*seen);
                self.answer(blocks, native.as_ref(), stop);
            }
            TranscriptBody::CallBegun { call, .. } => {
                if let Some(open) = self.open(call) {
                    open.is_begun = true;
                }
            }
            TranscriptBody::CallDone { call, outcome, .. } => {
                let stub = self.stubs.get(&seq).copied();
                if let Some(open) = self.open(call) {
                    // A result that comes twice counts once.
                    open.outcome.get_or_insert_with(|| match (stub, outcome) {
                        (Some(text), CallOutcome::Returned { is_error, .. }) => CallOutcome::Returned {
                            parts: vec![Part::Text { text: text.to_owned() }],
                            is_error: *is_error,
                        },
                        _ => outcome.clone(),
                    });
                }
            }
            // The question came before the call had an effect.
            TranscriptBody::Asked { calls } => calls.iter().for_each(|asked| {
                if let Some(open) = self.open(&asked.call) {
                    open.is_begun = false;
                }
            }),
            TranscriptBody::Decided { .. } | TranscriptBody::Compacted(_) | TranscriptBody::Switched { .. } => {}
        }
    }

    fn open(&mut self, call: &str) -> Option<&mut OpenCall> {
        self.open.iter_mut().find(|open| open.id == call)
    }

    fn user(&mut self, parts: Vec<Part>) {
        let is_blank = |part: &Part| matches!(part, Part::Text { text } if text.trim().is_empty());
        let parts: Vec<Part> = parts.into_iter().filter(|part| !is_blank(part)).collect();
        if parts.is_empty() {
            return;
        }
        match self.items.last_mut() {
            Some(Item::User { parts: before }) => before.extend(parts),
            _ => self.items.push(Item::User { parts }),
        }
    }

    fn answer(&mut self, blocks: &[Block], native: Option<&NativeItems>, stop: &Stop) {
        let (blocks, is_renamed) = with_unique_ids(blocks);
        let says = blocks.iter().any(|block| match block {
            Block::Text { text } => !text.trim().is_empty(),
            Block::Thinking { .. } => false,
            Block::Call(_) => true,
        });
        // An answer of thoughts alone is nothing that a provider takes back.
        if !says {
            return;
        }
        if self.items.is_empty() {
            self.user(vec![Part::Text { text: CONTINUES.to_owned() }]);
        }
        let is_cut = matches!(stop, Stop::Length | Stop::ContextFull);
        self.is_paused = *stop == Stop::Paused;
        self.open = calls_in(&blocks)
            .map(|call| OpenCall {
                id: call.id.clone(),
                name: call.name.clone(),
                is_begun: false,
                is_cut,
                outcome: None,
            })
            .collect();
        let native = native.filter(|_| !is_renamed).cloned();
        match self.items.last_mut() {
            Some(Item::Answer { blocks: before, native: before_native }) => {
                before.extend(blocks);
                *before_native = joined(before_native.take(), native);
            }
            _ => self.items.push(Item::Answer { blocks, native }),
        }
    }

    /// Writes the results of the open calls, then what the user wrote up to this place.
    fn close(&mut self, seen: u64) {
        let results: Vec<CallResult> = std::mem::take(&mut self.open).into_iter().map(OpenCall::result).collect();
        if !results.is_empty() {
            self.items.push(Item::Results { results });
        }
        let (read, unread): (Vec<_>, Vec<_>) = self.unread.drain(..).partition(|(seq, _)| *seq <= seen);
        self.unread = unread;
        read.into_iter().for_each(|(_, parts)| self.user(parts));
    }

    fn finish(mut self) -> TranscriptView {
        self.close(u64::MAX);
        let awaits_model = match self.items.last() {
            None => false,
            Some(Item::Answer { .. }) => self.is_paused,
            Some(Item::User { .. } | Item::Results { .. }) => true,
        };
        TranscriptView { items: self.items.into_iter().map(Arc::new).collect(), labels: self.labels, awaits_model }
    }
}

impl OpenCall {
    fn result(self) -> CallResult {
        let said = |text: &str| (vec![Part::Text { text: text.to_owned() }], true);
        let (parts, is_error) = match self.outcome {
            Some(CallOutcome::Returned { parts, is_error }) => (parts, is_error),
            Some(CallOutcome::Unknown) => said(UNKNOWN),
            Some(CallOutcome::Canceled) => said(CANCELED),
            Some(CallOutcome::Denied { reason }) => said(&format!("This call was denied: {reason}")),
            None if self.is_cut => said(CUT),
            None if self.is_begun => said(UNKNOWN),
            None => said(NOT_RUN),
        };
        CallResult { call: self.id, name: self.name, parts, is_error }
    }
}

/// The calls among blocks.
pub(crate) fn calls_in(blocks: &[Block]) -> impl Iterator<Item = &Call> {
    blocks.iter().filter_map(|block| match block {
        Block::Call(call) => Some(call),
        Block::Text { .. } | Block::Thinking { .. } => None,
    })
}

/// The blocks with an id of its own for each call, and whether an id had to change.
pub(crate) fn with_unique_ids(blocks: &[Block]) -> (Vec<Block>, bool) {
    let mut seen = HashSet::new();
    let mut copies: HashMap<String, u32> = HashMap::new();
    let mut is_renamed = false;
    let mut blocks = blocks.to_vec();
    for block in &mut blocks {
        let Block::Call(call) = block else { continue };
        let original = call.id.clone();
        while !seen.insert(call.id.clone()) {
            let copy = copies.entry(original.clone()).or_insert(1);
            *copy += 1;
            call.id = format!("{original}_{copy}");
            is_renamed = true;
        }
    }
    (blocks, is_renamed)
}

/// Native items of two answers in a row. They stay native only if both are, of the same wire and model.
fn joined(one: Option<NativeItems>, two: Option<NativeItems>) -> Option<NativeItems> {
    let (mut one, two) = (one?, two?);
    if !two.fits(one.wire, &one.model) {
        return None;
    }
    one.items.extend(two.items);
    Some(one)
}

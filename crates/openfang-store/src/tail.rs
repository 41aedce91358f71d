//! What was committed to a task a moment ago, in memory: whoever follows the task in this process does not wait for the
//! disk. It holds little. A reader that has fallen behind it reads the store.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use openfang_types::event::{Seq, TaskEvent};
use openfang_types::ids::Owner;
use openfang_types::limits::{STREAM_BATCH_EVENTS, STREAM_TAIL_BYTES};

/// The last events of a task that somebody follows. All of them are committed.
#[derive(Debug)]
pub struct Tail {
    owner: Owner,
    kept: Mutex<TailEvents>,
}

#[derive(Debug, Default)]
struct TailEvents {
    /// In order, without a gap.
    events: VecDeque<TaskEvent>,
    bytes: usize,
}

impl Tail {
    pub(crate) fn of(owner: Owner) -> Self {
        Self { owner, kept: Mutex::default() }
    }

    /// Whose task it is.
    pub(crate) const fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The events after this one. None if there are none here, or if one between is missing: the store has them.
    pub fn after(&self, after: Seq) -> Vec<TaskEvent> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.events.front().is_none_or(|first| first.seq > after + 1) {
            return Vec::new();
        }
        kept.events.iter().filter(|event| event.seq > after).cloned().collect()
    }

    /// Takes events that were committed. The oldest go when there are too many.
    pub(crate) fn committed(&self, events: Vec<TaskEvent>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for event in events {
            if kept.events.back().is_some_and(|last| last.seq + 1 != event.seq) {
                *kept = TailEvents::default();
            }
            kept.bytes += event.body.size();
            kept.events.push_back(event);
        }
        while kept.bytes > STREAM_TAIL_BYTES || kept.events.len() > STREAM_BATCH_EVENTS {
            let Some(oldest) = kept.events.pop_front() else { return };
            kept.bytes -= oldest.body.size();
        }
    }
}

#[cfg(test)]
#[path = "tail_tests.rs"]
mod tests;

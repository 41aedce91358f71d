//! Lists: all tasks are scanned and sorted, because there are few.

use openfang_types::event::TaskEvent;
use openfang_types::task::TaskParts;

use super::{Entry, Inner};
use crate::{EventsAfter, Fit, TaskPage, TaskQuery, TaskRecord};

impl Inner {
    pub(super) fn list(&self, query: &TaskQuery) -> TaskPage {
        let wanted = |record: &TaskRecord| {
            record.owner == query.owner
                && query.agent.as_ref().is_none_or(|agent| record.task.agent == *agent)
                && query.state.is_none_or(|state| record.task.status.state == state)
                && query.context_id.as_ref().is_none_or(|context| record.task.context_id == *context)
                && query.changed_since.is_none_or(|since| record.task.status.timestamp >= since)
        };
        let is_in_scope = |entry: &Entry| {
            query
                .scope
                .as_deref()
                .is_none_or(|scope| entry.scope.as_deref().unwrap_or_default() == scope)
        };
        let wanted = |entry: &&Entry| wanted(&entry.record) && is_in_scope(entry);
        let mut rows: Vec<&Entry> = self.entries.values().filter(wanted).collect();
        rows.sort_by_key(|entry| std::cmp::Reverse(entry.position()));
        let total = rows.len();
        let rest = rows.into_iter().filter(|entry| query.after.is_none_or(|after| entry.position() < after));
        let (mut tasks, mut last, mut more, mut bytes) = (Vec::new(), None, false, 0_usize);
        for entry in rest {
            let record = parts(&entry.record, query.parts);
            bytes = bytes.saturating_add(record.task.size());
            more = tasks.len() == query.limit || (bytes > query.max_bytes && !tasks.is_empty());
            if more {
                break;
            }
            last = Some(entry.position());
            tasks.push(record);
        }
        TaskPage { next: last.filter(|_| more), tasks, total }
    }
}

/// These parts of a task.
pub(super) fn parts(record: &TaskRecord, parts: TaskParts) -> TaskRecord {
    let mut record = record.clone();
    record.task.keep(parts);
    record
}

/// A task, unless it is too large.
pub(super) fn within(record: &TaskRecord, max_bytes: usize) -> Fit<TaskRecord> {
    let bytes = record.task.size();
    if bytes > max_bytes { Fit::TooLarge(bytes) } else { Fit::Whole(record.clone()) }
}

/// A page, unless it is too large.
pub(super) fn page_within(page: TaskPage, max_bytes: usize) -> Fit<TaskPage> {
    let bytes = page.tasks.iter().map(|record| record.task.size()).sum();
    if bytes > max_bytes { Fit::TooLarge(bytes) } else { Fit::Whole(page) }
}

/// The events after a sequence number, unless the first of them is too large.
pub(super) fn events_within(events: &[TaskEvent], place: EventsAfter) -> Fit<Vec<TaskEvent>> {
    let seen = usize::try_from(place.after).unwrap_or(usize::MAX); // the first event is number 1
    let (mut found, mut bytes) = (Vec::new(), 0_usize);
    for event in events.iter().skip(seen).take(place.limit) {
        let size = event.body.size();
        bytes = bytes.saturating_add(size);
        if bytes > place.max_bytes {
            return if found.is_empty() { Fit::TooLarge(size) } else { Fit::Whole(found) };
        }
        found.push(event.clone());
    }
    Fit::Whole(found)
}

//! Lists: everything is looked at and sorted; there is little of it.

use super::{Entry, Inner};
use crate::{TaskPage, TaskQuery, TaskRecord};

impl Inner {
    pub(super) fn list(&self, query: &TaskQuery) -> TaskPage {
        let wanted = |record: &TaskRecord| {
            record.owner == query.owner
                && query.agent.as_ref().is_none_or(|agent| record.task.agent == *agent)
                && query.state.is_none_or(|state| record.task.status.state == state)
                && query.context_id.as_ref().is_none_or(|context| record.task.context_id == *context)
                && query.changed_since.is_none_or(|since| record.task.status.timestamp >= since)
        };
        let mut rows: Vec<&Entry> = self.entries.values().filter(|entry| wanted(&entry.record)).collect();
        rows.sort_by_key(|entry| std::cmp::Reverse(entry.position()));
        let total = rows.len();
        let rest = rows.into_iter().filter(|entry| query.after.is_none_or(|after| entry.position() < after));
        let (mut tasks, mut last, mut more, mut bytes) = (Vec::new(), None, false, 0_usize);
        for entry in rest {
            let mut record = entry.record.clone();
            record.task.keep(query.parts);
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

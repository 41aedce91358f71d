//! The filters of a list of tasks.

use jiff::Timestamp;
use openfang_types::limits;
use serde::Deserialize;

use super::{Count, Flag, ReadResult, Word, filled, named, tenant};
use crate::error::A2aError;
use crate::operation::{HistoryLength, ListTasks, Operation, Request};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::dialect) struct ListIn {
    tenant: Option<String>,
    #[serde(alias = "context_id")]
    context_id: Option<String>,
    status: Option<Word>,
    #[serde(alias = "page_size")]
    page_size: Option<Count>,
    #[serde(alias = "page_token")]
    page_token: Option<String>,
    #[serde(alias = "history_length")]
    history_length: Option<Count>,
    #[serde(alias = "status_timestamp_after")]
    status_timestamp_after: Option<String>,
    #[serde(alias = "include_artifacts")]
    include_artifacts: Option<Flag>,
}

impl ListIn {
    pub(in crate::dialect) fn read(self) -> ReadResult<Request> {
        let listing = ListTasks {
            context_id: named("contextId", self.context_id)?,
            state: self.status.as_ref().map_or(Ok(None), |word| {
                word.state().ok_or_else(|| {
                    A2aError::invalid("status", "`status` is not a known state; write it like TASK_STATE_COMPLETED")
                })
            })?,
            changed_since: filled(self.status_timestamp_after).map(moment).transpose()?,
            page_size: self.page_size.map(page_size).transpose()?,
            page_token: filled(self.page_token),
            history: HistoryLength(self.history_length.map(|count| count.0)),
            include_artifacts: self.include_artifacts.is_some_and(|flag| flag.0),
        };
        Ok(Request { tenant: tenant(self.tenant)?, operation: Operation::List(listing) })
    }
}

fn moment(text: String) -> ReadResult<Timestamp> {
    text.parse().map_err(|_| {
        let why = "`statusTimestampAfter` must be a time as in 2026-01-31T12:00:00Z";
        A2aError::invalid("statusTimestampAfter", why)
    })
}

fn page_size(Count(size): Count) -> ReadResult<usize> {
    if (1..=limits::PAGE_MAX_TASKS).contains(&size) {
        return Ok(size);
    }
    Err(A2aError::invalid("pageSize", format!("`pageSize` must be 1 to {}", limits::PAGE_MAX_TASKS)))
}

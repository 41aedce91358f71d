//! Converts ids, times, states and labels to columns and back.

use std::str::FromStr;
use std::time::Duration;

use jiff::Timestamp;
use openfang_types::taint::Labels;
use openfang_types::task::{Origin, TaskState};
use rusqlite::Row;
use rusqlite::types::FromSql;
use uuid::Uuid;

use crate::StoreError;
use crate::sqlite::{damaged, unavailable};

/// The states a task can end in.
pub(super) const FINISHED: [TaskState; 4] =
    [TaskState::Completed, TaskState::Failed, TaskState::Canceled, TaskState::Rejected];

/// The condition of the index `a2a_tasks_live`. A query must repeat it verbatim to use the index.
pub(super) const IS_LIVE: &str =
    "(state = 'submitted' OR state = 'working' OR state = 'input-required' OR state = 'auth-required')";

/// The value of the column `head` if the column `first` has the message.
pub(super) const HEAD_IN_FIRST: &str = "first";

/// Nanoseconds since 1970, limited to what a column can hold.
pub(in crate::sqlite) fn nanos(at: Timestamp) -> i64 {
    let held = at.as_nanosecond().clamp(i64::MIN.into(), i64::MAX.into());
    i64::try_from(held).unwrap_or(i64::MAX)
}

/// The time `ago` before `now`.
pub(in crate::sqlite) fn nanos_before(now: Timestamp, ago: Duration) -> i64 {
    nanos(now).saturating_sub(i64::try_from(ago.as_nanos()).unwrap_or(i64::MAX))
}

/// A count as a signed number. Real counts are far below the limit.
pub(in crate::sqlite) fn signed(count: impl TryInto<i64>) -> i64 {
    count.try_into().unwrap_or(i64::MAX)
}

/// A column as it is.
pub(in crate::sqlite) fn get<T: FromSql>(row: &Row<'_>, column: usize) -> Result<T, StoreError> {
    row.get(column).map_err(unavailable)
}

pub(in crate::sqlite) fn time(row: &Row<'_>, column: usize) -> Result<Timestamp, StoreError> {
    Timestamp::from_nanosecond(get::<i64>(row, column)?.into()).map_err(|_| damaged("an impossible time"))
}

pub(in crate::sqlite) fn uuid(row: &Row<'_>, column: usize) -> Result<Uuid, StoreError> {
    get(row, column).map(Uuid::from_bytes)
}

pub(in crate::sqlite) fn count<T: TryFrom<i64>>(row: &Row<'_>, column: usize) -> Result<T, StoreError> {
    T::try_from(get(row, column)?).map_err(|_| damaged("a count below zero"))
}

/// A text that is parsed in place.
pub(in crate::sqlite) fn text<'r>(row: &'r Row<'_>, column: usize) -> Result<&'r str, StoreError> {
    let value = row.get_ref(column).map_err(unavailable)?;
    value.as_str().map_err(|_| damaged("a text that is none"))
}

pub(in crate::sqlite) fn name<T: FromStr>(row: &Row<'_>, column: usize) -> Result<T, StoreError> {
    text(row, column)?.parse().map_err(|_| damaged("a name that is none"))
}

pub(in crate::sqlite) fn state(row: &Row<'_>, column: usize) -> Result<TaskState, StoreError> {
    TaskState::from_word(text(row, column)?).ok_or_else(|| damaged("a state that is none"))
}

pub(super) fn origin(row: &Row<'_>, column: usize) -> Result<Origin, StoreError> {
    Origin::from_word(text(row, column)?).ok_or_else(|| damaged("an origin that is none"))
}

pub(in crate::sqlite) fn labels(row: &Row<'_>, column: usize) -> Result<Labels, StoreError> {
    match text(row, column)? {
        NO_LABELS => Ok(Labels::none()),
        held => serde_json::from_str(held).map_err(|_| damaged("labels that are none")),
    }
}

/// The text of labels.
pub(in crate::sqlite) fn labels_text(labels: &Labels) -> Result<String, StoreError> {
    if labels.is_empty() { Ok(NO_LABELS.to_owned()) } else { json(labels) }
}

const NO_LABELS: &str = "[]";

/// Enough capacity for the events of most writes, to avoid reallocation.
const JSON_BYTES: usize = 1024;

/// The JSON text of a value.
pub(in crate::sqlite) fn json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    let mut text = Vec::with_capacity(JSON_BYTES);
    let broken = |why: String| StoreError::Unavailable { why };
    serde_json::to_writer(&mut text, value).map_err(|error| broken(error.to_string()))?;
    String::from_utf8(text).map_err(|error| broken(error.to_string()))
}

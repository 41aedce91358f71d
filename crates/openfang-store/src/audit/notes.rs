//! Rows about the log itself: refusals that were counted, rows that could not be written, rows that were removed.

use std::collections::BTreeMap;

use jiff::Timestamp;
use openfang_types::ids::{Owner, TraceId};
use openfang_types::principal::Door;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{AuditKind, AuditOutcome, AuditRow, AuditStream, AuditSubject, recorded_owner};

/// Refusals without rows of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusalSummary {
    pub count: u64,
    /// The time of the first refusal.
    pub from: Timestamp,
    /// The time of the last refusal.
    pub to: Timestamp,
    /// The number of refusals by reason.
    pub reasons: BTreeMap<String, u64>,
}

/// Rows that could not be written, because the disk was full or the store was overloaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditGap {
    #[serde(deserialize_with = "recorded_owner")]
    pub of: Owner,
    pub kind: AuditKind,
    pub count: u64,
    /// The time of the first call.
    pub from: Timestamp,
    /// The time of the last call.
    pub to: Timestamp,
}

/// Rows that retention removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRemoval {
    /// The owner of the rows. None means rows of all owners, from before owners were separated.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "recorded_owner_if_any")]
    pub of: Option<Owner>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<AuditKind>,
    pub rows: u64,
    /// The time of the last row; none if it is unreadable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
}

impl AuditGap {
    pub(crate) fn new(stream: AuditStream, at: Timestamp) -> Self {
        Self { of: stream.owner, kind: stream.kind, count: 0, from: at, to: at }
    }

    pub(crate) fn add(&mut self, at: Timestamp) {
        self.count += 1;
        self.from = self.from.min(at);
        self.to = self.to.max(at);
    }

    pub(crate) fn into_row(self) -> AuditRow {
        note(self.to, Owner::house(), AuditOutcome::Gap(self))
    }
}

impl AuditRemoval {
    pub(crate) fn into_row(self, at: Timestamp) -> AuditRow {
        note(at, Owner::house(), AuditOutcome::Removed(self))
    }
}

impl RefusalSummary {
    pub(crate) fn into_row(self, owner: Owner, door: Door) -> AuditRow {
        AuditRow { door, ..note(self.to, owner, AuditOutcome::Refusals(self)) }
    }
}

/// A row that belongs to no request.
fn note(at: Timestamp, owner: Owner, outcome: AuditOutcome) -> AuditRow {
    AuditRow {
        trace: TraceId::from_uuid(Uuid::nil()),
        at,
        owner,
        door: Door::Cli,
        agent: None,
        run: None,
        subject: AuditSubject::Log,
        outcome,
        micros: 0,
    }
}

fn recorded_owner_if_any<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Owner>, D::Error> {
    recorded_owner(from).map(Some)
}

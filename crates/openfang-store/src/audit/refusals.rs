//! Limits the number of refusal rows per owner. Beyond the limit refusals are counted, and the counts are written at
//! growing intervals while the flood lasts. So a flood costs a bounded number of rows per day and displaces nothing,
//! not even the rows about its own beginning.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use openfang_types::ids::Owner;
use openfang_types::limits::{
    AUDIT_COUNTED_OWNERS, AUDIT_SUMMARY_FIRST, AUDIT_SUMMARY_LONGEST, AUDIT_SUMMARY_REASONS, Limits,
};
use openfang_types::principal::Door;

use super::{AuditKind, AuditOutcome, AuditRow, AuditStream, RefusalSummary};

/// The limits of refusal rows per owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefusalLimits {
    pub rows: u32,
    /// Further rows per hour.
    pub rows_per_hour: u32,
}

/// The refusals of all owners.
#[derive(Default)]
pub(crate) struct Refusals {
    limits: RefusalLimits,
    budgets: Mutex<HashMap<AuditStream, Budget>>,
}

/// The remaining budget of one owner, and what was counted instead.
struct Budget {
    /// When the whole budget is available again.
    recovered_at: Timestamp,
    counted: Option<Counted>,
    /// The interval until the next count is written.
    pause: Duration,
}

struct Counted {
    summary: RefusalSummary,
    door: Door,
    due: Timestamp,
}

impl Refusals {
    pub(crate) fn new(limits: RefusalLimits) -> Self {
        Self { limits, budgets: Mutex::default() }
    }

    /// The row to write for a refusal: its own, none, or a count that is due.
    pub(crate) fn admit(&self, kind: AuditKind, row: AuditRow) -> Option<AuditRow> {
        let stream = AuditStream { owner: row.owner.clone(), kind };
        let mut budgets = self.lock();
        if budgets.len() >= AUDIT_COUNTED_OWNERS && !budgets.contains_key(&stream) {
            budgets.retain(|_, budget| budget.counted.is_some() || budget.recovered_at > row.at);
        }
        let budget = budgets.entry(stream).or_insert_with(|| Budget::new(row.at));
        if budget.spend(self.limits, row.at) {
            return Some(row);
        }
        let (at, owner) = (row.at, row.owner.clone());
        budget.count(row);
        budget.due(&owner, at)
    }

    /// The counts that are due.
    pub(crate) fn due(&self, now: Timestamp) -> Vec<(AuditKind, AuditRow)> {
        let mut budgets = self.lock();
        let due = budgets
            .iter_mut()
            .filter_map(|(stream, budget)| Some((stream.kind, budget.due(&stream.owner, now)?)));
        due.collect()
    }

    pub(crate) fn all(&self) -> Vec<(AuditKind, AuditRow)> {
        self.due(Timestamp::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<AuditStream, Budget>> {
        self.budgets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Budget {
    const fn new(now: Timestamp) -> Self {
        Self { recovered_at: now, counted: None, pause: AUDIT_SUMMARY_FIRST }
    }

    /// Whether the budget has a row left.
    fn spend(&mut self, limits: RefusalLimits, now: Timestamp) -> bool {
        if self.recovered_at <= now {
            self.recovered_at = now;
            self.pause = AUDIT_SUMMARY_FIRST;
        }
        let cost = SignedDuration::from_secs(3_600) / i32::try_from(limits.rows_per_hour.max(1)).unwrap_or(i32::MAX);
        let all = cost
            .checked_mul(i32::try_from(limits.rows).unwrap_or(i32::MAX))
            .unwrap_or(SignedDuration::MAX);
        let spent = self.recovered_at.duration_since(now) + cost;
        if spent > all {
            return false;
        }
        self.recovered_at = self.recovered_at.checked_add(cost).unwrap_or(Timestamp::MAX);
        true
    }

    fn count(&mut self, row: AuditRow) {
        let at = row.at;
        let due = || at.checked_add(self.pause).unwrap_or(Timestamp::MAX);
        let counted = self.counted.get_or_insert_with(|| {
            let summary = RefusalSummary { count: 0, from: at, to: at, reasons: BTreeMap::new() };
            Counted { summary, door: row.door, due: due() }
        });
        let summary = &mut counted.summary;
        summary.count += 1;
        summary.from = summary.from.min(at);
        summary.to = summary.to.max(at);
        let mut reason = match row.outcome {
            AuditOutcome::Refused(why) => why,
            AuditOutcome::Cancelled => "canceled".to_owned(),
            AuditOutcome::Quarantined => "quarantined".to_owned(),
            AuditOutcome::StillOffered => "still_offered".to_owned(),
            AuditOutcome::Started
            | AuditOutcome::Succeeded
            | AuditOutcome::ToolFailed
            | AuditOutcome::Refusals(_)
            | AuditOutcome::Gap(_)
            | AuditOutcome::Removed(_) => "other".to_owned(),
        };
        if summary.reasons.len() >= AUDIT_SUMMARY_REASONS && !summary.reasons.contains_key(&reason) {
            reason = "other".to_owned();
        }
        *summary.reasons.entry(reason).or_default() += 1;
    }

    fn due(&mut self, owner: &Owner, now: Timestamp) -> Option<AuditRow> {
        let counted = self.counted.take_if(|counted| counted.due <= now)?;
        self.pause = (self.pause * 2).min(AUDIT_SUMMARY_LONGEST);
        Some(counted.summary.into_row(owner.clone(), counted.door))
    }
}

impl From<&Limits> for RefusalLimits {
    fn from(limits: &Limits) -> Self {
        Self { rows: limits.refusal_rows, rows_per_hour: limits.refusal_rows_per_hour }
    }
}

impl Default for RefusalLimits {
    fn default() -> Self {
        Self::from(&Limits::default())
    }
}

#[cfg(test)]
#[path = "refusals_tests.rs"]
mod tests;

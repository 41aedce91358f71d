//! Usage in a map.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use openfang_types::ids::{AgentName, Owner};
use openfang_types::limits::USAGE_TOTALS_MAX;

use crate::usage::{PeriodSpending, Periods, Reserved, day_of, hour_of};
use crate::{
    BudgetLimits, BudgetSpent, Reservation, Spender, Spending, StoreFuture, UsageKey, UsageQuery, UsageRecord,
    UsageStore, UsageTotal,
};

/// Owner, agent, hour and model.
type Key = (Owner, AgentName, i64, String);

#[derive(Debug, Clone, Copy, Default)]
struct Row {
    taken: UsageRecord,
    held: Spending,
}

/// The usage of models in memory.
#[derive(Default)]
pub struct MemoryUsage {
    rows: Mutex<BTreeMap<Key, Row>>,
}

impl MemoryUsage {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, Row>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, spender: &Spender, hour: i64, change: impl FnOnce(&mut Row)) {
        let key = (spender.owner.clone(), spender.agent.clone(), hour, spender.model.clone());
        change(self.lock().entry(key).or_default());
    }

    fn hold(&self, spender: &Spender, most: Spending, limits: BudgetLimits, now: Timestamp) -> Reserved {
        let periods = Periods::at(now);
        let mut rows = self.lock();
        let mut spent = PeriodSpending::default();
        for ((owner, agent, hour, _), row) in rows.iter() {
            if *owner == spender.owner && *agent == spender.agent {
                spent.add(&periods, *hour, row.taken.spending().plus(row.held));
            }
        }
        let used_percent = match spent.check(limits, most, &periods) {
            Ok(percent) => percent,
            Err(full) => return Ok(Err(full)),
        };
        let key = (spender.owner.clone(), spender.agent.clone(), periods.hour, spender.model.clone());
        let row = rows.entry(key).or_default();
        row.held = row.held.plus(most);
        Ok(Ok(Reservation { spender: spender.clone(), hour: periods.hour, held: most, used_percent }))
    }

    fn sums(&self, query: &UsageQuery) -> Vec<UsageTotal> {
        let since = hour_of(query.since);
        let mut totals: BTreeMap<String, UsageTotal> = BTreeMap::new();
        for ((owner, agent, hour, model), row) in self.lock().iter() {
            if *hour < since || query.owner.as_ref().is_some_and(|wanted| wanted != owner) {
                continue;
            }
            let key = match query.by {
                UsageKey::Agent => agent.to_string(),
                UsageKey::Model => model.clone(),
                UsageKey::Day => day_of(*hour),
            };
            let total = totals.entry(key.clone()).or_insert_with(|| UsageTotal {
                key,
                taken: UsageRecord::default(),
                held: Spending::default(),
            });
            total.taken.add(row.taken);
            total.held = total.held.plus(row.held);
        }
        totals.into_values().take(USAGE_TOTALS_MAX).collect()
    }
}

impl UsageStore for MemoryUsage {
    fn reserve<'a>(
        &'a self,
        spender: &'a Spender,
        most: Spending,
        limits: BudgetLimits,
        now: Timestamp,
    ) -> StoreFuture<'a, Result<Reservation, BudgetSpent>> {
        let reserved = self.hold(spender, most, limits, now);
        Box::pin(async move { reserved })
    }

    fn settle(&self, reservation: Reservation, taken: UsageRecord) -> StoreFuture<'_, ()> {
        self.change(&reservation.spender, reservation.hour, |row| {
            row.held = row.held.minus(reservation.held);
            row.taken.add(taken);
        });
        Box::pin(async { Ok(()) })
    }

    fn record<'a>(&'a self, spender: &'a Spender, taken: UsageRecord, now: Timestamp) -> StoreFuture<'a, ()> {
        self.change(spender, hour_of(now), |row| row.taken.add(taken));
        Box::pin(async { Ok(()) })
    }

    fn totals<'a>(&'a self, query: &'a UsageQuery) -> StoreFuture<'a, Vec<UsageTotal>> {
        let totals = self.sums(query);
        Box::pin(async move { Ok(totals) })
    }

    fn delete_before(&self, before: Timestamp) -> StoreFuture<'_, usize> {
        let mut rows = self.lock();
        let count = rows.len();
        rows.retain(|(_, _, hour, _), _| *hour >= hour_of(before));
        let deleted = count - rows.len();
        Box::pin(async move { Ok(deleted) })
    }
}

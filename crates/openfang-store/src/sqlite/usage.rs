//! Usage in SQLite: a row for each owner, agent, hour and model.

use jiff::Timestamp;
use openfang_types::limits::{USAGE_DELETED_AT_ONCE, USAGE_TOTALS_MAX};
use rusqlite::{Connection, Row, params};

use super::batch::Batch;
use super::tasks::columns::{count, get, signed};
use super::{Sqlite, unavailable};
use crate::usage::{PeriodSpending, Periods, Reserved, day_of, hour_of};
use crate::{
    BudgetLimits, BudgetSpent, Reservation, Spender, Spending, StoreError, StoreFuture, UsageKey, UsageQuery,
    UsageRecord, UsageStore, UsageTotal,
};

/// The usage in a database.
pub(super) struct SqliteUsage {
    sqlite: Sqlite,
}

impl SqliteUsage {
    pub(super) const fn new(sqlite: Sqlite) -> Self {
        Self { sqlite }
    }
}

impl UsageStore for SqliteUsage {
    fn reserve<'a>(
        &'a self,
        spender: &'a Spender,
        most: Spending,
        limits: BudgetLimits,
        now: Timestamp,
    ) -> StoreFuture<'a, Result<Reservation, BudgetSpent>> {
        let spender = spender.clone();
        self.sqlite.write_new(move |batch| reserve(batch, spender, most, (limits, now)))
    }

    fn settle(&self, reservation: Reservation, taken: UsageRecord) -> StoreFuture<'_, ()> {
        self.sqlite.write_beside(move |batch| {
            let Reservation { spender, hour, held, .. } = reservation;
            change(batch, (&spender, hour), taken, HeldChange::Released(held))
        })
    }

    fn record<'a>(&'a self, spender: &'a Spender, taken: UsageRecord, now: Timestamp) -> StoreFuture<'a, ()> {
        let spender = spender.clone();
        self.sqlite
            .write_beside(move |batch| change(batch, (&spender, hour_of(now)), taken, HeldChange::Unchanged))
    }

    fn totals<'a>(&'a self, query: &'a UsageQuery) -> StoreFuture<'a, Vec<UsageTotal>> {
        let query = query.clone();
        self.sqlite.read(move |connection| totals(connection, &query))
    }

    fn delete_before(&self, before: Timestamp) -> StoreFuture<'_, usize> {
        let hour = hour_of(before);
        Box::pin(async move {
            let mut deleted = 0;
            loop {
                let some = self.sqlite.write(move |batch| delete(batch, hour)).await?;
                deleted += some;
                if some < USAGE_DELETED_AT_ONCE {
                    return Ok(deleted);
                }
            }
        })
    }
}

fn reserve(
    batch: &mut Batch<'_>,
    spender: Spender,
    most: Spending,
    (limits, now): (BudgetLimits, Timestamp),
) -> Reserved {
    let periods = Periods::at(now);
    let spent = match periods.earliest(limits) {
        Some(since) => spent(batch.connection, &spender, &periods, since)?,
        None => PeriodSpending::default(),
    };
    let used_percent = match spent.check(limits, most, &periods) {
        Ok(percent) => percent,
        Err(full) => return Ok(Err(full)),
    };
    change(batch, (&spender, periods.hour), UsageRecord::default(), HeldChange::Added(most))?;
    Ok(Ok(Reservation { spender, hour: periods.hour, held: most, used_percent }))
}

/// What the agent has spent since an hour, for its owner.
fn spent(
    connection: &Connection,
    spender: &Spender,
    periods: &Periods,
    since: i64,
) -> Result<PeriodSpending, StoreError> {
    let sql = "SELECT hour, input + output + held_tokens, cost + held_cost FROM usage
               WHERE owner = ?1 AND agent = ?2 AND hour >= ?3";
    let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
    let of = params![spender.owner.as_str(), spender.agent.as_str(), since];
    let mut rows = statement.query(of).map_err(unavailable)?;
    let mut spent = PeriodSpending::default();
    while let Some(row) = rows.next().map_err(unavailable)? {
        spent.add(periods, get(row, 0)?, Spending { tokens: count(row, 1)?, nano_dollars: count(row, 2)? });
    }
    Ok(spent)
}

/// What happens to what a row holds.
#[derive(Clone, Copy)]
enum HeldChange {
    Unchanged,
    Added(Spending),
    Released(Spending),
}

/// Adds to a row.
fn change(
    batch: &mut Batch<'_>,
    (spender, hour): (&Spender, i64),
    taken: UsageRecord,
    held: HeldChange,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO usage (owner, agent, hour, model, answers, questions, input, cached, output, cost, held_tokens, held_cost)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, max(?11, 0), max(?12, 0))
               ON CONFLICT DO UPDATE SET answers = answers + ?5, questions = questions + ?6, input = input + ?7,
               cached = cached + ?8, output = output + ?9, cost = cost + ?10,
               held_tokens = max(held_tokens + ?11, 0), held_cost = max(held_cost + ?12, 0)";
    // A number that a provider makes up must not make a sum overflow.
    let number = |value: u64| signed(value).min(i64::MAX / 1_000_000);
    let (tokens, cost) = match held {
        HeldChange::Unchanged => (0, 0),
        HeldChange::Added(more) => (number(more.tokens), number(more.nano_dollars)),
        HeldChange::Released(less) => (-number(less.tokens), -number(less.nano_dollars)),
    };
    let values = params![
        spender.owner.as_str(),
        spender.agent.as_str(),
        hour,
        spender.model,
        number(taken.answers),
        number(taken.questions),
        number(taken.input),
        number(taken.cached),
        number(taken.output),
        number(taken.nano_dollars),
        tokens,
        cost,
    ];
    let statement = batch.connection.prepare_cached(sql);
    statement.and_then(|mut statement| statement.execute(values)).map_err(unavailable)?;
    Ok(())
}

fn totals(connection: &Connection, query: &UsageQuery) -> Result<Vec<UsageTotal>, StoreError> {
    let key = match query.by {
        UsageKey::Agent => "agent",
        UsageKey::Model => "model",
        UsageKey::Day => "hour - hour % 24",
    };
    let sql = format!(
        "SELECT {key}, sum(answers), sum(questions), sum(input), sum(cached), sum(output), sum(cost), sum(held_tokens),
         sum(held_cost) FROM usage WHERE hour >= ?1 AND (?2 IS NULL OR owner = ?2) GROUP BY 1 ORDER BY 1 LIMIT ?3"
    );
    let mut statement = connection.prepare_cached(&sql).map_err(unavailable)?;
    let owner = query.owner.as_ref().map(|owner| owner.as_str());
    let of = params![hour_of(query.since), owner, signed(USAGE_TOTALS_MAX)];
    let mut rows = statement.query(of).map_err(unavailable)?;
    let mut totals = Vec::new();
    while let Some(row) = rows.next().map_err(unavailable)? {
        totals.push(total(row, query.by)?);
    }
    Ok(totals)
}

fn total(row: &Row<'_>, by: UsageKey) -> Result<UsageTotal, StoreError> {
    let key = match by {
        UsageKey::Agent | UsageKey::Model => get(row, 0)?,
        UsageKey::Day => day_of(get(row, 0)?),
    };
    let taken = UsageRecord {
        answers: count(row, 1)?,
        questions: count(row, 2)?,
        input: count(row, 3)?,
        cached: count(row, 4)?,
        output: count(row, 5)?,
        nano_dollars: count(row, 6)?,
    };
    Ok(UsageTotal { key, taken, held: Spending { tokens: count(row, 7)?, nano_dollars: count(row, 8)? } })
}

fn delete(batch: &mut Batch<'_>, hour: i64) -> Result<usize, StoreError> {
    let sql = "DELETE FROM usage WHERE (owner, agent, hour, model) IN
               (SELECT owner, agent, hour, model FROM usage WHERE hour < ?1 LIMIT ?2)";
    let statement = batch.connection.prepare_cached(sql);
    statement
        .and_then(|mut statement| statement.execute(params![hour, signed(USAGE_DELETED_AT_ONCE)]))
        .map_err(unavailable)
}

#[cfg(test)]
#[path = "usage_tests.rs"]
mod tests;

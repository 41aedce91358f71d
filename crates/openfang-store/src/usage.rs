//! The contract of usage: what models were asked, what it cost, and how much more an agent may spend.
//!
//! A request is reserved before it is sent, with the most that it can take, and settled afterwards with what it took. Two runs
//! that reserve at the same time cannot both have the last of a budget. A request that is never settled, because its process
//! died, counts as what was reserved.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use openfang_types::ids::{AgentName, Owner};

use crate::{StoreError, StoreFuture};

/// Hours of a day.
const DAY: i64 = 24;

/// The usage of models.
pub trait UsageStore: Send + Sync {
    /// Reserves what a request can take at most, unless that goes beyond a limit.
    fn reserve<'a>(
        &'a self,
        spender: &'a Spender,
        most: Spending,
        limits: BudgetLimits,
        now: Timestamp,
    ) -> StoreFuture<'a, Result<Reservation, BudgetSpent>>;
    /// Replaces a reservation by what the request took. A request that was not sent took nothing. It is written with the next
    /// commit, and a moment later without one.
    fn settle(&self, reservation: Reservation, taken: UsageRecord) -> StoreFuture<'_, ()>;
    /// Records usage that nothing was reserved for, when [`UsageStore::settle`] would.
    fn record<'a>(&'a self, spender: &'a Spender, taken: UsageRecord, now: Timestamp) -> StoreFuture<'a, ()>;
    /// Sums of usage, in order of their keys. At most [`USAGE_TOTALS_MAX`](openfang_types::limits::USAGE_TOTALS_MAX).
    fn totals<'a>(&'a self, query: &'a UsageQuery) -> StoreFuture<'a, Vec<UsageTotal>>;
    /// Forgets usage of the hours before. Says how many rows there were.
    fn delete_before(&self, before: Timestamp) -> StoreFuture<'_, usize>;
}

/// Whose usage it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spender {
    pub owner: Owner,
    pub agent: AgentName,
    /// The provider and the model, as `anthropic/claude-sonnet-4-6`.
    pub model: String,
}

/// Tokens and money. Money is in billionths of a dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spending {
    pub tokens: u64,
    pub nano_dollars: u64,
}

/// The limits of an agent, for each owner.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BudgetLimits {
    pub tokens_per_hour: Option<u64>,
    pub nano_dollars_per_hour: Option<u64>,
    pub nano_dollars_per_day: Option<u64>,
    pub nano_dollars_per_month: Option<u64>,
}

/// What was reserved. It is settled once.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a reservation that is not settled counts as spent"]
pub struct Reservation {
    pub(crate) spender: Spender,
    pub(crate) hour: i64,
    pub(crate) held: Spending,
    /// How much of the limit that is nearest is used, this reservation included. 0 without limits.
    pub used_percent: u8,
}

/// A limit that a request would exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetSpent {
    pub limit: BudgetKind,
    pub allowed: u64,
    /// What is used or reserved, without the request.
    pub used: u64,
    /// What the request can take at most.
    pub wanted: u64,
    /// When the period of the limit ends.
    pub until: Timestamp,
}

/// The limits there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetKind {
    TokensPerHour,
    CostPerHour,
    CostPerDay,
    CostPerMonth,
}

impl BudgetKind {
    /// The key in `agent.toml`.
    pub const fn key(self) -> &'static str {
        match self {
            Self::TokensPerHour => "max_llm_tokens_per_hour",
            Self::CostPerHour => "max_cost_per_hour_usd",
            Self::CostPerDay => "max_cost_per_day_usd",
            Self::CostPerMonth => "max_cost_per_month_usd",
        }
    }
}

/// What one answer took, or a question to a person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UsageRecord {
    pub answers: u64,
    /// Questions to a person.
    pub questions: u64,
    /// Tokens of requests, cached ones included.
    pub input: u64,
    pub cached: u64,
    pub output: u64,
    pub nano_dollars: u64,
}

/// Which usage is summed, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageQuery {
    /// The owner; none: of all owners together.
    pub owner: Option<Owner>,
    pub since: Timestamp,
    pub by: UsageKey,
}

/// What usage is summed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageKey {
    Agent,
    Model,
    /// Days of UTC, as `2026-11-18`.
    Day,
}

/// A sum of usage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageTotal {
    pub key: String,
    pub taken: UsageRecord,
    /// What is reserved, or was when a process died.
    pub held: Spending,
}

impl UsageRecord {
    pub(crate) fn add(&mut self, more: Self) {
        let sum = |one: &mut u64, other: u64| *one = one.saturating_add(other);
        sum(&mut self.answers, more.answers);
        sum(&mut self.questions, more.questions);
        sum(&mut self.input, more.input);
        sum(&mut self.cached, more.cached);
        sum(&mut self.output, more.output);
        sum(&mut self.nano_dollars, more.nano_dollars);
    }

    pub(crate) const fn spending(&self) -> Spending {
        Spending { tokens: self.input.saturating_add(self.output), nano_dollars: self.nano_dollars }
    }
}

impl Spending {
    pub(crate) const fn plus(self, more: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(more.tokens),
            nano_dollars: self.nano_dollars.saturating_add(more.nano_dollars),
        }
    }

    pub(crate) const fn minus(self, less: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(less.tokens),
            nano_dollars: self.nano_dollars.saturating_sub(less.nano_dollars),
        }
    }
}

/// The periods of the limits at one moment, as numbers of hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Periods {
    pub(crate) hour: i64,
    pub(crate) day: i64,
    pub(crate) month: i64,
    next_month: i64,
}

impl Periods {
    pub(crate) fn at(now: Timestamp) -> Self {
        let hour = hour_of(now);
        let first = |date: jiff::civil::Date| {
            let start = date.to_zoned(TimeZone::UTC).map(|start| hour_of(start.timestamp()));
            start.unwrap_or(hour)
        };
        let today = now.to_zoned(TimeZone::UTC).date();
        let next = today.last_of_month().tomorrow().unwrap_or(today);
        Self { hour, day: hour - hour.rem_euclid(DAY), month: first(today.first_of_month()), next_month: first(next) }
    }

    /// The hour before which nothing counts for these limits; none if there is no limit.
    pub(crate) fn earliest(&self, limits: BudgetLimits) -> Option<i64> {
        let starts = [
            (limits.nano_dollars_per_month, self.month),
            (limits.nano_dollars_per_day, self.day),
            (limits.nano_dollars_per_hour.or(limits.tokens_per_hour), self.hour),
        ];
        starts.into_iter().filter_map(|(limit, start)| limit.map(|_| start)).min()
    }
}

/// What is spent in the periods of the limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PeriodSpending {
    hour: Spending,
    day: Spending,
    month: Spending,
}

impl PeriodSpending {
    /// Adds what was spent in an hour.
    pub(crate) const fn add(&mut self, periods: &Periods, hour: i64, spent: Spending) {
        if hour >= periods.hour {
            self.hour = self.hour.plus(spent);
        }
        if hour >= periods.day {
            self.day = self.day.plus(spent);
        }
        if hour >= periods.month {
            self.month = self.month.plus(spent);
        }
    }

    /// How much of the nearest limit would be used, in percent; or the limit that would be exceeded.
    pub(crate) fn check(&self, limits: BudgetLimits, most: Spending, periods: &Periods) -> Result<u8, BudgetSpent> {
        let (hour, day, month) = (self.hour, self.day, self.month);
        let rows = [
            (BudgetKind::TokensPerHour, limits.tokens_per_hour, hour.tokens, most.tokens, periods.hour + 1),
            (
                BudgetKind::CostPerHour,
                limits.nano_dollars_per_hour,
                hour.nano_dollars,
                most.nano_dollars,
                periods.hour + 1,
            ),
            (
                BudgetKind::CostPerDay,
                limits.nano_dollars_per_day,
                day.nano_dollars,
                most.nano_dollars,
                periods.day + DAY,
            ),
            (
                BudgetKind::CostPerMonth,
                limits.nano_dollars_per_month,
                month.nano_dollars,
                most.nano_dollars,
                periods.next_month,
            ),
        ];
        let mut percent = 0;
        for (limit, allowed, used, wanted, until) in rows {
            let Some(allowed) = allowed else { continue };
            let total = used.saturating_add(wanted);
            if total > allowed {
                return Err(BudgetSpent { limit, allowed, used, wanted, until: start_of(until) });
            }
            let share = u128::from(total) * 100 / u128::from(allowed.max(1));
            percent = percent.max(u8::try_from(share).unwrap_or(100));
        }
        Ok(percent)
    }
}

/// The hour of a moment, counted from 1970.
pub(crate) fn hour_of(at: Timestamp) -> i64 {
    at.as_second().div_euclid(3_600)
}

fn start_of(hour: i64) -> Timestamp {
    Timestamp::from_second(hour.saturating_mul(3_600)).unwrap_or(Timestamp::MAX)
}

/// The day of an hour, as it is shown.
pub(crate) fn day_of(hour: i64) -> String {
    start_of(hour).to_zoned(TimeZone::UTC).date().to_string()
}

/// The error of a store as the answer to a reservation.
pub(crate) type Reserved = Result<Result<Reservation, BudgetSpent>, StoreError>;

//! How fast is delivered: so many at a time in all, for one owner and to one host, and so many a second to one host.
//! Whoever asks for pushes cannot flood somebody through us, and a slow receiver holds up only its own.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openfang_store::PushRow;
use openfang_types::ids::{Owner, TaskId};
use openfang_types::limits::{
    PUSH_BURST_PER_HOST, PUSH_HOSTS, PUSH_PARALLEL, PUSH_PARALLEL_PER_HOST, PUSH_PARALLEL_PER_OWNER, PUSH_RATE_PER_HOST,
};
use tokio::sync::Notify;
use tokio::time::Instant;

/// Between two deliveries to one host, on average.
const INTERVAL: Duration = Duration::from_nanos(1_000_000_000 / PUSH_RATE_PER_HOST as u64);
/// How far ahead of that a host may be.
const AHEAD: Duration = INTERVAL.saturating_mul(PUSH_BURST_PER_HOST - 1);

/// The pace of all deliveries of a process.
#[derive(Default)]
pub(super) struct Pace {
    state: Mutex<State>,
    freed: Notify,
}

#[derive(Default)]
struct State {
    under_way: usize,
    owners: HashMap<Owner, usize>,
    hosts: HashMap<String, Host>,
    /// What is under way here is not begun again, whatever a clock that jumped says of its claim.
    rows: HashSet<(TaskId, String)>,
}

struct Host {
    under_way: usize,
    /// When the next delivery would come if all came at the average pace.
    next: Instant,
}

impl Host {
    /// How long to wait before one more.
    fn wait(&self, now: Instant) -> Option<Duration> {
        let ahead = self.next.saturating_duration_since(now);
        ahead.checked_sub(AHEAD).filter(|wait| !wait.is_zero())
    }

    fn take(&mut self, now: Instant) -> Result<(), Duration> {
        if let Some(wait) = self.wait(now) {
            return Err(wait);
        }
        self.next = self.next.max(now) + INTERVAL;
        Ok(())
    }
}

/// Whose turn it is not.
pub(super) struct Busy {
    pub(super) hosts: Vec<String>,
    pub(super) owners: Vec<Owner>,
    /// When the first of the hosts that are only too fast may go on.
    pub(super) until: Option<Instant>,
}

/// The right to deliver to a host for an owner; dropping it gives the place back.
pub(super) struct Turn {
    pace: Arc<Pace>,
    host: String,
    owner: Owner,
    row: (TaskId, String),
}

impl Pace {
    /// How many more may be under way.
    pub(super) fn room(&self) -> usize {
        PUSH_PARALLEL.saturating_sub(self.lock().under_way)
    }

    /// Waits until a place was given back. One that was given back since this was last waited for counts.
    pub(super) async fn freed(&self) {
        self.freed.notified().await;
    }

    /// Whose turn it is not now. Forgets hosts that have rested.
    pub(super) fn busy(&self, now: Instant) -> Busy {
        let mut state = self.lock();
        state.hosts.retain(|_, host| host.under_way > 0 || host.next > now);
        let is_full = |host: &Host| host.under_way >= PUSH_PARALLEL_PER_HOST;
        let waits = state.hosts.values().filter(|host| !is_full(host)).filter_map(|host| host.wait(now));
        let until = waits.min().map(|wait| now + wait);
        let is_busy = |host: &Host| is_full(host) || host.wait(now).is_some();
        let hosts = state.hosts.iter().filter(|(_, host)| is_busy(host)).map(|(name, _)| name.clone());
        let owners = state.owners.iter().filter(|(_, count)| **count >= PUSH_PARALLEL_PER_OWNER);
        Busy { hosts: hosts.collect(), owners: owners.map(|(owner, _)| owner.clone()).collect(), until }
    }

    /// Takes a place for a configuration; none if there is none, or it has one.
    pub(super) fn enter(self: &Arc<Self>, row: &PushRow, now: Instant) -> Option<Turn> {
        let (host, owner) = (&row.config.host, &row.owner);
        let row = (row.task, row.config.id.clone());
        let mut guard = self.lock();
        let state = &mut *guard;
        let is_crowded = state.hosts.len() >= PUSH_HOSTS && !state.hosts.contains_key(host);
        if state.under_way >= PUSH_PARALLEL || is_crowded || state.rows.contains(&row) {
            return None;
        }
        let of_owner = state.owners.get(owner).copied().unwrap_or(0);
        let at_host = state.hosts.entry(host.clone()).or_insert(Host { under_way: 0, next: now });
        let is_full = of_owner >= PUSH_PARALLEL_PER_OWNER || at_host.under_way >= PUSH_PARALLEL_PER_HOST;
        if is_full || at_host.take(now).is_err() {
            return None;
        }
        *state.owners.entry(owner.clone()).or_default() += 1;
        at_host.under_way += 1;
        state.under_way += 1;
        state.rows.insert(row.clone());
        Some(Turn { pace: Arc::clone(self), host: host.clone(), owner: owner.clone(), row })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// One more delivery to the same host; if that is too fast, how long to wait.
    pub(super) fn again(&self, now: Instant) -> Result<(), Duration> {
        match self.pace.lock().hosts.get_mut(&self.host) {
            Some(host) => host.take(now),
            None => Ok(()),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.pace.lock();
        state.under_way = state.under_way.saturating_sub(1);
        state.rows.remove(&self.row);
        if let Some(host) = state.hosts.get_mut(&self.host) {
            host.under_way = host.under_way.saturating_sub(1);
        }
        if let Some(count) = state.owners.get_mut(&self.owner) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                state.owners.remove(&self.owner);
            }
        }
        drop(state);
        self.pace.freed.notify_one();
    }
}

#[cfg(test)]
#[path = "pace_tests.rs"]
mod tests;

//! How fast is delivered: so many at a time in all, for one owner and to one host, and so many a second to one host and to
//! one address, whatever it is called. Whoever asks for pushes cannot flood somebody through us, and a slow receiver holds up
//! only its own.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openfang_egress::http::Pacer;
use openfang_store::PushRow;
use openfang_types::ids::{Owner, TaskId};
use openfang_types::limits::{
    PUSH_BURST_PER_HOST, PUSH_HOSTS, PUSH_LOOK, PUSH_PARALLEL, PUSH_PARALLEL_PER_HOST, PUSH_PARALLEL_PER_OWNER,
    PUSH_RATE_PER_HOST, PUSH_RETRY_AFTER_MAX,
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
    /// The same, by what the names resolve to: names cost nothing.
    addresses: HashMap<IpAddr, Address>,
    /// What is under way here is not begun again, whatever a clock that jumped says of its claim.
    rows: HashSet<(TaskId, String)>,
}

struct Host {
    under_way: usize,
    /// When the next delivery would come if all came at the average pace.
    next: Instant,
}

struct Address {
    /// As for a host.
    next: Instant,
    /// When the last of those who were told to wait may come again. Each is told another moment, or all would come at once.
    promised: Instant,
}

impl Host {
    /// How long to wait before one more.
    fn wait(&self, now: Instant) -> Option<Duration> {
        wait(self.next, now)
    }

    fn take(&mut self, now: Instant) -> Result<(), Duration> {
        if let Some(wait) = self.wait(now) {
            return Err(wait);
        }
        self.next = self.next.max(now) + INTERVAL;
        Ok(())
    }
}

/// How long to wait before one more, when the next would come at this moment at the average pace.
fn wait(next: Instant, now: Instant) -> Option<Duration> {
    let ahead = next.saturating_duration_since(now);
    ahead.checked_sub(AHEAD).filter(|wait| !wait.is_zero())
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
        state.addresses.retain(|_, address| address.next.max(address.promised) > now);
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

    /// One delivery to whichever of these addresses is dialled; if that is too fast, how long to wait.
    fn take(&self, addresses: &[IpAddr], now: Instant) -> Result<(), Duration> {
        let networks: BTreeSet<IpAddr> = addresses.iter().map(|address| network_of(*address)).collect();
        let mut state = self.lock();
        let unknown = networks.iter().filter(|network| !state.addresses.contains_key(network)).count();
        if state.addresses.len() + unknown > PUSH_HOSTS {
            return Err(PUSH_LOOK);
        }
        for network in &networks {
            let Some(address) = state.addresses.get_mut(network) else { continue };
            if let Some(wait) = wait(address.next, now) {
                address.promised = (address.promised + INTERVAL).max(now + wait);
                return Err(address.promised.saturating_duration_since(now).min(PUSH_RETRY_AFTER_MAX));
            }
        }
        for network in networks {
            let address = state.addresses.entry(network).or_insert(Address { next: now, promised: now });
            address.next = address.next.max(now) + INTERVAL;
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pacer for Pace {
    fn take(&self, addresses: &[IpAddr]) -> Result<(), Duration> {
        self.take(addresses, Instant::now())
    }
}

/// One receiver has a whole IPv6 network of 64 bits; it is one address.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(six) => {
            let [a, b, c, d, ..] = six.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        four @ IpAddr::V4(_) => four,
    }
}

impl Turn {
    /// Who says how fast addresses may be sent to.
    pub(super) fn pacer(&self) -> Arc<dyn Pacer> {
        Arc::<Pace>::clone(&self.pace)
    }

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

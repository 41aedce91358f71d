//! How many connections each peer has.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openfang_types::config::IpRange;

use crate::layers::network_of;

/// How many connections each peer has. An IPv6 subscriber has a whole network of 64 bits; it is one peer.
#[derive(Default)]
pub(super) struct PeerCounts {
    counts: Mutex<HashMap<IpAddr, usize>>,
}

/// One connection of a peer; given back when it is dropped.
pub(super) struct Seat {
    counts: Arc<PeerCounts>,
    peer: IpAddr,
}

impl PeerCounts {
    /// A seat, unless the peer has all it may have. Loopback and trusted proxies are exempt: many clients share the address
    /// of a proxy.
    pub(super) fn seat(self: &Arc<Self>, peer: IpAddr, limit: usize, proxies: &[IpRange]) -> Option<Seat> {
        let peer = peer.to_canonical();
        let is_exempt = peer.is_loopback() || proxies.iter().any(|range| range.contains(peer));
        let peer = network_of(peer);
        let mut counts = self.lock();
        let count = counts.entry(peer).or_default();
        if *count >= limit && !is_exempt {
            return None;
        }
        *count += 1;
        Some(Seat { counts: Arc::clone(self), peer })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut counts = self.counts.lock();
        if let Some(count) = counts.get_mut(&self.peer) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.peer);
            }
        }
    }
}

#[cfg(test)]
#[path = "peers_tests.rs"]
mod tests;
